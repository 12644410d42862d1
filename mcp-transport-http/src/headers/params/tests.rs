//! Tables of headers against arguments.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_core::MirroredHeaders;
use mcp_types::{JsonObject, Method, ProtocolVersion};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::headers;

/// Headers of a request.
type Pairs<'a> = &'a [(&'a str, &'a [u8])];

fn plan() -> ParamHeaders {
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
    verify_arguments(&headers, &plan(), Some(&arguments)).map_err(|fault| match fault {
        Fault::HeaderMismatch(text) => text.into_owned(),
        other => panic!("{other}"),
    })
}

// spec: XHDR-12, XHDR-13, XHDR-14, XHDR-15, XHDR-16, XHDR-17, HTTP-SM-09, HTTP-SM-11
#[test]
fn one_text() {
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
        // What no header repeats is for those who read the arguments.
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
            "comes twice",
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
            "may not have",
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
            "is no single value",
        ),
    ];
    for (arguments, pairs, told) in refused {
        let error = check(&arguments, pairs).expect_err(&arguments.to_string());
        assert!(error.contains(told), "{arguments} {pairs:?}: {error}");
    }
}

// spec: XHDR-06, XHDR-11, XHDR-18
#[test]
fn numbers_and_booleans_below_the_root() {
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
    for (arguments, pairs, told) in [
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
        assert!(error.contains(told), "{arguments}: {error}");
    }
}

/// What a client with this plan sends.
fn emitted(arguments: &RawObject) -> HeaderMap {
    let plan = plan();
    let values = plan.values(Some(arguments)).unwrap();
    let params = values.iter().filter_map(|found| {
        let text = found.value.as_ref()?.text()?;
        Some((found.header.into(), text.into()))
    });
    let mirror = MirroredHeaders::new(
        ProtocolVersion::LATEST,
        Method::CallTool.as_str(),
        Some("t"),
    );
    let mut headers = HeaderMap::new();
    headers::emit(&mirror.params(params.collect()), &mut headers);
    headers
}

// spec: XHDR-02, XHDR-13, XHDR-14
#[test]
fn how_values_are_written() {
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
            .and_then(|it| it.strip_suffix("?="))
        {
            assert_eq!(STANDARD.decode(encoded).unwrap(), text.as_bytes());
        }
    }
    let options = json!({"options": {"count": 42.0, "on": false}, "text": null});
    let headers = emitted(&RawObject::from_value(&options).unwrap());
    assert_eq!(headers["mcp-param-max-count"], "42");
    assert_eq!(headers["mcp-param-method"], "false");
    assert!(!headers.contains_key("mcp-param-text"));
    // The method's own header is another one.
    assert_eq!(headers[names::MCP_METHOD], "tools/call");
}

proptest! {
    /// Whatever a client has to say, the server understands as that and as nothing else.
    #[test]
    fn what_is_emitted_is_verified(text in ".*", other in ".*", count in -(1_i64 << 53) + 1..1 << 53, on: bool) {
        let arguments = |text: &str| {
            let options = json!({"count": count, "on": on});
            RawObject::from_value(&json!({"text": text, "options": options})).unwrap()
        };
        let headers = emitted(&arguments(&text));
        prop_assert!(verify_arguments(&headers, &plan(), Some(&arguments(&text))).is_ok());
        let same = verify_arguments(&headers, &plan(), Some(&arguments(&other))).is_ok();
        prop_assert_eq!(same, text == other);
    }
}
