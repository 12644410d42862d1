//! What reading and writing may cost in memory, counted by the allocator.

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use allocation_counter::{AllocationInfo, measure};
    use mcp_types::{
        CallToolParams, CallToolResult, ClientCapabilities, ContentBlock, Message, RequestId,
    };
    use proptest::collection::vec;
    use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
    use serde::de::DeserializeOwned;

    /// A call as clients of 2026-07-28 send it.
    const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"echo","arguments":{"message":"hello, world","repeat":3,"loud":false}}}"#;

    /// Parsing a call: the lists of the members of `params` and of its `_meta`. Everything else is
    /// borrowed or fits in its place; an id that is text costs one more.
    const PARSE_CALL: u64 = 2;
    /// Its parameters for the handler: the name of the tool, and the text of its arguments.
    const OWN_PARAMS: u64 = 2;
    /// Capabilities that say nothing beside their names are not worth an allocation, since they
    /// come with every request.
    const BARE_CAPABILITIES: u64 = 0;
    /// A result with one text: the list of blocks, and the text.
    const READ_RESULT: u64 = 2;
    /// Writing a result into a buffer that is large enough.
    const WRITE_RESULT: u64 = 0;

    /// A message of any kind, however hostile, costs at most this many times its length …
    const FACTOR: u64 = 4;
    /// … and this much beside: 64 members of `params`, or 128 messages of a batch and their errors.
    const BESIDE: u64 = 64 << 10;

    fn counted(f: impl FnOnce()) -> AllocationInfo {
        let info = measure(f);
        assert_eq!(info.count_current, 0, "something stayed");
        info
    }

    #[test]
    fn a_call_is_parsed_within_its_budget() {
        assert!((240..260).contains(&CALL.len()), "{}", CALL.len());
        let info = counted(|| {
            black_box(Message::parse(CALL).unwrap());
        });
        assert!(info.count_total <= PARSE_CALL, "{info:?}");
        let text = String::from_utf8(CALL.to_vec()).unwrap();
        let named = text.replace("42", r#""forty-two""#);
        let info = counted(|| {
            black_box(Message::parse(named.as_bytes()).unwrap());
        });
        assert!(info.count_total <= PARSE_CALL + 1, "{info:?}");
    }

    #[test]
    fn its_parameters_are_taken_within_their_budget() {
        let Ok(Message::Request(request)) = Message::parse(CALL) else {
            panic!()
        };
        assert_eq!(request.id, RequestId::from(42));
        let info = counted(|| {
            let name: String = request.params.required("name").unwrap();
            let arguments = request.params.object("arguments").unwrap();
            black_box(CallToolParams::new(name, arguments));
        });
        assert!(info.count_total <= OWN_PARAMS, "{info:?}");
    }

    #[test]
    fn bare_capabilities_cost_nothing() {
        fn read<T: DeserializeOwned>(text: &str) -> AllocationInfo {
            counted(|| {
                black_box(serde_json::from_str::<T>(text).unwrap());
            })
        }

        for text in [
            "{}",
            r#"{"sampling":{}}"#,
            r#"{"roots":{"listChanged":true},"elicitation":{"form":{},"url":{}}}"#,
        ] {
            let info = read::<ClientCapabilities>(text);
            assert_eq!(info.count_total, BARE_CAPABILITIES, "{text}: {info:?}");
        }
        assert!(read::<ClientCapabilities>(r#"{"x":1}"#).count_total > 0);
    }

    #[test]
    fn results_are_read_and_written_within_their_budgets() {
        let result = CallToolResult::new(vec![ContentBlock::text("hello, world")]);
        let mut out = Vec::with_capacity(1024);
        let info = measure(|| serde_json::to_writer(&mut out, &result).unwrap());
        assert_eq!(info.count_total, WRITE_RESULT, "{info:?}");
        let info = counted(|| {
            black_box(serde_json::from_slice::<CallToolResult>(&out).unwrap());
        });
        assert!(info.count_total <= READ_RESULT, "{info:?}");
    }

    #[track_caller]
    fn bounded(text: &[u8]) {
        let info = counted(|| {
            black_box(Message::parse(text).is_ok());
            black_box(Message::parse_batch(text).is_ok());
        });
        let most = FACTOR * text.len() as u64 + BESIDE;
        let shown = String::from_utf8_lossy(&text[..text.len().min(80)]);
        assert!(
            info.bytes_max <= most,
            "{info:?} for {} bytes: {shown}",
            text.len()
        );
    }

    #[test]
    fn hostile_messages_cost_no_more_than_their_length() {
        let many = |item: &str| vec![item; 100_000].join(",");
        let envelope =
            |members: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m",{members}}}"#);
        for text in [
            "[".repeat(200_000),
            "{\"a\":".repeat(200_000),
            format!("[{}]", many("0")),
            format!("[{}]", many("[]")),
            format!("[{}]", many("{}")),
            envelope(&many(r#""x":0"#)),
            envelope(&many(r#""id":0"#)),
            envelope(&format!(r#""params":{{{}}}"#, many(r#""x":0"#))),
            envelope(&format!(r#""params":[{}]"#, many("0"))),
            envelope(&format!(
                r#""params":{{"x":"{}"}}"#,
                "\\u0041".repeat(100_000)
            )),
            envelope(&format!(
                r#""params":{{"{}":1}}"#,
                "\\u0041".repeat(100_000)
            )),
            envelope(&format!(
                r#""params":{{"{0}":1,"{0}":1}}"#,
                "x".repeat(100_000)
            )),
            format!(
                r#"{{"jsonrpc":"2.0","id":"{}","result":{{}}}}"#,
                "\\u0041".repeat(100_000)
            ),
            format!(
                r#"{{"jsonrpc":"2.0","method":"{}"}}"#,
                "\\n".repeat(100_000)
            ),
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":1,"message":"{0}","data":"{0}"}}}}"#,
                "\\n".repeat(100_000)
            ),
            format!(r#"{{"jsonrpc":{}}}"#, "1".repeat(300_000)),
            format!(
                r#"{{"jsonrpc":"2.0","id":{},"method":"m"}}"#,
                "9".repeat(300_000)
            ),
            format!(r#"{{"{}":1,"#, "x".repeat(300_000)),
        ] {
            bounded(text.as_bytes());
        }
        bounded(&[0xff; 100_000]);
    }

    fn piece() -> impl Strategy<Value = String> {
        let words = [
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "null",
            "true",
            "0",
            "-1",
            "1.5e9",
            "\"2.0\"",
            "\"jsonrpc\":",
            "\"id\":",
            "\"method\":",
            "\"params\":{",
            "\"result\":",
            "\"error\":{",
            "\"code\":",
            "\"message\":",
            "\"a\":",
            "\"\\ud800\"",
            "\"\\u0000x\"",
            " ",
            "\n",
        ];
        let word = (0..words.len()).prop_map(move |index| words[index].to_owned());
        prop_oneof![8 => word, 1 => Just(r#"{"jsonrpc":"2.0","#.to_owned()), 1 => "\\PC{0,5}"]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_text_is_expensive(pieces in vec(piece(), 0..60)) {
            bounded(pieces.concat().as_bytes());
        }

        #[test]
        fn no_bytes_are_expensive(bytes in any::<Vec<u8>>()) {
            bounded(&bytes);
        }
    }
}
