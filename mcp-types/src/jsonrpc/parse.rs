//! The parser for single messages.

use super::envelope::Envelope;
use super::split::split;
use super::{Message, ParseError};

impl<'a> Message<'a> {
    /// Parses one message. The values of `params` and `result` are borrowed and not interpreted.
    ///
    /// A repeated member in the message, `params` or `_meta` is an error, because two readers
    /// could understand such a message differently.
    ///
    /// # Errors
    ///
    /// Returns [`ParseError`] if the bytes are not valid JSON, are an array, or are not a valid request,
    /// notification or response.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::types::Message;
    ///
    /// let text = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#;
    /// let Message::Request(request) = Message::parse(text)? else { unreachable!() };
    /// assert_eq!(request.method, "tools/list");
    /// assert_eq!(request.params.optional::<&str>("cursor").unwrap(), Some("x"));
    /// # Ok::<(), mcp::types::ParseError>(())
    /// ```
    pub fn parse(text: &'a [u8]) -> Result<Self, ParseError> {
        read_envelope(text)?.into_message()
    }

    /// Parses one message. The flag says if the message has `params`, even without members.
    pub(crate) fn parse_with_presence(text: &'a [u8]) -> Result<(Self, bool), ParseError> {
        let envelope = read_envelope(text)?;
        let has_params = envelope.params.is_some();
        Ok((envelope.into_message()?, has_params))
    }
}

fn read_envelope(text: &[u8]) -> Result<Envelope<'_>, ParseError> {
    let text = ParseError::utf8(text)?;
    match first_byte(text) {
        Some(b'[') => Err(ParseError::Batch),
        Some(b'{') => read(text).map_err(|error| ParseError::syntax(&error)),
        _ => Err(ParseError::unexpected_kind(
            text,
            "a message is a JSON object",
        )),
    }
}

fn read(text: &str) -> serde_json::Result<Envelope<'_>> {
    match split(text) {
        Some(envelope) => Ok(envelope),
        None => Envelope::read(text),
    }
}

/// Returns the first byte after JSON whitespace.
pub(super) fn first_byte(text: &str) -> Option<&u8> {
    let mut bytes = text.as_bytes().iter();
    bytes.find(|byte| !matches!(byte, b' ' | b'\n' | b'\t' | b'\r'))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::{ProptestConfig, any, proptest};

    use super::ParseError;
    use crate::codes;
    use crate::jsonrpc::{Message, ParamError, RequestId};

    fn parse(text: &str) -> Result<Message<'_>, ParseError> {
        Message::parse(text.as_bytes())
    }

    #[track_caller]
    fn refused(text: &str, code: i64, id: Option<RequestId>, reason: &str) {
        let error = parse(text).unwrap_err();
        assert_eq!(error.to_error().code, code, "{error}");
        assert_eq!(error.id().cloned(), id, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }

    // spec: BASE-02
    #[test]
    fn request_id_keeps_its_json_type() {
        for (text, id) in [
            ("7", RequestId::from(7)),
            (r#""7""#, RequestId::from("7")),
            (r#""""#, RequestId::from("")),
            (r#""\u0037""#, RequestId::from("7")),
            ("-9223372036854775808", RequestId::from(i64::MIN)),
            ("9223372036854775807", RequestId::from(i64::MAX)),
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"tools/list"}}"#);
            let Ok(Message::Request(request)) = parse(&text) else {
                panic!("{text}")
            };
            assert_eq!(request.id, id);
            assert!(request.params.iter().len() == 0);
        }
    }

    // spec: BASE-19
    #[test]
    fn members_in_any_order_are_accepted_and_unknown_ones_skipped() {
        let text = r#" {"params":{"name":"add","arguments":{"a":[1,{}]}},"x":{"y":1},
            "method":"tools\/call","id":-1,"jsonrpc":"2.0"} "#;
        let Ok(Message::Request(request)) = parse(text) else {
            panic!()
        };
        assert_eq!(request.method, "tools/call");
        assert_eq!(request.params.required::<&str>("name"), Ok("add"));
        let arguments = request.params.object("arguments").unwrap().unwrap();
        assert_eq!(arguments.as_str(), r#"{"a":[1,{}]}"#);
        assert_eq!(
            request.params.to_object().as_str(),
            r#"{"name":"add","arguments":{"a":[1,{}]}}"#
        );
    }

    // spec: BASE-07, BASE-12
    #[test]
    fn notification_and_response_are_recognized() {
        let text = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}"#;
        assert!(
            matches!(parse(text), Ok(Message::Notification(note)) if note.params.iter().len() == 0)
        );

        let text = r#"{"jsonrpc":"2.0","id":"a","result":{"x":1}}"#;
        let Ok(Message::Response(response)) = parse(text) else {
            panic!()
        };
        assert_eq!(response.id, Some(RequestId::from("a")));
        assert_eq!(response.outcome.unwrap().as_str(), r#"{"x":1}"#);
        refused(
            r#"{"jsonrpc":"2.0","result":{"x":1}}"#,
            codes::INVALID_REQUEST,
            None,
            "id",
        );

        for id in [r#","id":null"#, ""] {
            let text =
                format!(r#"{{"jsonrpc":"2.0"{id},"error":{{"code":-32700,"message":"no"}}}}"#);
            let Ok(Message::Response(response)) = parse(&text) else {
                panic!("{text}")
            };
            assert_eq!(response.id, None);
            assert_eq!(response.outcome.unwrap_err().code, codes::PARSE_ERROR);
        }
    }

    #[test]
    fn invalid_json_is_a_parse_error() {
        for text in [
            "",
            "{",
            "nope",
            "\u{feff}{}",
            r#"{"jsonrpc":"2.0"} x"#,
            r#"{"a":}"#,
        ] {
            refused(text, codes::PARSE_ERROR, None, "");
        }
        let error = Message::parse(b"{\"jsonrpc\":\"\xff\"}").unwrap_err();
        assert!(matches!(error, ParseError::Syntax(_)), "{error}");
    }

    // spec: BASE-02, BASE-03, BASE-08, BASE-09
    #[test]
    fn json_that_is_not_a_message_is_an_invalid_request() {
        let invalid = codes::INVALID_REQUEST;
        let one = || Some(RequestId::from(1));
        refused("[]", invalid, None, "batches");
        refused("\"text\"", invalid, None, "object");
        refused("{}", invalid, None, "jsonrpc");
        refused(r#"{"jsonrpc":"2.0"}"#, invalid, None, "one of");
        refused(
            r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#,
            invalid,
            one(),
            "2.0",
        );
        refused(r#"{"id":1,"method":"m"}"#, invalid, one(), "2.0");
        refused(
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            invalid,
            None,
            "id",
        );
        refused(
            r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#,
            invalid,
            None,
            "id",
        );
        refused(
            r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
            invalid,
            None,
            "id",
        );
        refused(
            r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"m"}"#,
            invalid,
            None,
            "id",
        );
        refused(
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            invalid,
            one(),
            "method",
        );
        refused(
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#,
            invalid,
            one(),
            "only one",
        );
        refused(
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#,
            invalid,
            one(),
            "only one",
        );
        refused(r#"{"jsonrpc":"2.0","result":1}"#, invalid, None, "id");
        refused(
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#,
            invalid,
            one(),
            "error",
        );
        for error in [
            r#"{"code":1}"#,
            r#"{"message":"x"}"#,
            r#"{"code":1.5,"message":"x"}"#,
            r#"{"code":"1","message":"x"}"#,
            r#"{"code":1,"message":7}"#,
            "null",
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
            refused(&text, invalid, one(), "error");
        }
        for id in [
            "1.0",
            "1e3",
            "-0",
            "18446744073709551616",
            "true",
            "[1]",
            "{}",
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            refused(&text, invalid, None, "`id`");
        }
        for params in ["[1]", "1", "-1", "1.5", "true", "\"x\""] {
            let text = format!(r#"{{"params":{params},"jsonrpc":"2.0","id":1,"method":"m"}}"#);
            refused(&text, invalid, one(), "object");
        }
    }

    #[test]
    fn repeated_member_is_refused() {
        let invalid = codes::INVALID_REQUEST;
        let one = || Some(RequestId::from(1));
        refused(
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            invalid,
            one(),
            "twice",
        );
        refused(
            r#"{"jsonrpc":"2.0","id":1,"method":"a","m\u0065thod":"b"}"#,
            invalid,
            one(),
            "twice",
        );
        let text = r#"{"jsonrpc":"2.0","params":{"a":1,"\u0061":2},"id":1,"method":"m"}"#;
        refused(text, invalid, one(), "`params.a` comes twice");
        let text = r#"{"jsonrpc":"2.0","params":{},"params":{},"id":1,"method":"m"}"#;
        refused(text, invalid, one(), "twice");
    }

    #[test]
    fn too_many_members_in_params_are_refused() {
        let members: Vec<_> = (0..10_000).map(|n| format!(r#""k{n}":0"#)).collect();
        let members = members.join(",");
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{{members}}}}}"#);
        refused(
            &text,
            codes::INVALID_REQUEST,
            Some(RequestId::from(1)),
            "too many",
        );
    }

    #[test]
    fn members_in_meta_are_found_and_bounded() {
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"a/b":"x","c":{"d":1}},"c":2}}"#;
        let Ok(Message::Request(request)) = parse(text) else {
            panic!()
        };
        let params = &request.params;
        assert_eq!(params.meta("a/b").unwrap().as_str(), r#""x""#);
        assert_eq!(params.meta("c").unwrap().as_str(), r#"{"d":1}"#);
        assert_eq!(params.get("c").unwrap().as_str(), "2");
        assert_eq!(params.meta_members().len(), 2);
        assert_eq!(
            params.get("_meta").unwrap().as_str(),
            r#"{"a/b":"x","c":{"d":1}}"#
        );

        for meta in ["null", "7", "[]", r#""text""#, "{}"] {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"_meta":{meta}}}}}"#);
            let Ok(Message::Request(request)) = parse(&text) else {
                panic!("{meta}")
            };
            assert_eq!(request.params.meta_members().len(), 0, "{meta}");
            assert_eq!(request.params.get("_meta").unwrap().as_str(), meta);
        }

        let members: Vec<_> = (0..65).map(|n| format!(r#""k{n}":0"#)).collect();
        for (meta, reason) in [
            (r#""a":1,"\u0061":2"#, "`params._meta.a` comes twice"),
            (&members.join(","), "`params._meta` has too many members"),
        ] {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"_meta":{{{meta}}}}}}}"#
            );
            refused(
                &text,
                codes::INVALID_REQUEST,
                Some(RequestId::from(1)),
                reason,
            );
        }
    }

    #[test]
    fn deep_nesting_is_accepted() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"arguments":{deep}}},"x":{deep}}}"#
        );
        assert!(matches!(parse(&text), Ok(Message::Request(_))));
    }

    #[test]
    fn string_members_in_params_are_decoded() {
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"x","b":"\u0079","c":7,"d":null,"e":"\ud800"}}"#;
        let Ok(Message::Request(request)) = parse(text) else {
            panic!()
        };
        let params = &request.params;
        assert!(matches!(params.text("a"), Ok(Some(Cow::Borrowed("x")))));
        assert_eq!(params.text("b").unwrap().as_deref(), Some("y"));
        assert_eq!(params.text("d"), Ok(None));
        assert_eq!(params.text("f"), Ok(None));
        assert_eq!(params.required_text("b").as_deref(), Ok("y"));
        assert_eq!(params.required_text("f"), Err(ParamError::Missing("f")));
        for key in ["c", "e"] {
            assert!(matches!(params.text(key), Err(ParamError::Invalid { .. })));
        }
        for key in ["c", "d", "e"] {
            let read = params.required_text(key);
            assert!(matches!(read, Err(ParamError::Invalid { .. })), "{key}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn parsing_any_bytes_does_not_panic(bytes in any::<Vec<u8>>()) {
            let _ = Message::parse(&bytes);
        }

        #[test]
        fn parsing_nearly_valid_text_does_not_panic(
            text in r#"\{("(jsonrpc|id|method|params|result|error)":("2.0"|1|null|\{\}|\[\]|\{"a":1\}),?){0,5}\}"#
        ) {
            let _ = Message::parse(text.as_bytes());
        }
    }
}
