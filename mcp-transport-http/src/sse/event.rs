//! Events of an event stream, and the fields that they consist of.

use std::convert::Infallible;
use std::time::Duration;

use eventsource_stream::Eventsource;
use futures_util::{FutureExt, StreamExt, stream};

/// Event with data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent {
    /// Event type, `message` by default.
    pub name: String,
    /// `data:` lines, joined with line breaks.
    pub data: String,
    /// `id:` of this event. An empty id resets the last event id.
    pub id: Option<String>,
    /// `retry:` of this event.
    pub retry: Option<Duration>,
}

/// An item of an event stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseItem {
    /// Event with data.
    Event(SseEvent),
    /// `retry:` without data: time to wait before the next reconnection.
    Retry(Duration),
}

/// A field of an event stream.
pub(super) enum Field<'a> {
    Id(&'a str),
    Retry(Duration),
    /// `event:` or `data:`.
    Other,
}

/// Parses the fields whose effect lasts longer than their event. Returns `None` for a line to ignore.
pub(super) fn parse_field(line: &[u8]) -> Option<Field<'_>> {
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

/// Parses a complete event, whose lines are terminated by LF, into its type and data. Returns `None`
/// for an event without data.
pub(super) fn parse_event(event: &str) -> Option<(String, String)> {
    if event.is_empty() {
        return None;
    }
    // One line at a time, because `eventsource-stream` moves the rest of its buffer after each line.
    let lines = event
        .split_inclusive('\n')
        .chain(["\n"])
        .map(Ok::<_, Infallible>);
    let mut events = stream::iter(lines).eventsource();
    // Complete lines of UTF-8 are at hand at once, and are always valid.
    let event = events.next().now_or_never()??.ok()?;
    Some((event.event, event.data))
}
