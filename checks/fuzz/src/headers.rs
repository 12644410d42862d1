//! Headers that repeat the body of a request: an endpoint accepts what a client writes, and a header that it accepts
//! says what the body says.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::FutureExt as _;
use futures::StreamExt as _;
use futures::future::{Ready, ready};
use http::header::HOST;
use http::{HeaderName, HeaderValue, Request, Response};
use http_body_util::BodyExt as _;
use mcp_core::wire::ClientRequestContext;
use mcp_core::{Call, Channel as _, ClientProfile, ClientRequest, OutgoingRequest, ParamHeaders};
use mcp_server::{RawArgs, Server, Tool, ToolExt as _};
use mcp_transport_http::headers::{encode, names};
use mcp_transport_http::{HttpChannel, StreamableHttp};
use mcp_types::{CallToolParams, Implementation, JsonObject, ProtocolVersion, RawObject, codes};
use serde_json::{Value, json};
use tower_service::Service;

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

const PARAM_TEXT: HeaderName = HeaderName::from_static("mcp-param-text");

static SCHEMA: LazyLock<JsonObject> = LazyLock::new(|| {
    serde_json::from_str(
        r#"{"type": "object", "properties": {
            "text": {"type": "string", "x-mcp-header": "Text"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "on": {"type": "boolean", "x-mcp-header": "On"}
        }}"#,
    )
    .expect("the schema is JSON")
});

static PLAN: LazyLock<ParamHeaders> = LazyLock::new(|| {
    let plan = ParamHeaders::from_schema(&SCHEMA).expect("the schema is valid");
    plan.expect("the schema has annotations")
});

static ENDPOINT: LazyLock<StreamableHttp> = LazyLock::new(|| {
    let handler = async |arguments: RawArgs| arguments.as_str().len().to_string();
    let tool = Tool::new("t").input_schema(SCHEMA.clone()).handler(handler);
    StreamableHttp::new(Server::new("s", "1").tool(tool))
});

/// The input: a header value, then the JSON of arguments.
fn run(input: &[u8]) {
    let end = input.iter().position(|&byte| byte == b'\n');
    let (value, rest) = input.split_at(end.unwrap_or(input.len()));
    for text in [value, input] {
        if let Ok(text) = std::str::from_utf8(text) {
            name_survives(text);
        }
    }
    let value = HeaderValue::from_bytes(value).ok();
    if let (Some(value), Ok(text)) = (&value, std::str::from_utf8(rest)) {
        let mut request = written(text, None, Vec::new());
        request.headers_mut().insert(names::MCP_NAME, value.clone());
        assert!(
            is_refused(request) || says(value, text),
            "{value:?}: {text:?}"
        );
    }
    let arguments = std::str::from_utf8(rest.trim_ascii_start()).ok();
    let Some(arguments) = arguments.and_then(|text| RawObject::from_text(text).ok()) else {
        return;
    };
    arguments_match(&arguments);
    if let Some(value) = value {
        accepted_header_says_the_same(&value, &arguments);
    }
}

/// The name of a tool arrives as the client has it.
fn name_survives(text: &str) {
    let value = encode(text);
    let mut bytes = value.as_bytes().iter();
    assert!(bytes.all(|byte| (b' '..=b'~').contains(byte)), "{value:?}");
    assert!(says(&value, text), "{value:?}: {text:?}");
    let request = written(text, None, Vec::new());
    assert_eq!(request.headers()[names::MCP_NAME], value);
    assert!(!is_refused(request), "{text:?}");
}

/// Returns true if a header value stands for a text: plain, or as Base64 between the markers.
fn says(value: &HeaderValue, text: &str) -> bool {
    let value = value.as_bytes().trim_ascii();
    let encoded = value.strip_prefix(b"=?base64?");
    match encoded.and_then(|encoded| encoded.strip_suffix(b"?=")) {
        Some(encoded) => STANDARD.encode(text).as_bytes() == encoded,
        None => value == text.as_bytes(),
    }
}

/// The headers that a client writes for arguments are accepted by a server.
fn arguments_match(arguments: &RawObject) {
    let Some(params) = PLAN.values(Some(arguments)) else {
        return;
    };
    let numbers = numbers(arguments);
    let is_refused = is_refused(written("t", Some(arguments), params));
    // Integers beyond ±(2⁵³−1) are refused. Between the bounds, the notation decides.
    if numbers
        .iter()
        .all(|(_, number)| number.abs() < 2_f64.powi(52))
    {
        assert!(!is_refused, "{arguments:?}");
    }
    let is_unsafe = |(text, number): &(String, f64)| {
        let is_integer = text
            .trim_start_matches('-')
            .bytes()
            .all(|byte| byte.is_ascii_digit());
        is_integer && number.abs() > 2_f64.powi(53)
    };
    if numbers.iter().any(is_unsafe) {
        assert!(is_refused, "{arguments:?}");
    }
}

/// Returns the numbers among the arguments that have a header, as they are written and as values.
fn numbers(arguments: &RawObject) -> Vec<(String, f64)> {
    // Read as the endpoint does, so that a name with half of a surrogate pair hides no others.
    let members: HashMap<_, _> = arguments.as_raw().members().collect();
    let values = ["text", "count", "on"].map(|name| {
        let text = members.get(name)?.as_str();
        Some((text.to_owned(), text.parse().ok()?))
    });
    values.into_iter().flatten().collect()
}

/// A server that accepts a header for a string has seen exactly this string.
fn accepted_header_says_the_same(value: &HeaderValue, arguments: &RawObject) {
    let members = arguments.parse::<JsonObject>().unwrap_or_default();
    let Some(Value::String(text)) = members.get("text") else {
        return;
    };
    if members.contains_key("count") || members.contains_key("on") {
        return;
    }
    let mut request = written("t", Some(arguments), Vec::new());
    request.headers_mut().insert(PARAM_TEXT, value.clone());
    assert!(
        is_refused(request) || says(value, text),
        "{value:?}: {text:?}"
    );
}

/// Returns the request that a client sends for a call.
fn written(
    name: &str,
    arguments: Option<&RawObject>,
    params: Vec<(Box<str>, Box<str>)>,
) -> Request<Bytes> {
    let call = Call::CallTool(CallToolParams::new(name, arguments.cloned()));
    let profile = ClientProfile::new(Implementation::new("c", "1"));
    let id = 1.into();
    let context = ClientRequestContext::new(&id, &profile);
    let version = ProtocolVersion::LATEST;
    let mut request = OutgoingRequest::encode(&ClientRequest::Call(call), version, &context);
    request.mirrored.params = params;
    let sent = Sent::default();
    let channel = HttpChannel::with_service("http://localhost/mcp", sent.clone());
    let channel = channel.expect("the URL is valid");
    // The response is not one of a server.
    let _ = channel.call(request).next().now_or_never();
    let sent = sent.0.lock().expect("no panic");
    let mut sent = sent.clone().expect("the client sends at once");
    sent.headers_mut()
        .insert(HOST, HeaderValue::from_static("localhost"));
    sent
}

/// Keeps the request that a client sends.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<Option<Request<Bytes>>>>);

impl Service<Request<Bytes>> for Sent {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = Ready<Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        *self.0.lock().expect("no panic") = Some(request);
        ready(Ok(Response::new(String::new())))
    }
}

/// Returns true if the endpoint refuses a request because its headers differ from its body.
fn is_refused(request: Request<Bytes>) -> bool {
    let (head, body) = request.into_parts();
    let response = ENDPOINT.handle(head, body).now_or_never();
    let response = response.expect("the endpoint answers at once");
    let body = response.into_body().collect().now_or_never();
    let body = body.expect("the body is complete").expect("no body fails");
    let message: Value = serde_json::from_slice(&body.to_bytes()).expect("the body is JSON");
    message["error"]["code"] == json!(codes::HEADER_MISMATCH)
}
