//! Frames as they go over the wire.

use super::*;

#[test]
fn a_message_is_one_event() {
    let mut out = Vec::new();
    message(&mut out, br#"{"a":1}"#);
    message(&mut out, br#"{"b":"x\ny"}"#);
    let frames = concat!(
        "event: message\ndata: {\"a\":1}\n\n",
        "event: message\ndata: {\"b\":\"x\\ny\"}\n\n"
    );
    assert_eq!(String::from_utf8(out).as_deref(), Ok(frames));
}

#[test]
fn laid_out_json_becomes_one_line() {
    let mut out = Vec::new();
    message(&mut out, b"{\r\n  \"a\":\n1\n}");
    assert_eq!(out, b"event: message\ndata: {    \"a\": 1 }\n\n");
}

#[test]
fn comments_and_pings_are_whole_blocks() {
    for frame in [COMMENT, PING] {
        assert!(frame.starts_with(b":") && frame.ends_with(MESSAGE_SUFFIX));
    }
}
