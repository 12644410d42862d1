//! Frames as they go over the wire.

use super::*;

#[test]
fn a_message_is_one_event() {
    let frame = [FRAMING.prefix, br#"{"a":1}"#, FRAMING.suffix].concat();
    assert_eq!(frame, b"event: message\ndata: {\"a\":1}\n\n");
}

#[test]
fn laid_out_json_becomes_one_line() {
    let mut out = b"1\n2: {\r\n  \"a\":\n1\n}".to_vec();
    assert!(has_line_break(&out));
    one_line(&mut out, 5);
    assert_eq!(out, b"1\n2: {    \"a\": 1 }");
    one_line(&mut out, 100);
    assert!(!has_line_break(&out[2..]));
    let mut escaped = br#"{"b":"x\ny"}"#.to_vec();
    one_line(&mut escaped, 0);
    assert_eq!(escaped, br#"{"b":"x\ny"}"#);
}

#[test]
fn comments_and_pings_are_whole_blocks() {
    for frame in [COMMENT, PING] {
        assert!(frame.starts_with(b":") && frame.ends_with(MESSAGE_SUFFIX));
    }
}
