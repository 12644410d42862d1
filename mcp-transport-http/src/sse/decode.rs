//! Decoding of an event stream, for clients.
//!
//! [`Decoder`] splits the bytes into lines and events in one pass and gives each complete event to
//! the `eventsource-stream` crate. That crate alone is not sufficient: it takes quadratic time in
//! the size of an event, has no limit on what it buffers, and loses a `retry:` without data.
//! Therefore this module decodes comments, `id:` and `retry:` itself and limits its buffers.

use std::time::Duration;

use bytes::{Buf, Bytes};
use memchr::memchr2;

use super::event::{Field, SseEvent, SseItem, parse_event, parse_field};

/// Limits of a [`Decoder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseLimits {
    /// Maximum size of one event in bytes. Default: 64 MiB.
    pub event: usize,
    /// Maximum number of bytes between two events, such as comments and blocks without data.
    /// Default: 64 MiB, which are decades of keep-alive comments.
    pub idle: usize,
}

impl Default for SseLimits {
    fn default() -> Self {
        Self {
            event: 64 << 20,
            idle: 64 << 20,
        }
    }
}

/// An error in an event stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// One event exceeds [`SseLimits::event`]. Decoding stops.
    #[error("an event of the stream is larger than {limit} bytes")]
    EventTooLarge {
        /// Configured limit.
        limit: usize,
    },
    /// The bytes since the last event exceed [`SseLimits::idle`]. Decoding stops.
    #[error("the stream has sent more than {limit} bytes without an event")]
    TooLongWithoutEvent {
        /// Configured limit.
        limit: usize,
    },
    /// An event is not UTF-8. Only this event is skipped.
    #[error("an event of the stream is not UTF-8")]
    NotUtf8,
}

/// The decoder's position in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// At the start of the stream. A byte order mark may follow.
    StreamStart,
    /// At the start of a line.
    LineStart,
    /// Inside a field.
    Field,
    /// Inside a comment. Its bytes are counted and discarded.
    Comment,
    /// After an exceeded limit. All further bytes are discarded.
    Failed,
}

/// A decoder for event streams. It does no IO: the caller passes the chunks as they arrive.
///
/// ```
/// use bytes::Bytes;
/// use mcp::http::sse::{Decoder, SseItem, SseLimits};
///
/// let mut decoder = Decoder::new(SseLimits::default());
/// let mut chunk = Bytes::from_static(b": hello\n\ndata: {}\n\ndata: unfini");
/// let Some(Ok(SseItem::Event(event))) = decoder.decode(&mut chunk) else { panic!() };
/// assert_eq!(event.data, "{}");
/// assert!(decoder.decode(&mut chunk).is_none()); // the chunk is consumed
/// ```
#[derive(Debug)]
pub struct Decoder {
    limits: SseLimits,
    position: Position,
    /// The last line ended in CR: an LF that follows belongs to the same line end.
    after_cr: bool,
    /// Number of bytes that were read from a byte order mark.
    bom_bytes: usize,
    /// The current event's lines, each terminated by LF.
    event: Vec<u8>,
    /// Index in `event` at which the current line starts.
    line_start: usize,
    /// Number of bytes since the last event.
    idle_bytes: usize,
    id: Option<String>,
    retry: Option<Duration>,
    last_event_id: String,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Decoder {
    /// Creates a decoder for a new stream.
    #[must_use]
    pub fn new(limits: SseLimits) -> Self {
        Self {
            limits,
            position: Position::StreamStart,
            after_cr: false,
            bom_bytes: 0,
            event: Vec::new(),
            line_start: 0,
            idle_bytes: 0,
            id: None,
            retry: None,
            last_event_id: String::new(),
        }
    }

    /// Returns the last event id, which a client sends when it reconnects. An `id:` without data
    /// counts as well. Empty when there is none.
    #[must_use]
    pub fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    /// Returns true after an exceeded limit.
    pub(super) fn has_failed(&self) -> bool {
        self.position == Position::Failed
    }

    /// Decodes the next event and removes its bytes from the front of `chunk`. Returns `None` when
    /// the whole chunk is consumed. An event that is not terminated by a blank line at the end of
    /// the stream is discarded.
    ///
    /// # Errors
    ///
    /// Returns [`SseError`]. After an exceeded limit the decoder discards all further bytes.
    pub fn decode(&mut self, chunk: &mut Bytes) -> Option<Result<SseItem, SseError>> {
        while !chunk.is_empty() {
            if let Some(item) = self.step(chunk).transpose() {
                return Some(item);
            }
        }
        None
    }

    /// Consumes a part of a line, or one line end.
    fn step(&mut self, chunk: &mut Bytes) -> Result<Option<SseItem>, SseError> {
        let &[first, ..] = &chunk[..] else {
            return Ok(None);
        };
        if std::mem::take(&mut self.after_cr) && first == b'\n' {
            chunk.advance(1);
            return Ok(None);
        }
        match self.position {
            Position::StreamStart => {
                if self.skip_bom(first) {
                    chunk.advance(1);
                }
                return Ok(None);
            }
            Position::LineStart => {
                // spec: HTTP-C-08
                self.position = if first == b':' {
                    Position::Comment
                } else {
                    Position::Field
                }
            }
            Position::Field | Position::Comment => {}
            Position::Failed => {
                chunk.clear();
                return Ok(None);
            }
        }
        let end = memchr2(b'\n', b'\r', chunk);
        let piece = chunk.split_to(end.unwrap_or(chunk.len()));
        if self.position == Position::Field {
            self.append(&piece)?;
        } else {
            self.count_idle(piece.len())?;
        }
        if end.is_none() {
            return Ok(None);
        }
        self.after_cr = chunk.first() == Some(&b'\r');
        chunk.advance(1);
        self.end_line()
    }

    /// Returns true when `byte` belongs to a byte order mark at the start of the stream. An incomplete
    /// mark is part of the first line.
    fn skip_bom(&mut self, byte: u8) -> bool {
        if BYTE_ORDER_MARK.get(self.bom_bytes) == Some(&byte) {
            self.bom_bytes += 1;
            return true;
        }
        if self.bom_bytes < BYTE_ORDER_MARK.len() && self.bom_bytes > 0 {
            self.event
                .extend_from_slice(&BYTE_ORDER_MARK[..self.bom_bytes]);
            self.position = Position::Field;
        } else {
            self.position = Position::LineStart;
        }
        false
    }

    fn append(&mut self, piece: &[u8]) -> Result<(), SseError> {
        if self.event.len() + piece.len() > self.limits.event {
            return Err(self.fail(SseError::EventTooLarge {
                limit: self.limits.event,
            }));
        }
        self.event.extend_from_slice(piece);
        Ok(())
    }

    fn count_idle(&mut self, bytes: usize) -> Result<(), SseError> {
        self.idle_bytes = self.idle_bytes.saturating_add(bytes);
        if self.idle_bytes > self.limits.idle {
            return Err(self.fail(SseError::TooLongWithoutEvent {
                limit: self.limits.idle,
            }));
        }
        Ok(())
    }

    fn fail(&mut self, error: SseError) -> SseError {
        self.position = Position::Failed;
        self.event = Vec::new();
        error
    }

    fn end_line(&mut self) -> Result<Option<SseItem>, SseError> {
        let was_comment = self.position == Position::Comment;
        self.position = Position::LineStart;
        if was_comment {
            self.count_idle(1)?;
            return Ok(None);
        }
        if self.event.len() == self.line_start {
            return self.end_event();
        }
        match parse_field(&self.event[self.line_start..]) {
            Some(Field::Id(id)) => self.id = Some(id.to_owned()),
            Some(Field::Retry(retry)) => self.retry = Some(retry),
            Some(Field::Other) => {
                self.event.push(b'\n');
                self.line_start = self.event.len();
                return Ok(None);
            }
            None => {}
        }
        let discarded = self.event.len() - self.line_start + 1;
        self.event.truncate(self.line_start);
        self.count_idle(discarded)?;
        Ok(None)
    }

    fn end_event(&mut self) -> Result<Option<SseItem>, SseError> {
        let (id, retry) = (self.id.take(), self.retry.take());
        let event = std::mem::take(&mut self.event);
        self.line_start = 0;
        if let Some(id) = &id {
            self.last_event_id.clone_from(id);
        }
        // Checked for the event as a whole, because `eventsource-stream` would scan the rest of an
        // invalid event again for each line.
        let text = std::str::from_utf8(&event).map_err(|_| SseError::NotUtf8)?;
        match parse_event(text) {
            Some((name, data)) => {
                self.idle_bytes = 0;
                Ok(Some(SseItem::Event(SseEvent {
                    name,
                    data,
                    id,
                    retry,
                })))
            }
            None => {
                self.count_idle(event.len() + 1)?;
                Ok(retry.map(SseItem::Retry))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

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

    // spec: HTTP-C-08
    #[test]
    fn decode_blocks_yields_events() {
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
    fn decode_retry_without_data_is_an_item() {
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
    fn last_event_id_changes_with_each_id() {
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
    fn decode_ignores_chunk_boundaries() {
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
    fn decode_event_over_the_limit_is_an_error() {
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
    fn decode_too_long_without_event_is_an_error() {
        let error = Err(SseError::TooLongWithoutEvent { limit: 64 });
        for text in [
            ":\n\n".repeat(40),
            ": ".to_owned() + &"x".repeat(80),
            "event: x\n\n".repeat(9),
        ] {
            assert_eq!(
                decode_chunks([text.as_bytes()], small()).0,
                std::slice::from_ref(&error),
                "{text:?}"
            );
        }
        // An event resets the counter.
        let text = format!("{}data: a\n\n", ":\n\n".repeat(10)).repeat(20);
        assert_eq!(decode_chunks([text.as_bytes()], small()).0.len(), 20);
    }

    #[test]
    fn decode_event_that_is_not_utf8_skips_only_that_event() {
        let text = b"data: \xff\ndata: x\n\ndata: b\n\n";
        let (items, _) = decode_chunks([&text[..]], small());
        assert_eq!(items, [Err(SseError::NotUtf8), event("b")]);
    }

    /// Returns the time to decode one event that arrives in chunks of 1 KiB.
    fn time_for(event: &[u8]) -> Duration {
        let start = Instant::now();
        let (items, _) = decode_chunks(event.chunks(1024), SseLimits::default());
        assert!(matches!(&items[..], [Ok(SseItem::Event(_))]));
        start.elapsed()
    }

    #[test]
    fn decode_large_event_takes_linear_time() {
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
}
