//! Transport faults.

use std::time::Duration;

use bytes::Bytes;

/// A transport fault in one direction. Messages are counted from 1. Over HTTP, a message is one event
/// of a response, or a JSON response.
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
    /// Breaks the connection in both directions after `messages` messages.
    pub fn cut_stream_after(messages: usize) -> Self {
        Self(Kind::Cut(messages))
    }

    /// Closes this direction after `messages` messages. The other direction stays open.
    pub fn half_close_after(messages: usize) -> Self {
        Self(Kind::HalfClose(messages))
    }

    /// Delivers at most `bytes` bytes at a time, each followed by a pause.
    pub fn slow(bytes: usize, pause: Duration) -> Self {
        Self(Kind::Slow(bytes.max(1), pause))
    }

    /// Replaces the message with this number by invalid bytes.
    pub fn garble(message: usize) -> Self {
        Self(Kind::Garble(message))
    }

    /// Delivers every byte separately.
    pub fn split() -> Self {
        Self(Kind::Split)
    }
}

/// The end of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Cut,
    HalfClose,
}

/// Returns the fault that ends the direction before the message with this number.
pub(super) fn end_before(faults: &[WireFault], number: usize) -> Option<End> {
    faults.iter().find_map(|fault| match fault.0 {
        Kind::Cut(after) if number > after => Some(End::Cut),
        Kind::HalfClose(after) if number > after => Some(End::HalfClose),
        _ => None,
    })
}

/// Returns the chunks of a delivered message, and the pause after each chunk.
pub(super) fn chunks(
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
    let mut chunks = Vec::new();
    while message.len() > size {
        chunks.push(message.split_to(size));
    }
    chunks.push(message);
    (chunks, pause)
}

/// Returns the first half of the message and two invalid bytes, in the original frame.
fn garbled(message: &[u8]) -> Bytes {
    let text = message.trim_ascii_end();
    let (half, _) = text.split_at(text.len() / 2);
    let (_, frame) = message.split_at(text.len());
    [half, b"\xff\x00", frame].concat().into()
}
