//! The decoder of event streams: the events do not depend on how reads split the bytes, limits hold,
//! and streams of UTF-8 are read as the HTML standard says.

use std::time::Duration;

use bytes::Bytes;
use mcp_transport_http::sse::{Decoder, SseError, SseItem, SseLimits};

use crate::input::{Input, pieces};
use crate::target::Target;

pub(crate) const TARGET: Target = Target {
    name: "sse",
    run,
    examples: &[
        b"\xff\x02\x00\x07id: 1\nevent: message\ndata: {\"a\":1}\ndata: b\n\n: ping\n\nretry: 10\n\n",
        b"\xff\x01\x03\xef\xbb\xbfdata\r\rdata:\r\n\r\nevent:\ndata:  x\n\nid\ndata:y\n\n",
        b"\x04\x01\x01data: a long event\n\ndata: b\n\n",
    ],
    fragments: &[
        "data", "data:", "data: ", "event:", "event: message", "id:", "id: 7", "id: \0", "retry: 5",
        "retry: 99999999999999999999", "retry:+5", ":", ": ping", "\n", "\n\n", "\r", "\r\n", "\r\r",
        "\u{feff}", " ", "x", "é",
    ],
};

/// The input: limits, the sizes of the reads, and the bytes of a stream.
fn run(input: &[u8]) {
    let mut input = Input(input);
    let mut limits = SseLimits::default();
    let limit = usize::from(input.byte());
    if limit < 255 {
        (limits.event, limits.idle) = (limit, limit);
    }
    let cuts = input.short_list();
    let (whole, last_id) = decode(limits, [input.0]);
    assert_eq!(
        (&whole, &last_id),
        (&decode(limits, pieces(input.0, cuts)).0, &last_id),
        "the result depends on the sizes of the reads"
    );
    for item in whole.iter().flatten() {
        if let SseItem::Event(event) = item {
            assert!(event.data.len() <= limits.event);
        }
    }
    let stopped = |item: &Result<SseItem, SseError>| {
        let error = item.as_ref().err();
        error.is_some_and(|error| *error != SseError::NotUtf8)
    };
    if let Some(at) = whole.iter().position(stopped) {
        assert_eq!(at + 1, whole.len(), "events after an exceeded limit");
        assert!(limit < 255);
    } else if let Ok(text) = std::str::from_utf8(input.0) {
        assert_eq!((whole, last_id), reference(text));
    }
}

/// The decoded items, and the last event id.
type Decoded = (Vec<Result<SseItem, SseError>>, String);

fn decode<'a>(limits: SseLimits, chunks: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let mut decoder = Decoder::new(limits);
    let mut items = Vec::new();
    for chunk in chunks {
        let mut chunk = Bytes::copy_from_slice(chunk);
        while let Some(item) = decoder.decode(&mut chunk) {
            items.push(item);
        }
        assert!(chunk.is_empty());
    }
    (items, decoder.last_event_id().to_owned())
}

/// The fields of a block.
#[derive(Default)]
struct Block {
    name: String,
    data: Option<String>,
    id: Option<String>,
    retry: Option<Duration>,
}

/// Reads a stream line by line, by the rules of
/// <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>.
fn reference(text: &str) -> Decoded {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut items, mut last_id, mut block) = (Vec::new(), String::new(), Block::default());
    // The part after the last line end is not a complete line.
    let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
    let lines = complete.split('\n').filter(|_| text.contains('\n'));
    for line in lines {
        if !line.is_empty() {
            block.read(line);
            continue;
        }
        let block = std::mem::take(&mut block);
        if let Some(id) = &block.id {
            last_id.clone_from(id);
        }
        items.extend(block.into_item().map(Ok));
    }
    (items, last_id)
}

impl Block {
    fn read(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        match name {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => *data = format!("{data}\n{value}"),
                None => self.data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "retry" if is_number => {
                self.retry = value.parse().ok().map(Duration::from_millis).or(self.retry);
            }
            _ => {}
        }
    }

    fn into_item(self) -> Option<SseItem> {
        let Some(data) = self.data else {
            return self.retry.map(SseItem::Retry);
        };
        // The type of an event has no public constructor: a decoder makes one and the fields are set.
        let mut decoder = Decoder::new(SseLimits::default());
        let item = decoder.decode(&mut Bytes::from_static(b"data: x\n\n"));
        let Some(Ok(SseItem::Event(mut event))) = item else {
            panic!("the decoder reads no event");
        };
        event.name = if self.name.is_empty() {
            "message".to_owned()
        } else {
            self.name
        };
        (event.data, event.id, event.retry) = (data, self.id, self.retry);
        Some(SseItem::Event(event))
    }
}
