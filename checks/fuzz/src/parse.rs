//! The parser of messages: it never panics, every message that it accepts is valid JSON for `serde_json`, its
//! two readers of members agree, and owned messages are written as they were read.

use mcp_types::{ClientMessage, Message};
use serde::de::IgnoredAny;

use crate::target::{JSON, Target};

pub(crate) const TARGET: Target = Target {
    name: "parse",
    run,
    examples: &[
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{},"_meta":{"progressToken":1}}}"#,
        br#"{"jsonrpc":"2.0","id":"x","result":{"resultType":"complete","content":[]}}"#,
        br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"m","data":[1]}}"#,
        br#"[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
    ],
    fragments: JSON,
};

fn run(text: &[u8]) {
    if let Ok(message) = Message::parse(text) {
        assert!(serde_json::from_slice::<IgnoredAny>(text).is_ok());
        if let Message::Request(request) = message {
            let params = request.params.to_object();
            assert!(params.as_str().starts_with('{'));
            assert!(serde_json::from_str::<IgnoredAny>(params.as_str()).is_ok());
        }
    }
    let parsed = Message::parse(text);
    if let Some(escaped) = with_escaped_name(text) {
        match (parsed, Message::parse(&escaped)) {
            (Ok(one), Ok(other)) => assert_eq!(format!("{one:?}"), format!("{other:?}")),
            (one, other) => assert_eq!(one.is_ok(), other.is_ok()),
        }
    }
    if let Ok(mut message) = ClientMessage::parse(text) {
        write_again(&message);
        if let Some(meta) = message.meta_mut() {
            meta.insert("a", 1);
            write_again(&message);
        }
    }
    if let Ok(batch) = Message::split_batch(text) {
        assert!(batch.len() <= text.len());
        for message in batch {
            let _ = Message::parse(message.as_bytes());
        }
    }
}

/// Writes an owned message, reads what was written, and writes the same.
fn write_again(message: &ClientMessage) {
    let written = serde_json::to_string(message).expect("a message that was read is written");
    let again =
        ClientMessage::parse(written.as_bytes()).expect("a message that was written is read");
    let again = serde_json::to_string(&again).expect("a message that was read is written");
    assert_eq!(again, written);
}

/// Adds a member to a message, whose name has an escape. `serde_json` alone reads the members of such a
/// message.
fn with_escaped_name(text: &[u8]) -> Option<Vec<u8>> {
    let members = text.strip_prefix(b"{")?;
    Some([br#"{"\u0078":0,"#, members].concat())
}
