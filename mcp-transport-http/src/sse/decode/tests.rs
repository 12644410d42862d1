//! Tables and size tests for the event stream decoder.

use std::time::Instant;

use futures::executor::block_on;
use futures::stream::iter;

use super::*;

fn small() -> SseLimits {
    SseLimits {
        event: 64,
        idle: 64,
    }
}

fn decode_chunks<'a>(
    chunks: impl IntoIterator<Item = &'a [u8]>,
    limits: SseLimits,
) -> (Vec<Result<SseItem, SseError>>, Decoder) {
    let mut decoder = Decoder::new(limits);
    let mut items = Vec::new();
    for chunk in chunks {
        let mut chunk = Bytes::copy_from_slice(chunk);
        while let Some(item) = decoder.decode(&mut chunk) {
            items.push(item);
        }
        assert!(chunk.is_empty());
    }
    (items, decoder)
}

fn decode_all(text: &str) -> Vec<Result<SseItem, SseError>> {
    decode_chunks([text.as_bytes()], SseLimits::default()).0
}

fn message(data: &str) -> SseEvent {
    SseEvent {
        name: "message".into(),
        data: data.into(),
        id: None,
        retry: None,
    }
}

fn event(data: &str) -> Result<SseItem, SseError> {
    Ok(SseItem::Event(message(data)))
}

#[test]
fn blocks_become_events() {
    let table: [(&str, Vec<Result<SseItem, SseError>>); 14] = [
        ("", vec![]),
        ("data: a\n\n", vec![event("a")]),
        ("data:a\n\ndata:  b\n\n", vec![event("a"), event(" b")]),
        ("data: a\ndata: b\n\n", vec![event("a\nb")]),
        ("data\n\n", vec![event("")]),
        (": comment\n\n: another\ndata: a\n\n", vec![event("a")]),
        ("data: a\n: between\ndata: b\n\n", vec![event("a\nb")]),
        ("event: x\n\ndata: a\n\n", vec![event("a")]),
        ("other: x\ndatas: y\ndata: a\n\n", vec![event("a")]),
        ("\u{feff}data: a\n\n", vec![event("a")]),
        (
            "data: a\n\n\u{feff}data: b\n\ndata: c\n\n",
            vec![event("a"), event("c")],
        ),
        ("data: unfinished\n", vec![]),
        ("\n\n\r\r\r\n\r\ndata: a\n\n", vec![event("a")]),
        (
            "event: x\ndata: a\n\n",
            vec![Ok(SseItem::Event(SseEvent {
                name: "x".into(),
                ..message("a")
            }))],
        ),
    ];
    for (text, items) in table {
        assert_eq!(decode_all(text), items, "{text:?}");
    }
}

#[test]
fn a_lone_retry_is_kept() {
    let millis = |n| Some(Duration::from_millis(n));
    assert_eq!(
        decode_all("retry: 250\n\n"),
        [Ok(SseItem::Retry(Duration::from_millis(250)))]
    );
    assert_eq!(
        decode_all("retry: 5\ndata: a\n\ndata: b\n\n"),
        [
            Ok(SseItem::Event(SseEvent {
                retry: millis(5),
                ..message("a")
            })),
            event("b")
        ]
    );
    for bad in [
        "retry: +5\n\n",
        "retry: 5s\n\n",
        "retry:\n\n",
        "retry: 99999999999999999999\n\n",
    ] {
        assert_eq!(decode_all(bad), [], "{bad:?}");
    }
}

#[test]
fn ids_last_until_the_next_one() {
    let table = [
        ("id: 1\ndata: a\n\ndata: b\n\n", "1"),
        ("id: 1\n\n", "1"),
        ("id: 1\n\nid: 2\n", "1"),
        ("id: 1\n\nid\n\n", ""),
        ("id: 1\n\nid: a\0b\n\n", "1"),
    ];
    for (text, id) in table {
        let (_, decoder) = decode_chunks([text.as_bytes()], small());
        assert_eq!(decoder.last_event_id(), id, "{text:?}");
    }
    assert_eq!(
        decode_all("id: 7\ndata: \n\n"),
        [Ok(SseItem::Event(SseEvent {
            id: Some("7".into()),
            ..message("")
        }))]
    );
}

#[test]
fn split_anywhere_the_events_are_the_same() {
    let lf = "\u{feff}: hi\n\nid: 1\nretry: 9\ndata: a\n\nretry: 3\n\nevent: e\ndata: ü\ndata: 2\n\n\
              :\n:x\n\ndata\n\ndata: {\"a\": \"b\"}\n\n";
    for text in [
        lf.to_owned(),
        lf.replace('\n', "\r\n"),
        lf.replace('\n', "\r"),
    ] {
        let bytes = text.as_bytes();
        let (whole, _) = decode_chunks([bytes], small());
        assert_eq!(whole.len(), 5, "{text:?}");
        for at in 0..=bytes.len() {
            let (a, b) = bytes.split_at(at);
            assert_eq!(
                decode_chunks([a, b], small()).0,
                whole,
                "{text:?} cut at {at}"
            );
        }
        assert_eq!(
            decode_chunks(bytes.chunks(1), small()).0,
            whole,
            "{text:?} byte by byte"
        );
    }
}

#[test]
fn an_event_has_a_bound() {
    let too_large = [Err(SseError::EventTooLarge { limit: 64 })];
    let one_line = format!("data: {}\n\n", "x".repeat(80));
    let many_lines = format!("{}\n\ndata: late\n\n", "data: x\n".repeat(10));
    let endless = "data: ".to_owned() + &"x".repeat(80);
    for text in [one_line, many_lines, endless] {
        assert_eq!(decode_chunks([text.as_bytes()], small()).0, too_large);
        assert_eq!(
            decode_chunks(text.as_bytes().chunks(7), small()).0,
            too_large
        );
    }
    let fits = format!("data: {}\n\n", "x".repeat(50));
    assert_eq!(
        decode_chunks([fits.repeat(9).as_bytes()], small()).0.len(),
        9
    );
}

#[test]
fn a_stretch_without_events_has_a_bound() {
    let noise = Err(SseError::NothingButNoise { limit: 64 });
    for text in [
        ":\n\n".repeat(40),
        ": ".to_owned() + &"x".repeat(80),
        "event: x\n\n".repeat(9),
    ] {
        assert_eq!(
            decode_chunks([text.as_bytes()], small()).0,
            std::slice::from_ref(&noise),
            "{text:?}"
        );
    }
    // An event in between starts the count again.
    let text = format!("{}data: a\n\n", ":\n\n".repeat(10)).repeat(20);
    assert_eq!(decode_chunks([text.as_bytes()], small()).0.len(), 20);
}

#[test]
fn an_event_that_is_not_utf8_is_dropped_alone() {
    let text = b"data: \xff\ndata: x\n\ndata: b\n\n";
    let (items, _) = decode_chunks([&text[..]], small());
    assert_eq!(items, [Err(SseError::NotUtf8), event("b")]);
}

/// Time for an event of `size` bytes that arrives in pieces of 1 KiB.
fn time_for(event: &[u8]) -> Duration {
    let start = Instant::now();
    let (items, _) = decode_chunks(event.chunks(1024), SseLimits::default());
    assert!(matches!(&items[..], [Ok(SseItem::Event(_))]));
    start.elapsed()
}

#[test]
fn large_events_take_linear_time() {
    // Eight times the size takes about eight times as long; a quadratic reader takes 64 times.
    // The margin is wide because other tests share the machine.
    let shapes: [fn(usize) -> String; 2] = [
        |size| format!("data: {}\n\n", "x".repeat(size)),
        |size| format!("{}\n", "data:\n".repeat(size / 64)),
    ];
    for shape in shapes {
        let (small, large) = (shape(1 << 20), shape(8 << 20));
        let best = |text: &str| (0..3).map(|_| time_for(text.as_bytes())).min().unwrap();
        let (small, large) = (best(&small), best(&large));
        assert!(large < small * 32, "1 MiB took {small:?}, 8 MiB {large:?}");
    }
}

#[test]
fn a_stream_of_chunks_becomes_a_stream_of_events() {
    let chunks: [Result<Bytes, &str>; 3] = [
        Ok("data: a\n\ndata".into()),
        Ok(": b\n\ndata: c".into()),
        Err("reset"),
    ];
    let items: Vec<_> =
        block_on(SseStream::new(iter(chunks), SseLimits::default()).collect::<Vec<_>>());
    assert_eq!(
        items,
        [
            Ok(SseItem::Event(message("a"))),
            Ok(SseItem::Event(message("b"))),
            Err(SseStreamError::Body("reset"))
        ]
    );
    let noise = iter([
        Ok::<_, &str>(Bytes::from(":".repeat(100))),
        Ok("data: a\n\n".into()),
    ]);
    let items: Vec<_> = block_on(SseStream::new(noise, small()).collect::<Vec<_>>());
    assert_eq!(items, [Err(SseError::NothingButNoise { limit: 64 }.into())]);
}
