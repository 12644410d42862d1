//! The parser: it never panics, and every message that it accepts is valid JSON for `serde_json`.
//!
//! `cargo fuzz run parse`

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_types::Message;

fuzz_target!(|text: &[u8]| {
    if let Ok(Message::Request(request)) = Message::parse(text) {
        assert!(serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok());
        let params = request.params.to_object();
        assert!(params.as_str().starts_with('{'));
    }
    if let Ok(batch) = Message::parse_batch(text) {
        let _ = batch.len();
    }
});
