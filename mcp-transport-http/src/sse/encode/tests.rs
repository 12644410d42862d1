//! Frames as they go over the wire.

use super::*;

#[test]
fn a_message_is_one_event() {
    let frame = [FRAMING.prefix, br#"{"a":1}"#, FRAMING.suffix].concat();
    assert_eq!(frame, b"event: message\ndata: {\"a\":1}\n\n");
}

#[test]
fn comments_and_pings_are_whole_blocks() {
    for frame in [COMMENT, PING] {
        assert!(frame.starts_with(b":") && frame.ends_with(MESSAGE_SUFFIX));
    }
}
