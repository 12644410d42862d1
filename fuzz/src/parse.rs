//! The parser of messages: it never panics, and every message that it accepts is valid JSON for
//! `serde_json`.

use mcp_types::Message;
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
    if let Ok(batch) = Message::parse_batch(text) {
        assert!(batch.len() <= text.len());
    }
}
