//! Session behaviour that the TypeScript SDK tests for its HTTP transport, grouped by method.

use mcp_core::ChangeBus as _;

use super::*;
use crate::server::{AnswerMode, Sessions};

fn set(mut request: Request<Full<Bytes>>, name: &str, value: &str) -> Request<Full<Bytes>> {
    let name: http::HeaderName = name.parse().unwrap();
    request.headers_mut().insert(name, value.parse().unwrap());
    request
}

#[tokio::test(start_paused = true)]
async fn unsupported_method_is_405_with_allow() {
    // spec: HTTP-S-10
    let (endpoint, _) = endpoint();
    for method in [Method::PUT, Method::PATCH, Method::HEAD, Method::OPTIONS] {
        let peer = Peer::new(&endpoint);
        let got = peer.call(peer.request(method, "")).await;
        assert_eq!(got.header("allow").as_deref(), Some("GET, POST, DELETE"));
        assert_eq!(got.refusal().await, (405, -32600));
    }
    // Without sessions only POST is supported.
    for sessions in [Sessions::stateless(), Sessions::off()] {
        let peer = Peer::new(&endpoint.clone().sessions(sessions));
        for got in [peer.get().await, peer.delete().await] {
            assert_eq!(got.header("allow").as_deref(), Some("POST"));
            assert_eq!(got.status, 405);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn get_that_does_not_accept_event_streams_is_406() {
    // spec: HTTP-SL-08
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    for accept in ["application/json", "text/event-stream;q=0", "text/html"] {
        let request = set(peer.request(Method::GET, ""), "accept", accept);
        assert_eq!(peer.call(request).await.refusal().await, (406, -32600));
    }
    for accept in [
        "text/event-stream",
        "application/json, text/event-stream",
        "*/*",
    ] {
        let request = set(peer.request(Method::GET, ""), "accept", accept);
        assert_eq!(peer.call(request).await.status, 200, "{accept}");
    }
}

#[tokio::test(start_paused = true)]
async fn get_with_last_event_id_without_store_opens_the_standalone_stream() {
    let (endpoint, tools) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let mut got = peer.resume("1_1").await;
    assert_eq!(got.status, 200);
    tools.bus.publish(mcp_core::ChangeEvent::Tools);
    let told = got.event().await;
    assert_eq!(
        told.data.unwrap()["method"],
        "notifications/tools/list_changed"
    );
    assert_eq!(told.id, None);
}

#[tokio::test(start_paused = true)]
async fn second_get_replaces_the_first_stream_and_a_third_is_409() {
    let (endpoint, tools) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let mut first = peer.get().await;
    first.frame().await;
    let mut second = peer.get().await;
    assert_eq!(second.status, 200);
    // The replaced stream ends without a `retry` field.
    assert_eq!(first.frame().await, None);
    let third = peer.get().await;
    assert_eq!(third.header("retry-after").as_deref(), Some("5"));
    assert_eq!(third.refusal().await, (409, -32000));
    tools.bus.publish(mcp_core::ChangeEvent::Tools);
    assert!(second.event().await.data.is_some());
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(peer.get().await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn get_returns_stream_headers_at_once() {
    // spec: HTTP-SL-08, HTTP-SL-09, HTTP-SL-10, HTTP-S-11, HTTP-S-12
    let (endpoint, tools) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let mut got = peer.get().await;
    assert_eq!(got.status, 200);
    assert!(got.is_stream());
    assert_eq!(got.header("mcp-session-id"), peer.session);
    assert_eq!(
        got.header("cache-control").as_deref(),
        Some("no-store, no-transform")
    );
    assert_eq!(got.header("x-accel-buffering").as_deref(), Some("no"));
    assert_eq!(got.frame().await.as_deref(), Some(":\n\n"));
    assert_eq!(got.frame_now(), None);
    let begin = tokio::time::Instant::now();
    assert_eq!(got.frame().await.as_deref(), Some(": ping\n\n"));
    assert_eq!(begin.elapsed(), Duration::from_secs(15));
    // Messages of a call are not sent on this stream.
    assert_eq!(peer.send(steps(1)).await.messages().await.len(), 7);
    tools.bus.publish(mcp_core::ChangeEvent::Tools);
    let told = got.event().await.data.unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");
}

#[tokio::test(start_paused = true)]
async fn changes_without_a_stream_are_sent_on_the_next_one() {
    let (endpoint, tools) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let subscribe = json!({
        "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe",
        "params": { "uri": "file:///a" },
    });
    assert_eq!(peer.send(subscribe).await.json().await["result"], json!({}));
    for _ in 0..1_000 {
        tools.bus.publish(mcp_core::ChangeEvent::Tools);
        tools.bus.publish(mcp_core::ChangeEvent::Resource {
            uri: "file:///a".into(),
        });
        tools.bus.publish(mcp_core::ChangeEvent::Resource {
            uri: "file:///b".into(),
        });
    }
    let mut got = peer.get().await;
    let first = got.event().await.data.unwrap();
    assert_eq!(first["method"], "notifications/tools/list_changed");
    let second = got.event().await.data.unwrap();
    assert_eq!(second["params"], json!({ "uri": "file:///a" }));
    assert_eq!(got.frame_now(), None);
}

#[tokio::test(start_paused = true)]
async fn post_that_does_not_accept_both_types_is_406() {
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    for accept in ["application/json", "text/event-stream"] {
        let message = tool(1, "echo").to_string();
        let request = set(peer.request(Method::POST, message), "accept", accept);
        assert_eq!(peer.call(request).await.refusal().await, (406, -32600));
    }
}

#[tokio::test(start_paused = true)]
async fn post_with_another_content_type_is_415() {
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let request = peer.request(Method::POST, tool(1, "echo").to_string());
    let request = set(request, "content-type", "text/plain");
    assert_eq!(peer.call(request).await.refusal().await, (415, -32600));
}

#[tokio::test(start_paused = true)]
async fn oversized_post_is_413_and_invalid_message_is_400() {
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint.body_limit(1_000)).await;
    for (body, expected) in [
        ("x".repeat(1_001), (413, -32600)),
        ("nonsense".into(), (400, -32700)),
        (String::new(), (400, -32700)),
        (r#"{"jsonrpc":"1.0"}"#.into(), (400, -32600)),
        ("7".into(), (400, -32600)),
    ] {
        let got = peer.call(peer.request(Method::POST, body)).await;
        assert_eq!(got.refusal().await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn second_initialize_is_400() {
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let again = peer.send(initialize("2025-11-25")).await;
    assert_eq!(again.refusal().await, (400, -32600));
    assert_eq!(endpoint.session_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn initialize_in_a_first_batch_is_rejected() {
    // spec: BASE-15
    let (endpoint, _) = endpoint();
    let peer = Peer::new(&endpoint);
    let batch = json!([initialize("2025-03-26"), tool(1, "echo")]);
    assert_eq!(peer.send(batch).await.refusal().await, (400, -32600));
    let alone = peer
        .send(json!([initialize("2025-03-26")]))
        .await
        .json()
        .await;
    assert_eq!(alone["error"]["code"], -32600);
    let message = alone["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("a session begins with a message of its own"),
        "{message}"
    );
    assert_eq!(endpoint.session_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn session_id_is_in_every_response_except_202() {
    // spec: SESS-01, SESS-02, SESS-03
    let (endpoint, _) = endpoint();
    let opened = Arc::<Mutex<Vec<String>>>::default();
    let seen = opened.clone();
    let endpoint = endpoint.on_session(move |event| {
        if let crate::server::SessionEvent::Opened { id } = event {
            seen.lock().unwrap().push(id.to_owned());
        }
    });
    let got = Peer::new(&endpoint).send(initialize("2025-11-25")).await;
    let id = got.header("mcp-session-id").unwrap();
    assert_eq!(uuid::Uuid::parse_str(&id).unwrap().get_version_num(), 4);
    assert_eq!(*opened.lock().unwrap(), std::slice::from_ref(&id));

    let peer = Peer::open(&endpoint).await;
    assert_ne!(peer.session.as_ref(), Some(&id));
    for got in [
        peer.tool(1, "echo").await,
        peer.send(steps(2)).await,
        peer.send(json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" }))
            .await,
        peer.tool(4, "wait").await,
        peer.get().await,
    ] {
        assert_eq!(got.header("mcp-session-id"), peer.session);
    }
    // Responses without a body and errors have none.
    for got in [
        peer.send(initialized()).await,
        peer.send(initialize("2025-11-25")).await,
        peer.call(peer.request(Method::POST, "nonsense")).await,
        peer.call(peer.request(Method::PUT, "")).await,
        peer.delete().await,
        peer.tool(5, "echo").await,
    ] {
        assert_eq!(got.header("mcp-session-id"), None, "{}", got.status);
    }
}

#[tokio::test(start_paused = true)]
async fn custom_session_id_must_be_unique_visible_ascii() {
    // spec: SESS-03
    for (id, status) in [
        ("mine-1", 200),
        ("!~", 200),
        ("", 500),
        ("two words", 500),
        ("ümlaut", 500),
        ("tab\t", 500),
    ] {
        let (endpoint, _) = endpoint();
        let endpoint = endpoint.session_id(move |parts| {
            assert_eq!(parts.uri.path(), "/mcp");
            id.to_owned()
        });
        let got = Peer::new(&endpoint).send(initialize("2025-11-25")).await;
        assert_eq!(got.status, status, "{id}");
        // An id in use is rejected as well.
        let again = Peer::new(&endpoint).send(initialize("2025-11-25")).await;
        assert_eq!(again.status, 500);
        assert_eq!(endpoint.session_count(), usize::from(status == 200));
    }
}

#[tokio::test(start_paused = true)]
async fn notification_or_response_is_202_without_body() {
    // spec: HTTP-S-07
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let got = peer.send(initialized()).await;
    assert_eq!(got.status, 202);
    assert!(got.body.collect().await.unwrap().to_bytes().is_empty());
}

#[tokio::test(start_paused = true)]
async fn request_in_sse_mode_is_a_stream_that_ends_with_the_reply() {
    // spec: HTTP-SL-02, HTTP-SL-06
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.sessions(Sessions::in_memory().answer(AnswerMode::AlwaysSse));
    let peer = Peer::new(&endpoint);
    let got = peer.send(initialize("2025-11-25")).await;
    assert!(got.is_stream());
    let mut peer = peer;
    peer.session = got.header("mcp-session-id");
    assert_eq!(
        got.messages().await[0]["result"]["protocolVersion"],
        "2025-11-25"
    );
    for (message, events) in [
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }), 1),
        (tool(1, "echo"), 1),
        (steps(1), 7),
    ] {
        let got = peer.send(message).await;
        assert!(got.is_stream());
        let messages = got.messages().await;
        assert_eq!(messages.len(), events);
        assert_eq!(messages[events - 1]["id"], 1);
    }
}

#[tokio::test(start_paused = true)]
async fn request_in_json_mode_is_one_message() {
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.sessions(Sessions::in_memory().answer(AnswerMode::AlwaysJson));
    let peer = Peer::open(&endpoint).await;
    let begin = tokio::time::Instant::now();
    assert_eq!(peer.send(steps(1)).await.json().await["id"], 1);
    assert!(begin.elapsed() >= Duration::from_millis(30));
}

#[tokio::test(start_paused = true)]
async fn delete_ends_calls_and_streams() {
    // spec: SESS-07, SESS-09
    let (endpoint, tools) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let mut standalone = peer.get().await;
    standalone.frame().await;
    let call = peer.tool(1, "wait").await;
    // The session is checked before the version.
    let mut stranger = peer.clone();
    stranger.session = Some("nobody".into());
    stranger.version = "1999-01-01";
    assert_eq!(stranger.delete().await.refusal().await, (404, -32001));
    stranger.session = peer.session.clone();
    assert_eq!(stranger.delete().await.refusal().await, (400, -32000));

    let got = peer.delete().await;
    assert_eq!(got.status, 200);
    assert!(got.body.collect().await.unwrap().to_bytes().is_empty());
    assert_eq!(standalone.frame().await, None);
    assert_eq!(call.messages().await, [] as [Value; 0]);
    assert_eq!(tools.waiting(), (0, 0));
    for got in [
        peer.tool(2, "echo").await,
        peer.get().await,
        peer.delete().await,
    ] {
        assert_eq!(got.refusal().await, (404, -32001));
    }
}

#[tokio::test(start_paused = true)]
async fn message_event_has_one_data_line() {
    // spec: HTTP-S-11
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let mut got = peer.send(steps(1)).await;
    let frame = got.frame().await.unwrap();
    let lines: Vec<_> = frame.split("\n\n").next().unwrap().lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "event: message"));
    assert!(lines[1].starts_with("data: {"));
}

#[tokio::test(start_paused = true)]
async fn missing_or_repeated_session_id_is_400() {
    // spec: SESS-06
    let (endpoint, _) = endpoint();
    let peer = Peer::new(&endpoint);
    for message in [tool(1, "echo"), initialized(), json!([tool(1, "echo")])] {
        assert_eq!(peer.send(message).await.refusal().await, (400, -32000));
    }
    assert_eq!(peer.get().await.refusal().await, (400, -32000));
    assert_eq!(peer.delete().await.refusal().await, (400, -32000));
    let peer = Peer::open(&endpoint).await;
    let mut request = peer.request(Method::POST, tool(1, "echo").to_string());
    let twice = peer.session.clone().unwrap().parse().unwrap();
    request.headers_mut().append(names::MCP_SESSION_ID, twice);
    assert_eq!(peer.call(request).await.refusal().await, (400, -32000));
}

#[tokio::test(start_paused = true)]
async fn unknown_session_id_is_404() {
    // spec: SESS-07
    let (endpoint, _) = endpoint();
    let mut peer = Peer::open(&endpoint).await;
    peer.session = Some("00000000-0000-4000-8000-000000000000".into());
    for got in [
        peer.tool(1, "echo").await,
        peer.get().await,
        peer.delete().await,
    ] {
        assert_eq!(got.refusal().await, (404, -32001));
    }
}

#[tokio::test(start_paused = true)]
async fn unsupported_version_header_is_400_with_supported_versions() {
    // spec: HTTP-SL-13, HTTP-SL-14, GAP-16
    let (endpoint, _) = endpoint();
    let mut peer = Peer::open(&endpoint).await;
    for version in ["1999-01-01", ""] {
        peer.version = version;
        let got = peer.tool(1, "echo").await;
        let status = got.status;
        let body = got.json().await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!(-32000)));
        assert!(
            body["error"]["message"]
                .as_str()
                .unwrap()
                .contains("2025-11-25")
        );
    }
    // Another supported version is accepted: the session determines the revision.
    peer.version = "2025-06-18";
    assert_eq!(peer.tool(1, "echo").await.status, 200);
    // A GET with the modern version is rejected.
    peer.version = "2026-07-28";
    assert_eq!(peer.get().await.refusal().await, (400, -32000));
    // The header may be missing.
    let mut request = peer.request(Method::POST, tool(1, "echo").to_string());
    request.headers_mut().remove(names::MCP_PROTOCOL_VERSION);
    assert_eq!(peer.call(request).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn rejection_is_a_json_rpc_error_without_id() {
    // spec: BASE-10, BASE-11
    let (endpoint, _) = endpoint();
    let peer = Peer::new(&endpoint);
    for got in [
        peer.get().await,
        peer.send(tool(1, "echo")).await,
        peer.call(peer.request(Method::PUT, "")).await,
        peer.call(peer.request(Method::POST, "x")).await,
    ] {
        let body = got.json().await;
        assert_eq!(body["jsonrpc"], "2.0");
        assert!(
            body["error"]["message"].is_string() && body.get("id").is_none(),
            "{body}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn stateless_mode_ignores_session_ids() {
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.sessions(Sessions::stateless());
    let mut peer = Peer::new(&endpoint);
    for version in ["2025-11-25", "2025-06-18", "2024-11-05"] {
        let got = peer.send(initialize(version)).await;
        assert_eq!(got.header("mcp-session-id"), None);
        let result = &got.json().await["result"];
        assert_eq!(result["protocolVersion"], version);
        // Capabilities of change notifications are not declared, because they cannot be sent.
        assert_eq!(result["capabilities"]["tools"], json!({}));
    }
    assert_eq!(peer.send(initialized()).await.status, 202);
    assert_eq!(peer.tool(1, "echo").await.json().await["id"], 1);
    // A session id from a client has no effect.
    peer.session = Some("anything".into());
    assert_eq!(peer.tool(1, "echo").await.json().await["id"], 1);
    assert_eq!(peer.send(steps(1)).await.messages().await.len(), 7);
    peer.version = "1999-01-01";
    assert_eq!(peer.tool(1, "echo").await.refusal().await, (400, -32000));
    assert_eq!(endpoint.session_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn header_names_are_case_insensitive() {
    // spec: HTTP-S-09
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let mut request = peer.request(Method::POST, tool(1, "echo").to_string());
    let id = request.headers_mut().remove(names::MCP_SESSION_ID).unwrap();
    let request = set(request, "MCP-SESSION-ID", id.to_str().unwrap());
    assert_eq!(peer.call(request).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn handle_accepts_a_body_that_was_read_before() {
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    for (method, message, status) in [
        (Method::POST, tool(1, "echo"), 200),
        (Method::POST, initialized(), 202),
        (Method::GET, json!(null), 200),
        (Method::PUT, json!(null), 405),
    ] {
        let (parts, _) = peer.request(method, "").into_parts();
        let response = endpoint.handle(parts, message.to_string().into()).await;
        assert_eq!(response.status(), status);
    }
    let (parts, _) = peer.request(Method::POST, "").into_parts();
    let small = endpoint.clone().body_limit(4);
    assert_eq!(small.handle(parts, "12345".into()).await.status(), 413);
}

#[tokio::test(start_paused = true)]
async fn principal_from_a_layer_reaches_the_handler() {
    let (endpoint, _) = endpoint();
    let mut peer = Peer::new(&endpoint);
    peer.principal = Some(Principal::new("issuer", "me"));
    let peer = peer.begin().await;
    let got = peer.tool(1, "who").await.json().await;
    assert_eq!(got["result"]["content"][0]["text"], "me");
}
