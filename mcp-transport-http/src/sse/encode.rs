//! Frames of an event stream: one message per event, one line per message.

use mcp_core::Framing;
use memchr::memchr2;

/// What stands before the JSON text of a message.
// spec: HTTP-S-11
pub(crate) const MESSAGE_PREFIX: &[u8] = b"event: message\ndata: ";
/// What ends an event.
pub(crate) const MESSAGE_SUFFIX: &[u8] = b"\n\n";
/// The first frame of a stream that has nothing to say yet: proxies that hold the head of a
/// response back until they see its body let go of it.
pub(crate) const COMMENT: &[u8] = b":\n\n";
/// Keeps a silent connection alive.
// spec: HTTP-SM-20
pub(crate) const PING: &[u8] = b": ping\n\n";

/// What stands around every message.
pub(crate) const FRAMING: Framing = Framing::new(MESSAGE_PREFIX, MESSAGE_SUFFIX);

/// Whether JSON text is laid out over several lines.
pub(crate) fn has_line_break(text: &[u8]) -> bool {
    memchr2(b'\n', b'\r', text).is_some()
}

/// Makes the JSON text from `start` on one line. A line break in JSON text is white space between
/// tokens (inside of a string it is escaped), but in an event it would end the `data:` line, and
/// raw JSON that a handler passes through may be laid out over several lines.
pub(crate) fn one_line(out: &mut [u8], start: usize) {
    let mut rest = out.get_mut(start..).unwrap_or_default();
    while let Some(at) = memchr2(b'\n', b'\r', rest) {
        let (_, tail) = rest.split_at_mut(at);
        if let [first, after @ ..] = tail {
            *first = b' ';
            rest = after;
        } else {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
