//! Reading an event stream on the client.
//!
//! [`Decoder`] cuts the bytes into lines and blocks, looking at each byte once, and hands every
//! whole event line by line to the `eventsource-stream` crate, which reads it. That crate alone
//! is quadratic in the size of an event, holds as much as a peer likes to send, and loses a
//! `retry:` that stands alone; so comments, `id:` and `retry:` are dealt with here, and whatever
//! is kept has a bound.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use eventsource_stream::Eventsource;
use futures_core::Stream;
use futures_util::{FutureExt, StreamExt, stream};
use memchr::memchr2;
use pin_project_lite::pin_project;

/// An event with data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent {
    /// The event's name; `message` where the server gave none.
    pub name: String,
    /// Its `data:` lines, joined with line breaks.
    pub data: String,
    /// The `id:` given with this very event; an empty one forgets the ids before.
    pub id: Option<String>,
    /// The `retry:` given with this very event.
    pub retry: Option<Duration>,
}

/// What a [`Decoder`] yields.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseItem {
    /// An event with data.
    Event(SseEvent),
    /// A `retry:` that came without data: wait that long before reconnecting.
    Retry(Duration),
}

/// How much a server may send before [`Decoder`] gives up on its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseLimits {
    /// Bytes of one event. Default: 64 MiB.
    pub event: usize,
    /// Bytes in a row that amount to no event: comments and blocks without data. Default: 64 MiB,
    /// decades of keep-alive comments.
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

/// Why an event stream cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// One event exceeds [`SseLimits::event`]. Nothing more is read from the stream.
    #[error("an event of the stream is larger than {limit} bytes")]
    EventTooLarge {
        /// The limit that was set.
        limit: usize,
    },
    /// The stretch since the last event exceeds [`SseLimits::idle`]. Nothing more is read from
    /// the stream.
    #[error("the stream has sent more than {limit} bytes without an event among them")]
    NothingButNoise {
        /// The limit that was set.
        limit: usize,
    },
    /// An event is not UTF-8. It is dropped; the events after it are read.
    #[error("an event of the stream is not UTF-8")]
    NotUtf8,
}

/// Where the decoder is within its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before the first byte of the stream; a byte order mark may follow.
    Stream,
    /// Before a line's first byte.
    Line,
    /// In a line that is kept.
    Field,
    /// In a comment: its bytes are dropped as they come.
    Comment,
    /// Beyond a limit; nothing is read any more.
    Dead,
}

/// Cuts a byte stream into events. It does no IO: give it chunks as they arrive.
///
/// ```
/// use bytes::Bytes;
/// use mcp_transport_http::sse::{Decoder, SseItem, SseLimits};
///
/// let mut decoder = Decoder::new(SseLimits::default());
/// let mut chunk = Bytes::from_static(b": hello\n\ndata: {}\n\ndata: unfini");
/// let Some(Ok(SseItem::Event(event))) = decoder.decode(&mut chunk) else { panic!() };
/// assert_eq!(event.data, "{}");
/// assert!(decoder.decode(&mut chunk).is_none()); // the chunk is used up
/// ```
#[derive(Debug)]
pub struct Decoder {
    limits: SseLimits,
    at: At,
    /// The last line ended in CR: an LF right behind it belongs to the same line end.
    after_cr: bool,
    /// How many bytes of a byte order mark have been seen.
    mark: usize,
    /// Lines of the current event, each ending in LF.
    event: Vec<u8>,
    /// Where in `event` the current line starts.
    line: usize,
    /// Bytes since the last event that belong to none.
    idle: usize,
    id: Option<String>,
    retry: Option<Duration>,
    last_event_id: String,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Decoder {
    /// A decoder at the start of a stream.
    #[must_use]
    pub fn new(limits: SseLimits) -> Self {
        Self {
            limits,
            at: At::Stream,
            after_cr: false,
            mark: 0,
            event: Vec::new(),
            line: 0,
            idle: 0,
            id: None,
            retry: None,
            last_event_id: String::new(),
        }
    }

    /// The id of the last event that had one, also when it came without data: what a reconnecting
    /// client names. Empty where there is none.
    #[must_use]
    pub fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    /// Takes bytes from the front of `chunk` up to the end of an event and returns that event;
    /// `None` means that the chunk is used up and more is needed. What has not been ended by a
    /// blank line when the stream ends is no event.
    ///
    /// # Errors
    ///
    /// See [`SseError`]. After an exceeded limit the decoder takes all bytes and yields nothing.
    pub fn decode(&mut self, chunk: &mut Bytes) -> Option<Result<SseItem, SseError>> {
        while !chunk.is_empty() {
            if let Some(item) = self.step(chunk).transpose() {
                return Some(item);
            }
        }
        None
    }

    /// Takes one piece of a line, or one line end.
    fn step(&mut self, chunk: &mut Bytes) -> Result<Option<SseItem>, SseError> {
        let &[first, ..] = &chunk[..] else {
            return Ok(None);
        };
        if std::mem::take(&mut self.after_cr) && first == b'\n' {
            chunk.advance(1);
            return Ok(None);
        }
        match self.at {
            At::Stream => {
                if self.skip_mark(first) {
                    chunk.advance(1);
                }
                return Ok(None);
            }
            At::Line => {
                self.at = if first == b':' {
                    At::Comment
                } else {
                    At::Field
                }
            }
            At::Field | At::Comment => {}
            At::Dead => {
                chunk.clear();
                return Ok(None);
            }
        }
        let end = memchr2(b'\n', b'\r', chunk);
        let piece = chunk.split_to(end.unwrap_or(chunk.len()));
        if self.at == At::Field {
            self.keep(&piece)?;
        } else {
            self.waste(piece.len())?;
        }
        if end.is_none() {
            return Ok(None);
        }
        self.after_cr = chunk.first() == Some(&b'\r');
        chunk.advance(1);
        self.end_line()
    }

    /// Whether `byte` belongs to a byte order mark at the stream's start. A part of a mark is text.
    fn skip_mark(&mut self, byte: u8) -> bool {
        if BYTE_ORDER_MARK.get(self.mark) == Some(&byte) {
            self.mark += 1;
            return true;
        }
        if self.mark < BYTE_ORDER_MARK.len() && self.mark > 0 {
            self.event.extend_from_slice(&BYTE_ORDER_MARK[..self.mark]);
            self.at = At::Field;
        } else {
            self.at = At::Line;
        }
        false
    }

    fn keep(&mut self, piece: &[u8]) -> Result<(), SseError> {
        if self.event.len() + piece.len() > self.limits.event {
            return Err(self.die(SseError::EventTooLarge {
                limit: self.limits.event,
            }));
        }
        self.event.extend_from_slice(piece);
        Ok(())
    }

    fn waste(&mut self, bytes: usize) -> Result<(), SseError> {
        self.idle = self.idle.saturating_add(bytes);
        if self.idle > self.limits.idle {
            return Err(self.die(SseError::NothingButNoise {
                limit: self.limits.idle,
            }));
        }
        Ok(())
    }

    fn die(&mut self, error: SseError) -> SseError {
        self.at = At::Dead;
        self.event = Vec::new();
        error
    }

    fn end_line(&mut self) -> Result<Option<SseItem>, SseError> {
        let was_comment = self.at == At::Comment;
        self.at = At::Line;
        if was_comment {
            self.waste(1)?;
            return Ok(None);
        }
        if self.event.len() == self.line {
            return self.end_event();
        }
        match read_field(&self.event[self.line..]) {
            Some(Field::Id(id)) => self.id = Some(id.to_owned()),
            Some(Field::Retry(retry)) => self.retry = Some(retry),
            Some(Field::Other) => {
                self.event.push(b'\n');
                self.line = self.event.len();
                return Ok(None);
            }
            None => {}
        }
        let dropped = self.event.len() - self.line + 1;
        self.event.truncate(self.line);
        self.waste(dropped)?;
        Ok(None)
    }

    fn end_event(&mut self) -> Result<Option<SseItem>, SseError> {
        let (id, retry) = (self.id.take(), self.retry.take());
        let event = std::mem::take(&mut self.event);
        self.line = 0;
        if let Some(id) = &id {
            self.last_event_id.clone_from(id);
        }
        match read_event(&event)? {
            Some((name, data)) => {
                self.idle = 0;
                Ok(Some(SseItem::Event(SseEvent {
                    name,
                    data,
                    id,
                    retry,
                })))
            }
            None => {
                self.waste(event.len() + 1)?;
                Ok(retry.map(SseItem::Retry))
            }
        }
    }
}

enum Field<'a> {
    Id(&'a str),
    Retry(Duration),
    Other,
}

/// Reads the fields that outlive their event; `None` for a line that means nothing.
fn read_field(line: &[u8]) -> Option<Field<'_>> {
    let name_end = memchr::memchr(b':', line).unwrap_or(line.len());
    let (name, value) = (
        &line[..name_end],
        line.get(name_end + 1..).unwrap_or_default(),
    );
    let value = value.strip_prefix(b" ").unwrap_or(value);
    match name {
        b"event" | b"data" => Some(Field::Other),
        b"id" if !value.contains(&0) => std::str::from_utf8(value).ok().map(Field::Id),
        b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
            let millis = std::str::from_utf8(value).ok()?.parse().ok()?;
            Some(Field::Retry(Duration::from_millis(millis)))
        }
        _ => None,
    }
}

/// Name and data of a whole event, given as lines that end in LF; `None` for one without data.
fn read_event(event: &[u8]) -> Result<Option<(String, String)>, SseError> {
    if event.is_empty() {
        return Ok(None);
    }
    // Checked first, because the crate below would go over the rest of a broken event again with
    // each of its lines.
    let text = std::str::from_utf8(event).map_err(|_| SseError::NotUtf8)?;
    // Line by line, because the crate moves what is left of its buffer after every line.
    let lines = text
        .split_inclusive('\n')
        .chain(["\n"])
        .map(Ok::<_, Infallible>);
    match stream::iter(lines)
        .eventsource()
        .next()
        .now_or_never()
        .flatten()
    {
        Some(Ok(event)) => Ok(Some((event.event, event.data))),
        // Whole lines of valid UTF-8 are what that crate's grammar is made of.
        Some(Err(_)) => Err(SseError::NotUtf8),
        None => Ok(None),
    }
}

/// Why a [`SseStream`] has failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SseStreamError<E> {
    /// The bytes could not be read.
    #[error("the event stream broke off")]
    Body(#[source] E),
    /// The bytes are not the events that they should be.
    #[error(transparent)]
    Sse(#[from] SseError),
}

pin_project! {
    /// The events of a stream of chunks, such as the body of a response.
    #[derive(Debug)]
    pub struct SseStream<S> {
        #[pin]
        chunks: S,
        chunk: Bytes,
        decoder: Decoder,
        done: bool,
    }
}

impl<S> SseStream<S> {
    /// Decodes `chunks`.
    pub fn new(chunks: S, limits: SseLimits) -> Self {
        Self {
            chunks,
            chunk: Bytes::new(),
            decoder: Decoder::new(limits),
            done: false,
        }
    }

    /// See [`Decoder::last_event_id`].
    #[must_use]
    pub fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }
}

impl<S, E> Stream for SseStream<S>
where
    S: Stream<Item = Result<Bytes, E>>,
{
    type Item = Result<SseItem, SseStreamError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        loop {
            if let Some(item) = this.decoder.decode(this.chunk) {
                return Poll::Ready(Some(item.map_err(SseStreamError::Sse)));
            }
            if *this.done || this.decoder.at == At::Dead {
                return Poll::Ready(None);
            }
            match ready!(this.chunks.as_mut().poll_next(cx)) {
                Some(Ok(chunk)) => *this.chunk = chunk,
                Some(Err(error)) => {
                    *this.done = true;
                    return Poll::Ready(Some(Err(SseStreamError::Body(error))));
                }
                None => {
                    *this.done = true;
                    return Poll::Ready(None);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
