//! Frames of an event stream: one message per event, one line per message.

use mcp_core::Framing;

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

#[cfg(test)]
mod tests;
