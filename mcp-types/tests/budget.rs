//! Allocation budgets for parsing, reading and writing.

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

    /// A `tools/call` request of 2026-07-28.
    const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"echo","arguments":{"message":"hello, world","repeat":3,"loud":false}}}"#;

    /// Allocations for parsing a call: the list of the members. A string id needs
    /// one more.
    const PARSE_CALL: u64 = 1;
    /// Allocations for copying the parameters: the name of the tool, and its arguments.
    const OWN_PARAMS: u64 = 2;
    /// Allocations for reading capabilities without settings, which every request carries.
    const BARE_CAPABILITIES: u64 = 0;
    /// Allocations for reading a result with one text block: the list of blocks, and the text.
    const READ_RESULT: u64 = 2;
    /// Allocations for writing a result into a buffer with enough capacity.
    const WRITE_RESULT: u64 = 0;

    /// Memory for parsing any message, as a multiple of its length …
    const FACTOR: u64 = 4;
    /// … plus a constant for 64 members of `params`, or for 128 messages of a batch and their errors.
    const CONSTANT: u64 = 64 << 10;

    fn counted(f: impl FnOnce()) -> AllocationInfo {
        let info = measure(f);
        assert_eq!(info.count_current, 0, "memory was leaked");
        info
    }

    /// Prints the number of allocations and checks that it does not exceed `most`.
    #[track_caller]
    fn within(what: &str, info: &AllocationInfo, most: u64) {
        println!("{what}: {} allocations, at most {most}", info.count_total);
        assert!(info.count_total <= most, "{what}: {info:?}");
    }

    #[test]
    fn call_is_parsed_within_budget() {
        assert!((240..260).contains(&CALL.len()), "{}", CALL.len());
        let info = counted(|| {
            black_box(Message::parse(CALL).unwrap());
        });
        within("parse of a call", &info, PARSE_CALL);
        let text = String::from_utf8(CALL.to_vec()).unwrap();
        let named = text.replace("42", r#""forty-two""#);
        let info = counted(|| {
            black_box(Message::parse(named.as_bytes()).unwrap());
        });
        within("parse of a call with a string id", &info, PARSE_CALL + 1);
    }

    #[test]
    fn parameters_are_copied_within_budget() {
        let Ok(Message::Request(request)) = Message::parse(CALL) else {
            panic!()
        };
        assert_eq!(request.id, RequestId::from(42));
        let info = counted(|| {
            let name: String = request.params.required("name").unwrap();
            let arguments = request.params.object("arguments").unwrap();
            black_box(CallToolParams::new(name, arguments));
        });
        within("copy of parameters", &info, OWN_PARAMS);
    }

    #[test]
    fn read_of_bare_capabilities_does_not_allocate() {
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
            within(text, &info, BARE_CAPABILITIES);
        }
        assert!(read::<ClientCapabilities>(r#"{"x":1}"#).count_total > 0);
    }

    #[test]
    fn result_is_read_and_written_within_budget() {
        let result = CallToolResult::new(vec![ContentBlock::text("hello, world")]);
        let mut out = Vec::with_capacity(1024);
        let info = measure(|| serde_json::to_writer(&mut out, &result).unwrap());
        within("write of a result", &info, WRITE_RESULT);
        let info = counted(|| {
            black_box(serde_json::from_slice::<CallToolResult>(&out).unwrap());
        });
        within("read of a result", &info, READ_RESULT);
    }

    #[track_caller]
    fn bounded(text: &[u8]) {
        let info = counted(|| {
            black_box(Message::parse(text).is_ok());
            let batch = Message::split_batch(text).unwrap_or_default();
            let messages = batch.into_iter().map(str::as_bytes).map(Message::parse);
            black_box(messages.collect::<Vec<_>>());
        });
        let most = FACTOR * text.len() as u64 + CONSTANT;
        let shown = String::from_utf8_lossy(&text[..text.len().min(80)]);
        assert!(
            info.bytes_max <= most,
            "{info:?} for {} bytes: {shown}",
            text.len()
        );
    }

    #[test]
    fn hostile_message_is_parsed_within_budget() {
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
        fn json_like_text_is_parsed_within_budget(pieces in vec(piece(), 0..60)) {
            bounded(pieces.concat().as_bytes());
        }

        #[test]
        fn any_bytes_are_parsed_within_budget(bytes in any::<Vec<u8>>()) {
            bounded(&bytes);
        }
    }
}
