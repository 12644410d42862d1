//! Headers that repeat arguments of a tool. The client writes them, the server compares them with
//! the arguments. [`ParamHeaders`] lists the arguments that have a header.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue};
use mcp_core::{Fault, ParamHeaders};
use mcp_types::RawObject;

use super::names;
use super::single::{RepeatedHeader, SingleHeader};
use super::value::{decode, encode};

/// Writes the argument headers. A name that is not a legal header name is skipped.
// spec: XHDR-02, XHDR-13
pub(super) fn emit(params: &[(Box<str>, Box<str>)], headers: &mut HeaderMap) {
    for (name, value) in params {
        if let Some(name) = header_name(name) {
            // A header map has a maximum size. The server reports headers that are missing.
            let _ = headers.try_insert(name, encode(value));
        }
    }
}

fn header_name(name: &str) -> Option<HeaderName> {
    let name = format!("{}{name}", names::MCP_PARAM_PREFIX);
    HeaderName::from_bytes(name.as_bytes()).ok()
}

/// Compares the headers of a `tools/call` with its arguments. For servers.
///
/// # Errors
///
/// Returns [`Fault::HeaderMismatch`] with the header, the argument and both values.
// spec: XHDR-16, XHDR-17
pub(crate) fn verify_arguments(
    headers: &HeaderMap,
    params: &ParamHeaders,
    arguments: Option<&RawObject>,
) -> Result<(), Fault> {
    params.verify(arguments, names::MCP_PARAM_PREFIX, |name| {
        let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else {
            return Ok(None);
        };
        match SingleHeader::lookup(headers, &name).value() {
            Ok(header) => header.map(|header| read(&name, header)).transpose(),
            // spec: HTTP-SM-11
            Err(RepeatedHeader) => Err(mismatch(format!("the header {name} occurs several times"))),
        }
    })
}

fn read<'a>(name: &HeaderName, header: &'a HeaderValue) -> Result<Cow<'a, str>, Fault> {
    decode(header.as_bytes())
        .map_err(|error| mismatch(format!("the header {name} cannot be read: {error}")))
}

fn mismatch(message: String) -> Fault {
    Fault::HeaderMismatch(message.into())
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use mcp_core::MirroredHeaders;
    use mcp_types::{JsonObject, Method, ProtocolVersion};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::headers;

    /// Names and values of headers.
    type Pairs<'a> = &'a [(&'a str, &'a [u8])];

    fn param_headers() -> ParamHeaders {
        let schema: JsonObject = serde_json::from_value(json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "x-mcp-header": "Text"},
                "options": {"type": "object", "properties": {
                    "count": {"type": "integer", "x-mcp-header": "Max-Count"},
                    "on": {"type": "boolean", "x-mcp-header": "Method"},
                }},
            },
        }))
        .unwrap();
        ParamHeaders::from_schema(&schema).unwrap().unwrap()
    }

    fn check(arguments: &Value, pairs: Pairs<'_>) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        let arguments = RawObject::from_value(arguments).unwrap();
        verify_arguments(&headers, &param_headers(), Some(&arguments)).map_err(
            |fault| match fault {
                Fault::HeaderMismatch(message) => message.into_owned(),
                other => panic!("{other}"),
            },
        )
    }

    // spec: XHDR-12, XHDR-13, XHDR-14, XHDR-15, XHDR-16, XHDR-17, HTTP-SM-09, HTTP-SM-11
    #[test]
    fn verify_string_argument_compares_decoded_values() {
        let text = |text: &str| json!({"text": text});
        let accepted: [(Value, Pairs<'_>); 11] = [
            (json!({}), &[]),
            (json!({"text": null}), &[]),
            (text("us-west1"), &[("Mcp-Param-Text", b"us-west1")]),
            (text("us-west1"), &[("MCP-PARAM-TEXT", b"  us-west1\t")]),
            (text(""), &[("mcp-param-text", b"")]),
            (text("Hello"), &[("mcp-param-text", b"=?base64?SGVsbG8=?=")]),
            (text("SGVsbG8="), &[("mcp-param-text", b"SGVsbG8=")]),
            (
                text("=?base64?SGVsbG8="),
                &[("mcp-param-text", b"=?base64?SGVsbG8=")],
            ),
            (
                text("=?BASE64?SGVsbG8=?="),
                &[("mcp-param-text", b"=?BASE64?SGVsbG8=?=")],
            ),
            (
                text("a"),
                &[("mcp-param-text", b"a"), ("mcp-param-unknown", b"\xff")],
            ),
            // Errors of the arguments are reported when they are decoded.
            (json!({"text": {"a": 1}, "options": []}), &[]),
        ];
        for (arguments, pairs) in accepted {
            assert_eq!(check(&arguments, pairs), Ok(()), "{arguments} {pairs:?}");
        }
        let refused: [(Value, Pairs<'_>, &str); 12] = [
            (
                text("x"),
                &[],
                "mcp-param-text is missing; it repeats the argument `text`",
            ),
            (text(""), &[], "is missing"),
            (
                text("x"),
                &[("mcp-param-text", b"X")],
                "says \"X\", but the argument `text` says \"x\"",
            ),
            (
                text("x"),
                &[("mcp-param-text", b"x"), ("mcp-param-text", b"x")],
                "occurs several times",
            ),
            (
                text("Hello"),
                &[("mcp-param-text", b"=?base64?SGVsbG8?=")],
                "not valid Base64",
            ),
            (
                text("Hello"),
                &[("mcp-param-text", b"=?base64?SGVs!!!bG8=?=")],
                "not valid Base64",
            ),
            (
                text("x"),
                &[("mcp-param-text", b"=?base64?/w==?=")],
                "UTF-8",
            ),
            (
                text("\u{e9}"),
                &[("mcp-param-text", b"\xc3\xa9")],
                "not allowed",
            ),
            (
                text("Hello"),
                &[("mcp-param-text", b"=?Base64?SGVsbG8=?=")],
                "but the argument",
            ),
            (
                json!({}),
                &[("mcp-param-text", b"x")],
                "leave the header out",
            ),
            (
                json!({"text": null}),
                &[("mcp-param-text", b"null")],
                "leave the header out",
            ),
            (
                json!({"text": ["x"]}),
                &[("mcp-param-text", b"x")],
                "is not a single value",
            ),
        ];
        for (arguments, pairs, expected) in refused {
            let error = check(&arguments, pairs).expect_err(&arguments.to_string());
            assert!(error.contains(expected), "{arguments} {pairs:?}: {error}");
        }
    }

    // spec: XHDR-06, XHDR-11, XHDR-18
    #[test]
    fn verify_nested_numbers_and_booleans_compares_values() {
        let options = |count: Value, on: Value| json!({"options": {"count": count, "on": on}});
        let count = |text: &'static [u8]| ("mcp-param-max-count", text);
        let on = |text: &'static [u8]| ("mcp-param-method", text);
        for (arguments, pairs) in [
            (options(json!(42), json!(null)), vec![count(b"42.0")]),
            (
                options(json!(42.0), json!(true)),
                vec![count(b"42"), on(b"true")],
            ),
            (
                options(json!(-7), json!(false)),
                vec![count(b"=?base64?LTc=?="), on(b"false")],
            ),
        ] {
            assert_eq!(check(&arguments, &pairs), Ok(()), "{arguments}");
        }
        for (arguments, pairs, expected) in [
            (
                options(json!(42), json!(null)),
                vec![count(b"43")],
                "`options.count` says \"42\"",
            ),
            (
                options(json!(42), json!(null)),
                vec![count(b"forty-two")],
                "says \"42\"",
            ),
            (
                options(json!(1), json!(true)),
                vec![count(b"1"), on(b"TRUE")],
                "`options.on`",
            ),
            (
                options(json!(9_007_199_254_740_992_u64), json!(null)),
                vec![count(b"9007199254740992")],
                "within",
            ),
        ] {
            let error = check(&arguments, &pairs).expect_err(&arguments.to_string());
            assert!(error.contains(expected), "{arguments}: {error}");
        }
    }

    /// Returns the headers that a client writes for `arguments`.
    fn emitted(arguments: &RawObject) -> HeaderMap {
        let params = param_headers();
        let mut mirrored = MirroredHeaders::new(
            ProtocolVersion::LATEST,
            Method::CallTool.as_str(),
            Some("t"),
        );
        let mut headers = HeaderMap::new();
        mirrored.params = params.values(Some(arguments)).unwrap();
        headers::emit(&mirrored, &mut headers);
        headers
    }

    // spec: XHDR-02, XHDR-13, XHDR-14
    #[test]
    fn emit_unsafe_values_uses_base64() {
        for (text, header) in [
            ("us-west1", "us-west1"),
            ("a b  c", "a b  c"),
            ("", ""),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("\ttab", "=?base64?CXRhYg==?="),
            ("Hello, \u{4e16}\u{754c}", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("=?base64?literal", "=?base64?literal"),
        ] {
            let headers = emitted(&RawObject::from_value(&json!({"text": text})).unwrap());
            assert_eq!(headers["mcp-param-text"], header, "{text:?}");
            if let Some(encoded) = header
                .strip_prefix("=?base64?")
                .and_then(|rest| rest.strip_suffix("?="))
            {
                assert_eq!(STANDARD.decode(encoded).unwrap(), text.as_bytes());
            }
        }
        let options = json!({"options": {"count": 42.0, "on": false}, "text": null});
        let headers = emitted(&RawObject::from_value(&options).unwrap());
        assert_eq!(headers["mcp-param-max-count"], "42");
        assert_eq!(headers["mcp-param-method"], "false");
        assert!(!headers.contains_key("mcp-param-text"));
        // The argument header `Mcp-Param-Method` does not replace `Mcp-Method`.
        assert_eq!(headers[names::MCP_METHOD], "tools/call");
    }

    proptest! {
        /// The server accepts emitted headers for the same arguments and for no others.
        #[test]
        fn verify_accepts_emitted_headers_and_no_other(text in ".*", other in ".*", count in -(1_i64 << 53) + 1..1 << 53, on: bool) {
            let arguments = |text: &str| {
                let options = json!({"count": count, "on": on});
                RawObject::from_value(&json!({"text": text, "options": options})).unwrap()
            };
            let headers = emitted(&arguments(&text));
            prop_assert!(verify_arguments(&headers, &param_headers(), Some(&arguments(&text))).is_ok());
            let same = verify_arguments(&headers, &param_headers(), Some(&arguments(&other))).is_ok();
            prop_assert_eq!(same, text == other);
        }
    }
}
