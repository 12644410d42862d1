//! Transport faults.

use std::time::Duration;

use bytes::Bytes;

/// A transport fault in one direction. Messages are counted from 1. Over HTTP, a message is one event
/// of a response, or a JSON response.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireFault {
    /// Breaks the connection in both directions after this number of messages.
    CutAfter(usize),
    /// Closes this direction after this number of messages. The other direction stays open.
    HalfCloseAfter(usize),
    /// Delivers at most this number of bytes at a time, at least one, each time followed by a pause.
    Slow(usize, Duration),
    /// Replaces the message with this number by invalid bytes.
    Garble(usize),
    /// Delivers every byte separately.
    Split,
}

/// The end of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Cut,
    HalfClose,
}

/// Returns the fault that ends the direction before the message with this number.
pub(super) fn end_before(faults: &[WireFault], number: usize) -> Option<End> {
    faults.iter().find_map(|fault| match *fault {
        WireFault::CutAfter(after) if number > after => Some(End::Cut),
        WireFault::HalfCloseAfter(after) if number > after => Some(End::HalfClose),
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
        match *fault {
            WireFault::Garble(at) if at == number => message = garbled(&message),
            WireFault::Split => size = 1,
            WireFault::Slow(bytes, time) => (size, pause) = (size.min(bytes.max(1)), time),
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
