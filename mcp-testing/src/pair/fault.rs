//! What can go wrong on a wire.

use std::time::Duration;

use bytes::Bytes;

/// Trouble on a wire, in one direction of it. Messages are counted from 1; over HTTP what is
/// counted are the pieces of an answer's body: an event, or a whole JSON answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireFault(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Cut(usize),
    HalfClose(usize),
    Slow(usize, Duration),
    Garble(usize),
    Split,
}

impl WireFault {
    /// After so many messages the connection is lost, in both directions.
    pub fn cut_stream_after(messages: usize) -> Self {
        Self(Kind::Cut(messages))
    }

    /// After so many messages this direction ends in good order; the other goes on.
    pub fn half_close_after(messages: usize) -> Self {
        Self(Kind::HalfClose(messages))
    }

    /// So many bytes pass at a time, and then none for a while.
    pub fn slow(bytes: usize, pause: Duration) -> Self {
        Self(Kind::Slow(bytes.max(1), pause))
    }

    /// This message arrives as something that is no message.
    pub fn garble(message: usize) -> Self {
        Self(Kind::Garble(message))
    }

    /// Every byte arrives by itself.
    pub fn split() -> Self {
        Self(Kind::Split)
    }
}

/// How a direction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Cut,
    HalfClose,
}

/// How a direction ends before the message with this number, if it does.
pub(super) fn end_before(faults: &[WireFault], number: usize) -> Option<End> {
    faults.iter().find_map(|fault| match fault.0 {
        Kind::Cut(after) if number > after => Some(End::Cut),
        Kind::HalfClose(after) if number > after => Some(End::HalfClose),
        _ => None,
    })
}

/// The pieces in which a message arrives, and the pause after each of them.
pub(super) fn pieces(
    faults: &[WireFault],
    number: usize,
    mut message: Bytes,
) -> (Vec<Bytes>, Duration) {
    let (mut size, mut pause) = (usize::MAX, Duration::ZERO);
    for fault in faults {
        match fault.0 {
            Kind::Garble(at) if at == number => message = garbled(&message),
            Kind::Split => size = 1,
            Kind::Slow(bytes, time) => (size, pause) = (size.min(bytes), time),
            _ => {}
        }
    }
    let mut pieces = Vec::new();
    while message.len() > size {
        pieces.push(message.split_to(size));
    }
    pieces.push(message);
    (pieces, pause)
}

/// The first half of it, as when a buffer was overwritten, up to its frame.
fn garbled(message: &[u8]) -> Bytes {
    let text = message.trim_ascii_end();
    let (kept, _) = text.split_at(text.len() / 2);
    let (_, frame) = message.split_at(text.len());
    [kept, b"\xff\x00", frame].concat().into()
}
