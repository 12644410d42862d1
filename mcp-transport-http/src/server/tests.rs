//! The endpoint as a tower service, without a socket.

mod closures;
mod notifications;
mod streams;
mod subscriptions;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use mcp_core::{
    BoxFuture, Call, ClientContext, Exchange, Fault, Gate, Principal, Reply, ServerProfile, Service,
};
use mcp_types::{
    CallToolParams, CallToolResult, ContentBlock, ErrorObject, Implementation, ProgressUpdate,
    ProtocolVersion, codes,
};
use serde_json::{Value, json};
use tower_service::Service as _;

use super::{Sessions, StreamableHttp};
use crate::headers::{encode, names};

/// A service whose calls run a function.
pub(super) struct Scripted {
    profile: Arc<ServerProfile>,
    script: Box<dyn Fn(Exchange) -> BoxFuture<'static, Reply> + Send + Sync>,
}

impl Service for Scripted {
    fn profile(&self) -> Arc<ServerProfile> {
        Arc::clone(&self.profile)
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        (self.script)(exchange)
    }
}

/// Creates an endpoint whose calls run `script`.
pub(super) fn endpoint<F, R>(script: F) -> StreamableHttp
where
    F: Fn(Exchange) -> R + Send + Sync + 'static,
    R: Future<Output = Reply> + Send + 'static,
{
    let profile = Arc::new(ServerProfile::new(Implementation::new("test", "1.0.0")));
    let script =
        Box::new(move |exchange| -> BoxFuture<'static, Reply> { Box::pin(script(exchange)) });
    StreamableHttp::new(Scripted { profile, script })
}

pub(super) fn text(text: &str) -> Reply {
    CallToolResult::new(vec![ContentBlock::text(text)]).into()
}

/// Replies to `tools/call` with the JSON of its arguments.
async fn echo(exchange: Exchange) -> Reply {
    match &exchange.call {
        Call::CallTool(CallToolParams {
            arguments: Some(arguments),
            ..
        }) => text(arguments.as_str()),
        _ => text("nothing"),
    }
}

/// Returns a modern request. With `with_notifications` it requests progress with the token 7, and log
/// messages.
pub(super) fn message(method: &str, mut params: Value, with_notifications: bool) -> Value {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if with_notifications {
        meta["progressToken"] = json!(7);
        meta["io.modelcontextprotocol/logLevel"] = json!("info");
    }
    params["_meta"] = meta;
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// Returns a POST of a modern message with the headers that mirror it.
pub(super) fn post(message: &Value) -> Request<Full<Bytes>> {
    let mut request = raw_post(message.to_string());
    let headers = request.headers_mut();
    headers.insert(
        names::MCP_PROTOCOL_VERSION,
        HeaderValue::from_static("2026-07-28"),
    );
    if let Some(method) = message["method"].as_str() {
        headers.insert(names::MCP_METHOD, encode(method));
    }
    if let Some(name) = message["params"]["name"].as_str() {
        headers.insert(names::MCP_NAME, encode(name));
    }
    request
}

/// Returns a POST with the headers that every message has.
fn raw_post(body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post("/mcp")
        .header(names::HOST, "localhost:8000")
        .header(names::CONTENT_TYPE, names::JSON)
        .header(names::ACCEPT, names::ACCEPT_BOTH)
        .body(Full::new(body.into()))
        .unwrap()
}

pub(super) fn tool_call(with_notifications: bool) -> Request<Full<Bytes>> {
    post(&message(
        "tools/call",
        json!({ "name": "t", "arguments": { "a": 1 } }),
        with_notifications,
    ))
}

fn set(mut request: Request<Full<Bytes>>, name: HeaderName, value: &str) -> Request<Full<Bytes>> {
    request.headers_mut().insert(name, value.parse().unwrap());
    request
}

/// Sends a request outside of a runtime and polls the response once. Creating a task or a timer would
/// panic.
fn call_now(endpoint: &StreamableHttp, request: Request<Full<Bytes>>) -> Response<Bytes> {
    let Ok(response) = endpoint.clone().call(request).now_or_never().unwrap();
    let (parts, body) = response.into_parts();
    let length = body.size_hint().exact();
    let body = body.collect().now_or_never().unwrap().unwrap().to_bytes();
    assert_eq!(length, Some(body.len() as u64));
    Response::from_parts(parts, body)
}

fn json_of(response: &Response<Bytes>) -> Value {
    assert_eq!(response.headers()[names::CONTENT_TYPE], names::JSON);
    serde_json::from_slice(response.body()).unwrap()
}

/// Returns status, error code and id of the response to a rejected request.
fn rejection(request: Request<Full<Bytes>>) -> (u16, i64, Value) {
    let response = call_now(&endpoint(echo), request);
    let body = json_of(&response);
    let id = body.get("id").cloned().unwrap_or(json!("absent"));
    (
        response.status().as_u16(),
        body["error"]["code"].as_i64().unwrap(),
        id,
    )
}

#[test]
fn call_without_notifications_uses_no_task_and_no_timer() {
    let response = call_now(&endpoint(echo), tool_call(false));
    assert_eq!(response.status(), StatusCode::OK);
    let body = json_of(&response);
    assert_eq!(body["id"], 1);
    assert_eq!(body["result"]["content"][0]["text"], r#"{"a":1}"#);
    // Requested notifications have no effect when there are none.
    assert_eq!(json_of(&call_now(&endpoint(echo), tool_call(true))), body);
}

#[test]
fn ready_call_with_notifications_gets_one_body_with_events() {
    // spec: HTTP-SM-12, HTTP-S-12, HTTP-S-08
    let endpoint = endpoint(|exchange| async move {
        exchange
            .notifications
            .report_progress(ProgressUpdate::new(1.0))
            .await;
        exchange
            .notifications
            .report_progress(ProgressUpdate::new(2.0))
            .await;
        text("done")
    });
    let response = call_now(&endpoint, tool_call(true));
    let headers = response.headers();
    assert_eq!(headers[names::CONTENT_TYPE], names::EVENT_STREAM);
    assert_eq!(headers[names::CACHE_CONTROL], "no-store, no-transform");
    assert_eq!(headers[names::X_ACCEL_BUFFERING], "no");
    let events = events(std::str::from_utf8(response.body()).unwrap());
    let progress: Vec<_> = events
        .iter()
        .map(|e| e["params"]["progress"].as_f64())
        .collect();
    assert_eq!(progress, [Some(1.0), Some(2.0), None]);
    assert_eq!(events[2]["result"]["content"][0]["text"], "done");

    let silent = call_now(&endpoint, tool_call(false));
    assert_eq!(silent.headers()[names::CONTENT_TYPE], names::JSON);
    assert_eq!(json_of(&silent)["result"]["content"][0]["text"], "done");
}

/// Returns the messages of an event stream.
pub(super) fn events(stream: &str) -> Vec<Value> {
    let blocks = stream
        .split("\n\n")
        .filter(|block| !block.is_empty() && !block.starts_with(':'));
    let data = blocks.map(|block| block.strip_prefix("event: message\ndata: ").unwrap());
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[test]
fn rejected_head_is_answered_with_a_json_rpc_error() {
    // spec: HTTP-S-03, HTTP-S-10, COMPAT-05
    let good = || tool_call(false);
    let verb = |method: Method| {
        let mut request = good();
        *request.method_mut() = method;
        request
    };
    let table = [
        (set(good(), names::HOST, "evil.example.com"), 403),
        (set(good(), names::ORIGIN, "http://evil.example.com"), 403),
        (verb(Method::GET), 405),
        (verb(Method::DELETE), 405),
        (set(good(), names::CONTENT_TYPE, "text/plain"), 415),
        (set(good(), names::ACCEPT, "application/json"), 406),
        (set(good(), names::CONTENT_LENGTH, "4194305"), 413),
        (raw_post(vec![b' '; (4 << 20) + 1]), 413),
    ];
    for (request, status) in table {
        assert_eq!(
            rejection(request),
            (status, codes::INVALID_REQUEST, json!("absent"))
        );
    }
    let response = call_now(&endpoint(echo), verb(Method::GET));
    assert_eq!(response.headers()[names::ALLOW], "POST");
}

/// Chrome, Firefox and Safari.
const BROWSERS: [&str; 3] = [
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "text/html",
];

#[test]
fn browser_gets_a_sentence_and_clients_get_an_error() {
    let get = |accept: &str| {
        let mut request = set(tool_call(false), names::ACCEPT, accept);
        *request.method_mut() = Method::GET;
        let own: Vec<_> = request.headers().keys().cloned().collect();
        for name in own {
            if name.as_str().starts_with("mcp-") {
                request.headers_mut().remove(name);
            }
        }
        request
    };
    for accept in BROWSERS {
        let response = call_now(&endpoint(echo), get(accept));
        assert_eq!(response.status(), 405, "{accept}");
        assert_eq!(response.headers()[names::ALLOW], "POST");
        assert_eq!(response.headers()[names::CONTENT_TYPE], names::TEXT);
        let text = str::from_utf8(response.body()).unwrap();
        assert!(text.contains("mcp inspect URL"), "{text}");
    }
    // A refused host learns nothing, and nothing of a request is repeated.
    let foreign = set(get(BROWSERS[0]), names::HOST, "<b>.example.com");
    assert_eq!(rejection(foreign).0, 403);
    let with_header = |name, value| set(get(BROWSERS[0]), name, value);
    for request in [
        get("*/*"),
        get("text/event-stream"),
        get("text/html, text/event-stream"),
        get("text/html;q=0, */*"),
        with_header(names::MCP_PROTOCOL_VERSION, "2025-11-25"),
        with_header(names::MCP_SESSION_ID, "1"),
        with_header(names::LAST_EVENT_ID, "1"),
    ] {
        let expected = (405, codes::INVALID_REQUEST, json!("absent"));
        assert_eq!(rejection(request), expected);
    }
}

#[test]
fn invalid_modern_request_gets_the_status_for_its_error() {
    // spec: ERR-14, HTTP-SM-02, HTTP-SM-04, HTTP-SM-05, HTTP-SM-06, META-09, HTTP-SM-10, VER-02
    let call = || tool_call(false);
    let odd = || {
        let mut message = message("tools/list", json!({}), false);
        message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("v999.0.0");
        set(post(&message), names::MCP_PROTOCOL_VERSION, "v999.0.0")
    };
    let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let unknown = message("initialize", json!({}), false);
    let table = [
        (post(&bare), 400, codes::INVALID_PARAMS),
        (
            set(call(), names::MCP_PROTOCOL_VERSION, "2025-11-25"),
            400,
            codes::HEADER_MISMATCH,
        ),
        (
            set(call(), names::MCP_METHOD, "tools/list"),
            400,
            codes::HEADER_MISMATCH,
        ),
        (
            set(call(), names::MCP_NAME, "u"),
            400,
            codes::HEADER_MISMATCH,
        ),
        (odd(), 400, codes::UNSUPPORTED_PROTOCOL_VERSION),
        (
            raw_post(bare.to_string()),
            400,
            codes::UNSUPPORTED_PROTOCOL_VERSION,
        ),
        (post(&unknown), 404, codes::METHOD_NOT_FOUND),
    ];
    for (request, status, code) in table {
        assert_eq!(rejection(request), (status, code, json!(1)));
    }
    let data = json_of(&call_now(&endpoint(echo), odd()))["error"]["data"].clone();
    assert_eq!(
        data,
        json!({ "supported": ["2026-07-28"], "requested": "v999.0.0" })
    );
}

#[test]
fn body_that_is_not_a_request_is_rejected() {
    // spec: HTTP-SM-01, HTTP-S-10
    let absent = json!("absent");
    let one = json!(1);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let table = [
        ("", codes::PARSE_ERROR, &absent),
        ("{", codes::PARSE_ERROR, &absent),
        ("\u{0}\u{1}garbage", codes::PARSE_ERROR, &absent),
        ("7", codes::INVALID_REQUEST, &absent),
        ("[]", codes::INVALID_REQUEST, &absent),
        (&deep, codes::INVALID_REQUEST, &absent),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#,
            codes::INVALID_REQUEST,
            &absent,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            codes::INVALID_REQUEST,
            &absent,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
            codes::INVALID_REQUEST,
            &absent,
        ),
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#,
            codes::INVALID_REQUEST,
            &one,
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
            codes::INVALID_REQUEST,
            &absent,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}"#,
            codes::INVALID_REQUEST,
            &one,
        ),
    ];
    for (body, code, id) in table {
        let rejection = rejection(raw_post(body.to_owned()));
        assert_eq!(
            rejection,
            (400, code, id.clone()),
            "{}",
            &body[..body.len().min(80)]
        );
    }
    let deep = raw_post(format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{deep}}}}}"#
    ));
    assert_eq!(
        call_now(&endpoint(echo), deep).status(),
        StatusCode::BAD_REQUEST
    );
}

#[test]
fn notification_is_accepted() {
    // spec: HTTP-S-07, HTTP-SM-21
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call"}"#,
    ] {
        let response = call_now(&endpoint(|_| async { panic!() }), raw_post(body));
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        assert!(response.body().is_empty());
    }
}

#[test]
fn reply_has_the_status_for_its_fault() {
    // spec: GAP-05, HTTP-SM-05, VER-15, HTTP-SM-10
    let table = [
        (Fault::no_such_tool("t"), 200, codes::INVALID_PARAMS),
        (Fault::bad_params("x"), 200, codes::INVALID_PARAMS),
        (Fault::internal("x"), 200, codes::INTERNAL_ERROR),
        (Fault::Protocol(ErrorObject::new(4711, "x")), 200, 4711),
        (Fault::no_such_method("x"), 404, codes::METHOD_NOT_FOUND),
        (
            Fault::MissingCapability {
                required: Arc::default(),
            },
            400,
            codes::MISSING_CLIENT_CAPABILITY,
        ),
        (
            Fault::HeaderMismatch("x".into()),
            400,
            codes::HEADER_MISMATCH,
        ),
    ];
    for (fault, status, code) in table {
        let endpoint = endpoint(move |exchange| {
            let fault = fault.clone();
            async move {
                exchange
                    .notifications
                    .report_progress(ProgressUpdate::new(1.0))
                    .await;
                Reply::Fault(fault)
            }
        });
        let response = call_now(&endpoint, tool_call(false));
        let body = json_of(&response);
        assert_eq!(
            (response.status().as_u16(), body["error"]["code"].as_i64()),
            (status, Some(code))
        );
        assert_eq!(body["id"], 1);
        // An error with a status other than 200 replaces the notifications before it.
        let notified = call_now(&endpoint, tool_call(true));
        assert_eq!(notified.status().as_u16(), status);
        let is_json = notified.headers()[names::CONTENT_TYPE] == names::JSON;
        assert_eq!(is_json, status != 200);
    }
}

#[test]
fn panic_is_an_internal_error_in_its_call() {
    let late = endpoint(|_| async { panic!("secret") });
    let early = endpoint(|_| -> std::future::Ready<Reply> { panic!("secret") });
    for endpoint in [late, early] {
        for _ in 0..2 {
            let response = call_now(&endpoint, tool_call(false));
            let body = json_of(&response);
            assert_eq!(
                (response.status(), &body["id"]),
                (StatusCode::OK, &json!(1))
            );
            assert_eq!(body["error"]["code"], codes::INTERNAL_ERROR);
            assert!(!body.to_string().contains("secret"));
        }
    }
}

#[test]
fn handler_finds_head_and_extensions_from_the_request() {
    #[derive(Clone)]
    struct Trace(u32);

    let endpoint = endpoint(|exchange| async move {
        let parts = exchange.extensions.parts().unwrap();
        let header = parts.headers.get("x-tenant").unwrap().to_str().unwrap();
        let trace = exchange.extensions.get::<Trace>().unwrap().0;
        let subject = exchange
            .principal()
            .map(|principal| principal.subject.as_str());
        text(&format!(
            "{} {} {header} {trace} {subject:?}",
            parts.method, parts.uri
        ))
    });
    let mut request = tool_call(false);
    request
        .headers_mut()
        .insert("x-tenant", HeaderValue::from_static("a"));
    request.extensions_mut().insert(Trace(9));
    request.extensions_mut().insert(Principal::new("me", "ann"));
    let body = json_of(&call_now(&endpoint, request));
    assert_eq!(
        body["result"]["content"][0]["text"],
        r#"POST /mcp a 9 Some("ann")"#
    );
}

#[test]
fn gate_refuses_a_call_before_it_starts() {
    struct OnlyAnn;
    impl Gate for OnlyAnn {
        fn admit(&self, _: &Call, _: &ClientContext, who: Option<&Principal>) -> Result<(), Fault> {
            match who {
                Some(who) if who.subject == "ann" => Ok(()),
                _ => Err(Fault::Refused("only Ann may do this".into())),
            }
        }
    }
    let started = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&started);
    let endpoint = endpoint(move |exchange| {
        *counter.lock().unwrap() += 1;
        echo(exchange)
    })
    .gate(OnlyAnn);
    assert_eq!(
        call_now(&endpoint, tool_call(false)).status(),
        StatusCode::FORBIDDEN
    );
    assert_eq!(*started.lock().unwrap(), 0);
    let mut request = tool_call(false);
    request.extensions_mut().insert(Principal::new("me", "ann"));
    assert_eq!(call_now(&endpoint, request).status(), StatusCode::OK);
}

#[test]
fn call_beyond_a_limit_has_the_status_and_the_time_to_wait() {
    for (fault, status) in [
        (
            Fault::rate_limited("too many calls", Duration::from_millis(2300)),
            429,
        ),
        (
            Fault::overloaded("the server is overloaded", Duration::from_secs(3)),
            503,
        ),
    ] {
        let expected = fault.clone();
        let endpoint = endpoint(move |_| {
            let fault = expected.clone();
            async move { Reply::from(fault) }
        });
        for with_notifications in [false, true] {
            let response = call_now(&endpoint, tool_call(with_notifications));
            assert_eq!(response.status(), status);
            assert_eq!(response.headers()[names::RETRY_AFTER], "3");
            let error = &json_of(&response)["error"];
            assert_eq!(error["code"], status);
            assert_eq!(error["data"], json!({ "retryAfter": 3 }));
            let message = error["message"].as_str().unwrap();
            assert!(message.ends_with("; try again in 3 s"), "{message}");
        }
        // A gate refuses in the same way.
        struct Full(Fault);
        impl Gate for Full {
            fn admit(
                &self,
                _: &Call,
                _: &ClientContext,
                _: Option<&Principal>,
            ) -> Result<(), Fault> {
                Err(self.0.clone())
            }
        }
        let response = call_now(&endpoint.gate(Full(fault)), tool_call(false));
        assert_eq!(response.status(), status);
        assert_eq!(response.headers()[names::RETRY_AFTER], "3");
    }
}

// spec: ERR-08
#[test]
fn refusal_and_panic_have_different_codes() {
    let refused = endpoint(|_| async { Fault::Refused("no".into()).into() });
    let failed = endpoint(|_| async { Fault::internal("a handler panicked").into() });
    let code = |endpoint| json_of(&call_now(endpoint, tool_call(false)))["error"]["code"].clone();
    assert_eq!(code(&refused), 403);
    assert_eq!(code(&failed), -32603);
}

#[test]
fn setting_on_a_clone_does_not_change_the_original() {
    let base = endpoint(echo);
    let wide = base
        .clone()
        .allowed_hosts(["mcp.example.com"])
        .body_limit(10);
    let foreign = || set(tool_call(false), names::HOST, "mcp.example.com");
    assert_eq!(call_now(&base, foreign()).status(), StatusCode::FORBIDDEN);
    assert_eq!(
        call_now(&wide, foreign()).status(),
        StatusCode::PAYLOAD_TOO_LARGE
    );
    assert!(format!("{wide:?}").contains("mcp.example.com"));
}

#[test]
fn modern_request_neither_needs_nor_opens_a_session() {
    // spec: SESS-12
    let endpoint = endpoint(echo);
    let endpoint = endpoint.sessions(Sessions::in_memory());
    let request = set(tool_call(false), names::MCP_SESSION_ID, "unknown");
    let response = call_now(&endpoint, request);
    assert_eq!(response.status(), StatusCode::OK);
    assert!(!response.headers().contains_key(names::MCP_SESSION_ID));
    assert_eq!(endpoint.session_count(), 0);
}

// spec: VER-05
#[test]
fn discover_lists_the_supported_versions() {
    let response = call_now(
        &endpoint(echo),
        post(&message("server/discover", json!({}), false)),
    );
    let versions = json_of(&response)["result"]["supportedVersions"].clone();
    assert_eq!(versions, json!([ProtocolVersion::LATEST]));
}

#[tokio::test]
async fn dropped_response_future_cancels_its_call() {
    // spec: HTTP-SM-15
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let endpoint = endpoint(move |_| {
        let held = Arc::clone(&held);
        async move {
            std::future::pending::<()>().await;
            drop(held);
            text("never")
        }
    });
    let mut response = endpoint.clone().call(tool_call(true));
    assert!((&mut response).now_or_never().is_none());
    let running = Arc::strong_count(&alive);
    drop(response);
    assert_eq!(Arc::strong_count(&alive), running - 1);
}
