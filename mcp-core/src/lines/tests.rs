//! Line splitting: line endings, limits, and every way to split the reads.

use proptest::prelude::*;

use super::{EXCERPT, Line, Lines};

const LIMIT: usize = 300;

/// Returns all lines of a stream that is read in these pieces.
fn cut<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Line> {
    let mut lines = Lines::new(LIMIT);
    let mut found = Vec::new();
    for piece in pieces {
        lines.buffer().extend_from_slice(piece);
        found.extend(std::iter::from_fn(|| lines.next_line()));
        assert!(lines.buffer.len() <= LIMIT);
    }
    found.extend(lines.finish());
    found
}

fn text(text: &str) -> Line {
    Line::Text(text.to_owned().into())
}

#[test]
fn carriage_returns_blank_lines_and_byte_order_marks_are_skipped() {
    for (stream, expected) in [
        ("", vec![]),
        ("a\nb\n", vec![text("a"), text("b")]),
        ("a\r\nb\r\n", vec![text("a"), text("b")]),
        ("\n\r\n \t\n\u{feff}\r\na", vec![text("a")]),
        ("\u{feff}a\n\u{feff}b", vec![text("a"), text("b")]),
        (" a \rb \n", vec![text(" a \rb ")]),
        ("\r\r\n", vec![]),
        ("unfinished\r", vec![text("unfinished")]),
    ] {
        assert_eq!(cut([stream.as_bytes()]), expected, "{stream:?}");
    }
    assert_eq!(
        cut([&b"\xff\xfe\n"[..]]),
        [Line::Text((&b"\xff\xfe"[..]).into())]
    );
}

#[test]
fn line_beyond_the_limit_is_skipped() {
    let whole = "x".repeat(LIMIT);
    let long = "y".repeat(LIMIT + 1);
    let very_long = "z".repeat(10 * LIMIT);
    let stream = format!("{whole}\n{long}\n{very_long}\r\nafter\n{long}");
    let head = |line: &str| Line::TooLong(line[..EXCERPT].to_owned().into());
    let expected = [
        text(&whole),
        head(&long),
        head(&very_long),
        text("after"),
        head(&long),
    ];
    assert_eq!(cut([stream.as_bytes()]), expected);
    for size in [1, 7, LIMIT, LIMIT + 1] {
        assert_eq!(cut(stream.as_bytes().chunks(size)), expected, "{size}");
    }
}

#[test]
fn every_byte_is_scanned_once() {
    let mut lines = Lines::new(1 << 20);
    for _ in 0..100 {
        lines.buffer().extend_from_slice(b"no line feed here, ");
        assert_eq!(lines.next_line(), None);
        assert_eq!(lines.scanned, lines.buffer.len());
    }
}

#[test]
fn line_shares_the_buffer() {
    let mut lines = Lines::new(1 << 20);
    lines.buffer().extend_from_slice(b"first\nsecond\n");
    let start = lines.buffer.as_ptr();
    let (Some(Line::Text(first)), Some(Line::Text(second))) =
        (lines.next_line(), lines.next_line())
    else {
        panic!()
    };
    assert_eq!(first.as_ptr(), start);
    assert_eq!(second.as_ptr(), start.wrapping_add(6));
}

/// Streams with every sequence that matters to line splitting.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\xef\xbb\xbf".to_vec()),
        Just(b"\xef\xbb".to_vec()),
        Just(b"\r \t".to_vec()),
        "[a-z{}\"]{1,30}".prop_map(String::into_bytes),
        Just(vec![b'x'; LIMIT - 1]),
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn split_reads_yield_the_same_lines(stream in stream()) {
        let whole = cut([&stream[..]]);
        prop_assert_eq!(&cut(stream.chunks(1)), &whole);
        for at in 0..=stream.len() {
            let (before, after) = stream.split_at(at);
            prop_assert_eq!(&cut([before, after]), &whole);
        }
    }
}
