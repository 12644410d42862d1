//! Encoding of an event stream: one message per event, one line per message.

use mcp_core::Framing;

/// Bytes before the JSON of a message.
// spec: HTTP-S-11
pub(crate) const MESSAGE_PREFIX: &[u8] = b"event: message\ndata: ";
/// Bytes after the JSON of a message.
pub(crate) const MESSAGE_SUFFIX: &[u8] = b"\n\n";
/// First frame of a stream that has no event to send yet. It is needed because some proxies do not
/// forward a response head before the first bytes of its body.
pub(crate) const OPENING_COMMENT: &[u8] = b":\n\n";
/// Frame that keeps an idle connection open.
// spec: HTTP-SM-20
pub(crate) const KEEP_ALIVE_COMMENT: &[u8] = b": ping\n\n";

/// Prefix and suffix of each message.
pub(crate) const FRAMING: Framing = Framing {
    prefix: MESSAGE_PREFIX,
    suffix: MESSAGE_SUFFIX,
};

/// Encodes a message as an event without an id.
pub(crate) fn message_event(json: &[u8]) -> Vec<u8> {
    [MESSAGE_PREFIX, json, MESSAGE_SUFFIX].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_event_is_one_event() {
        let expected = b"event: message\ndata: {\"a\":1}\n\n";
        assert_eq!(message_event(br#"{"a":1}"#), expected);
        let framed = [FRAMING.prefix, br#"{"a":1}"#, FRAMING.suffix].concat();
        assert_eq!(framed, expected);
    }

    #[test]
    fn comments_are_complete_blocks() {
        for frame in [OPENING_COMMENT, KEEP_ALIVE_COMMENT] {
            assert!(frame.starts_with(b":") && frame.ends_with(MESSAGE_SUFFIX));
        }
    }
}
