//! How an answer is written.

use bytes::Bytes;
use mcp_core::{ResultBody, ServerProfile};
use mcp_types::{Implementation, RawObject};

use super::*;

fn recipient() -> ReplyTarget {
    let profile = Arc::new(ServerProfile::new(Implementation::new("test", "1.0.0")));
    ReplyTarget {
        id: 1.into(),
        profile,
        wire: mcp_core::wire::MODERN,
    }
}

#[test]
fn json_that_a_handler_laid_out_is_one_event() {
    let raw = RawObject::from_text("{\n  \"a\": \"x\\ny\",\r\n  \"b\": [\n1]\n}").unwrap();
    let head = b"event: message\ndata: {}\n\n".to_vec();
    let text = encode_event(&recipient(), ResultBody::Other(raw).into(), head).into_bytes();
    let text = std::str::from_utf8(&text).unwrap();
    let (_, last) = text.split_once("\n\n").unwrap();
    let data = last
        .strip_prefix("event: message\ndata: ")
        .unwrap()
        .strip_suffix("\n\n")
        .unwrap();
    assert!(!data.contains(['\n', '\r']));
    let message: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(message["result"]["a"], "x\ny");
    assert_eq!(message["result"]["b"][0], 1);
}

#[test]
fn an_answer_alone_is_its_text() {
    let raw = RawObject::from_text(r#"{"a":1}"#).unwrap();
    let text = recipient()
        .encode(ResultBody::Other(raw).into(), Vec::new())
        .into_bytes();
    assert!(text.starts_with(br#"{"jsonrpc":"2.0","id":1,"result":{"#));
    assert_ne!(text, Bytes::new());
}
