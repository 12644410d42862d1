//! Header values with the Base64 sentinel: every string survives encoding, a decoded value is what
//! was encoded, and headers that a client writes match its arguments.

use std::collections::HashMap;
use std::sync::LazyLock;

use http::{HeaderMap, HeaderName, HeaderValue};
use mcp_core::{MirroredHeaders, ParamHeaders};
use mcp_transport_http::headers::{decode, emit, encode, verify_arguments};
use mcp_types::{JsonObject, Method, ProtocolVersion, RawObject};
use serde_json::value::RawValue;

use crate::target::Target;

pub(crate) const TARGET: Target = Target {
    name: "headers",
    run,
    examples: &[
        b"=?base64?WsO8cmljaA==?=\n{\"text\":\"Z\\u00fcrich\",\"count\":12}",
        b"  plain\t\n{\"text\":\" a \",\"count\":1.0,\"on\":true}",
        b"=?base64?=\n{\"on\":\"true\",\"count\":9007199254740993}",
        b"12\n{\"count\":12}",
    ],
    fragments: &[
        "=?base64?",
        "?=",
        "=?BASE64?",
        "WsO8cmljaA==",
        "WsO8cmljaA",
        "AA==",
        "/+8=",
        " ",
        "\t",
        "\n",
        "\r",
        "\0",
        "é",
        "plain",
        "true",
        "12",
        "{",
        "}",
        "\"text\":",
        "\"count\":",
        "\"on\":",
        "\"",
        ",",
        "1e1",
        "-0",
        "null",
        "[]",
        "\\n",
        "\\u0000",
        "\\ud800",
    ],
};

static PLAN: LazyLock<ParamHeaders> = LazyLock::new(|| {
    let schema: JsonObject = serde_json::from_str(
        r#"{"type": "object", "properties": {
            "text": {"type": "string", "x-mcp-header": "Text"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "on": {"type": "boolean", "x-mcp-header": "On"}
        }}"#,
    )
    .expect("the schema is JSON");
    let plan = ParamHeaders::from_schema(&schema).expect("the schema is valid");
    plan.expect("the schema has annotations")
});

/// The input: a header value, then the JSON of arguments.
fn run(input: &[u8]) {
    let end = input.iter().position(|&byte| byte == b'\n');
    let (value, rest) = input.split_at(end.unwrap_or(input.len()));
    let decoded = decode(value);
    if let Ok(text) = &decoded {
        survives(text);
    }
    if let Ok(text) = std::str::from_utf8(input) {
        survives(text);
    }
    let arguments = std::str::from_utf8(rest.trim_ascii_start());
    if let Some(arguments) = arguments
        .ok()
        .and_then(|text| RawObject::from_text(text).ok())
    {
        client_headers_match(&arguments);
        if let Ok(value) = HeaderValue::from_bytes(value) {
            matching_header_says_the_same(value, decoded.ok().as_deref(), &arguments);
        }
    }
}

fn survives(text: &str) {
    let encoded = encode(text);
    assert!(
        encoded
            .as_bytes()
            .iter()
            .all(|byte| (b' '..=b'~').contains(byte))
    );
    assert_eq!(decode(encoded.as_bytes()).as_deref(), Ok(text));
}

/// The headers that a client writes for arguments are accepted by a server.
fn client_headers_match(arguments: &RawObject) {
    let Some(params) = PLAN.values(Some(arguments)) else {
        return;
    };
    let numbers = numbers(arguments);
    let mut mirrored = MirroredHeaders::new(
        ProtocolVersion::LATEST,
        Method::CallTool.as_str(),
        Some("t"),
    );
    let mut headers = HeaderMap::new();
    mirrored.params = params;
    emit(&mirrored, &mut headers);
    let verified = verify_arguments(&headers, &PLAN, Some(arguments));
    // Integers beyond ±(2⁵³−1) are refused. Between the bounds, the notation decides.
    if numbers
        .iter()
        .all(|(_, number)| number.abs() < 2_f64.powi(52))
    {
        assert!(verified.is_ok(), "{arguments:?}: {verified:?}");
    }
    let is_unsafe = |(text, number): &(String, f64)| {
        let is_integer = text
            .trim_start_matches('-')
            .bytes()
            .all(|byte| byte.is_ascii_digit());
        is_integer && number.abs() > 2_f64.powi(53)
    };
    if numbers.iter().any(is_unsafe) {
        assert!(verified.is_err(), "{arguments:?}");
    }
}

/// Returns the numbers among the arguments that have a header, as they are written and as values.
fn numbers(arguments: &RawObject) -> Vec<(String, f64)> {
    let members = arguments.parse::<HashMap<String, Box<RawValue>>>();
    let members = members.unwrap_or_default();
    let values = ["text", "count", "on"].map(|name| {
        let text = members.get(name)?.get();
        Some((text.to_owned(), text.parse().ok()?))
    });
    values.into_iter().flatten().collect()
}

/// A server that accepts a header for a string has seen exactly this string.
fn matching_header_says_the_same(value: HeaderValue, decoded: Option<&str>, arguments: &RawObject) {
    let mut headers = HeaderMap::new();
    headers.insert(HeaderName::from_static("mcp-param-text"), value);
    let only_text = arguments.parse::<serde_json::Map<_, _>>().is_ok_and(
        |members: serde_json::Map<String, serde_json::Value>| {
            members
                .get("text")
                .is_some_and(serde_json::Value::is_string)
                && !members.contains_key("count")
                && !members.contains_key("on")
        },
    );
    if only_text && verify_arguments(&headers, &PLAN, Some(arguments)).is_ok() {
        let values = PLAN
            .values(Some(arguments))
            .expect("verified arguments have values");
        assert_eq!(values.first().map(|(_, text)| &**text), decoded);
    }
}
