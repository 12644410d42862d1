//! HTTP+SSE of 2024-11-05.

use mcp_core::ChangeEvent;

use super::*;
use crate::server::{SessionEnd, SessionEvent};
use crate::shutdown::Shutdown;

/// A client of HTTP+SSE.
struct Old {
    peer: Peer,
    stream: Got,
    uri: String,
}

impl Old {
    async fn connect(endpoint: &Endpoint) -> Self {
        Self::connect_as(endpoint, None).await
    }

    async fn connect_as(endpoint: &Endpoint, principal: Option<Principal>) -> Self {
        let mut peer = Peer::new(endpoint).speaking("2024-11-05");
        peer.principal = principal;
        let mut stream = peer.get().await;
        assert_eq!(stream.status, 200);
        let first = stream.frame().await.unwrap();
        let data = first.strip_prefix("event: endpoint\ndata: ").unwrap();
        let uri = data.trim_end().to_owned();
        assert!(uri.starts_with("/mcp?sessionId="), "{uri}");
        Self { peer, stream, uri }
    }

    async fn open(endpoint: &Endpoint) -> Self {
        let mut old = Self::connect(endpoint).await;
        assert_eq!(old.send(initialize("2024-11-05")).await.status, 202);
        let answer = old.message().await;
        assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
        assert_eq!(old.send(initialized()).await.status, 202);
        old
    }

    async fn send(&self, message: Value) -> Got {
        self.send_text(message.to_string()).await
    }

    async fn send_text(&self, text: String) -> Got {
        let mut request = self.peer.request(Method::POST, text);
        *request.uri_mut() = self.uri.parse().unwrap();
        // These clients send no `Accept` header.
        request.headers_mut().remove(names::ACCEPT);
        self.peer.call(request).await
    }

    async fn message(&mut self) -> Value {
        self.stream.event().await.data.unwrap()
    }
}

fn serving() -> (Endpoint, Arc<Tools>) {
    let (endpoint, tools) = endpoint();
    (endpoint.sessions(Sessions::in_memory().http_sse()), tools)
}

#[tokio::test(start_paused = true)]
async fn all_messages_are_sent_on_the_sse_connection() {
    // spec: SSE-01, SSE-03, SSE-04
    let (endpoint, tools) = serving();
    let mut old = Old::open(&endpoint).await;
    assert_eq!(old.send(tool(1, "echo")).await.status, 202);
    assert_eq!(old.message().await["id"], 1);
    assert_eq!(old.send(steps(2)).await.status, 202);
    let mut seen = Vec::new();
    for _ in 0..7 {
        seen.push(old.message().await);
    }
    assert_eq!(
        (&seen[0]["method"], &seen[6]["id"]),
        (&json!("notifications/progress"), &json!(2))
    );
    assert_eq!(old.send(tool(3, "roots")).await.status, 202);
    let asked = old.message().await;
    assert_eq!(asked["method"], "roots/list");
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [] } });
    assert_eq!(old.send(answer).await.status, 202);
    assert_eq!(old.message().await["id"], 3);
    mcp_core::ChangeBus::publish(&*tools.bus, ChangeEvent::Tools);
    assert_eq!(
        old.message().await["method"],
        "notifications/tools/list_changed"
    );
    assert_eq!(old.stream.frame().await.as_deref(), Some(": ping\n\n"));
    // A waiting call does not block other calls. A notification cancels it.
    assert_eq!(old.send(tool(4, "wait")).await.status, 202);
    assert_eq!(old.send(tool(5, "echo")).await.status, 202);
    assert_eq!(old.message().await["id"], 5);
    assert_eq!(old.send(cancelled(4)).await.status, 202);
    settle().await;
    assert_eq!(tools.waiting(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn refused_answer_on_an_sse_connection_ends_its_call_at_once() {
    for answer in asking::REFUSED {
        let (endpoint, _) = serving();
        let mut old = Old::open(&endpoint).await;
        assert_eq!(old.send(tool(1, "roots")).await.status, 202);
        let asked = old.message().await["id"].to_string();
        assert_eq!(
            old.send_text(answer.replace("ID", &asked)).await.status,
            400
        );
        asking::assert_refused(&old.message().await);
    }
}

#[tokio::test(start_paused = true)]
async fn closed_sse_connection_ends_its_session() {
    // spec: LIFE-15
    let (endpoint, tools) = serving();
    let ends = Arc::<Mutex<Vec<SessionEnd>>>::default();
    let seen = ends.clone();
    let endpoint = endpoint.on_session(move |event| {
        if let SessionEvent::Closed { reason, .. } = event {
            seen.lock().unwrap().push(reason);
        }
    });
    let old = Old::open(&endpoint).await;
    assert_eq!(old.send(tool(1, "wait")).await.status, 202);
    settle().await;
    assert_eq!((tools.waiting(), endpoint.session_count()), ((1, 0), 1));
    let Old { peer, stream, uri } = old;
    drop(stream);
    settle().await;
    assert_eq!((tools.waiting(), endpoint.session_count()), ((0, 0), 0));
    assert_eq!(*ends.lock().unwrap(), [SessionEnd::Disconnected]);
    let stream = Peer::open(&endpoint).await.get().await;
    let gone = Old { peer, stream, uri };
    assert_eq!(
        gone.send(tool(2, "echo")).await.refusal().await,
        (404, -32001)
    );
}

#[tokio::test(start_paused = true)]
async fn second_initialize_replaces_the_session_on_a_connection() {
    let (endpoint, tools) = serving();
    let told = Arc::<Mutex<Vec<String>>>::default();
    let seen = told.clone();
    let endpoint = endpoint.on_session(move |event| {
        let what = match event {
            SessionEvent::Closed { reason, .. } => format!("{reason:?}"),
            _ => "Opened".to_owned(),
        };
        seen.lock().unwrap().push(what);
    });
    let mut old = Old::open(&endpoint).await;
    let request = |id: i32, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let subscribe = request(1, "resources/subscribe", json!({ "uri": "file:///a" }));
    assert_eq!(old.send(subscribe).await.status, 202);
    assert_eq!(old.message().await["id"], 1);
    // An open question and a running call of the first session.
    assert_eq!(old.send(tool(2, "roots")).await.status, 202);
    let question = old.message().await;
    assert_eq!(question["method"], "roots/list");
    assert_eq!(old.send(tool(3, "wait")).await.status, 202);
    settle().await;

    let mut again = initialize("2024-11-05");
    again["id"] = json!("again");
    assert_eq!(old.send(again).await.status, 202);
    let mut answers = [old.message().await, old.message().await];
    answers.sort_by_key(|answer| answer["id"].is_string());
    assert_eq!(answers[0]["id"], 2);
    let failed = answers[0]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(failed.contains("session"), "{failed}");
    assert_eq!(answers[1]["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(*told.lock().unwrap(), ["Opened", "Replaced", "Opened"]);
    assert_eq!((tools.waiting(), endpoint.session_count()), ((1, 0), 1));

    assert_eq!(old.send(initialized()).await.status, 202);
    // The subscription has ended.
    let uri = "file:///a".into();
    mcp_core::ChangeBus::publish(&*tools.bus, ChangeEvent::Resource { uri });
    mcp_core::ChangeBus::publish(&*tools.bus, ChangeEvent::Tools);
    let change = old.message().await;
    assert_eq!(change["method"], "notifications/tools/list_changed");
    // A late response to the first session is not a response to the second one.
    assert_eq!(old.send(tool(4, "roots")).await.status, 202);
    let second = old.message().await;
    assert_ne!(second["id"], question["id"]);
    let roots = |id: &Value| json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": [] } });
    let late = old.send(roots(&question["id"])).await.status;
    assert!(late == 202 || late == 400, "{late}");
    assert_eq!(old.stream.frame_now(), None);
    assert_eq!(old.send(roots(&second["id"])).await.status, 202);
    assert_eq!(old.message().await["id"], 4);
    // The call of the first session goes on.
    tools.go.notify_one();
    let answer = old.message().await;
    assert_eq!((&answer["id"], tools.waiting()), (&json!(3), (0, 1)));
    drop(old);
    settle().await;
    assert_eq!(endpoint.session_count(), 0);
    assert_eq!(told.lock().unwrap().last().unwrap(), "Disconnected");
}

#[tokio::test(start_paused = true)]
async fn sessions_on_one_connection_count_once() {
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.sessions(Sessions::in_memory().http_sse().max(1));
    let mut old = Old::open(&endpoint).await;
    for _ in 0..3 {
        assert_eq!(old.send(initialize("2024-11-05")).await.status, 202);
        assert!(old.message().await["result"].is_object());
        assert_eq!(endpoint.session_count(), 1);
    }
    // A session that is ready and has a stream makes no room for others.
    assert_eq!(old.send(initialized()).await.status, 202);
    assert_eq!(Peer::new(&endpoint).get().await.status, 503);
    drop(old);
    settle().await;
    assert_eq!(endpoint.session_count(), 0);
    Old::open(&endpoint).await;
}

#[tokio::test(start_paused = true)]
async fn sse_connections_are_limited_and_time_out_before_initialize() {
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.sessions(Sessions::in_memory().http_sse().max(1));
    let mut idle = Old::connect(&endpoint).await;
    assert_eq!(Peer::new(&endpoint).get().await.status, 503);
    let batch = json!([tool(1, "echo")]);
    assert_eq!(idle.send(batch).await.refusal().await, (400, -32600));
    let begin = tokio::time::Instant::now();
    while idle.stream.frame().await.is_some() {}
    assert_eq!(begin.elapsed(), Duration::from_secs(60));
    drop(idle);
    let mut old = Old::open(&endpoint).await;
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    assert_eq!(old.send(tool(1, "echo")).await.status, 202);
    assert_eq!(old.message().await["id"], 1);
    endpoint.close_all();
    assert_eq!(old.stream.rest().await, []);
}

#[tokio::test(start_paused = true)]
async fn sse_client_that_does_not_read_gets_503() {
    let (endpoint, _) = serving();
    let old = Old::open(&endpoint).await;
    let mut message = tool(1, "echo");
    message["id"] = json!("x".repeat(1 << 20));
    let mut refused = 0;
    for _ in 0..10 {
        refused += u32::from(old.send(message.clone()).await.status == 503);
        settle().await;
    }
    assert_eq!(refused, 6);
}

#[tokio::test(start_paused = true)]
async fn foreign_origin_is_refused_at_both_endpoints() {
    // spec: SSE-05
    let (endpoint, _) = serving();
    let old = Old::open(&endpoint).await;
    let request = |method: Method, uri: &str| {
        let mut request = old.peer.request(method, tool(1, "echo").to_string());
        *request.uri_mut() = uri.parse().unwrap();
        request
    };
    for (origin, statuses) in [
        ("http://localhost", [200, 202]),
        ("http://evil.example.com", [403, 403]),
    ] {
        for (mut request, status) in [
            request(Method::GET, "/mcp"),
            request(Method::POST, &old.uri),
        ]
        .into_iter()
        .zip(statuses)
        {
            request
                .headers_mut()
                .insert(names::ORIGIN, origin.parse().unwrap());
            assert_eq!(old.peer.call(request).await.status, status, "{origin}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn http_sse_is_disabled_by_default_and_ends_on_drain() {
    let peer = Peer::new(&endpoint().0);
    assert_eq!(peer.get().await.refusal().await, (400, -32000));
    let shutdown = Shutdown::new();
    let old = Old::open(&serving().0.shutdown_with(shutdown.clone())).await;
    shutdown.drain();
    assert_eq!(old.stream.rest().await, []);
}

fn request(id: i32, method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method })
}

#[tokio::test(start_paused = true)]
async fn requests_before_initialize_are_answered_on_the_stream() {
    let (endpoint, _) = serving();
    let mut old = Old::connect(&endpoint).await;
    let mut invalid = initialize("2024-11-05");
    invalid["params"] = json!({});
    for (message, code) in [
        (request(1, "server/discover"), Some(-32601)),
        (request(2, "ping"), None),
        (tool(3, "echo"), Some(-32600)),
        (invalid, Some(-32602)),
    ] {
        let id = message["id"].clone();
        assert_eq!(old.send(message).await.status, 202);
        let answer = old.message().await;
        assert_eq!(
            (&answer["id"], answer["error"]["code"].as_i64()),
            (&id, code)
        );
    }
    // A client that probes may cancel its request. Responses have no request.
    assert_eq!(old.send(cancelled(1)).await.status, 202);
    let response = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    assert_eq!(old.send(response).await.refusal().await, (400, -32000));
    // The session opens afterwards.
    assert_eq!(old.send(initialize("2024-11-05")).await.status, 202);
    assert_eq!(
        old.message().await["result"]["protocolVersion"],
        "2024-11-05"
    );
    assert_eq!(old.send(tool(4, "echo")).await.status, 202);
    assert_eq!(old.message().await["id"], 4);
}

#[tokio::test(start_paused = true)]
async fn requests_before_initialize_are_bounded_by_their_unread_replies() {
    let (endpoint, _) = serving();
    let old = Old::connect(&endpoint).await;
    let mut message = request(1, "ping");
    message["id"] = json!("x".repeat(1 << 20));
    let mut refused = 0;
    for _ in 0..10 {
        refused += u32::from(old.send(message.clone()).await.status == 503);
    }
    assert!(refused >= 5, "{refused}");
}

#[tokio::test(start_paused = true)]
async fn sse_connection_belongs_to_the_principal_that_opened_it() {
    // spec: SESS-10, SESS-11
    let (endpoint, _) = serving();
    let (ada, bob) = (
        Principal::new("issuer", "ada"),
        Principal::new("issuer", "bob"),
    );
    for owner in [None, Some(ada.clone())] {
        let mut old = Old::connect_as(&endpoint, owner.clone()).await;
        for stranger in [None, Some(ada.clone()), Some(bob.clone())] {
            if stranger == owner {
                continue;
            }
            old.peer.principal = stranger;
            for message in [initialize("2024-11-05"), request(1, "ping"), initialized()] {
                assert_eq!(old.send(message).await.refusal().await, (404, -32001));
            }
        }
        assert_eq!(endpoint.session_count(), 0);
        old.peer.principal = owner;
        assert_eq!(old.send(initialize("2024-11-05")).await.status, 202);
        assert_eq!(endpoint.session_count(), 1);
        drop(old);
    }
}

// spec: SSE-02
#[tokio::test(start_paused = true)]
async fn endpoint_event_has_the_get_path_below_the_prefix() {
    let (endpoint, _) = serving();
    let prefixed = Sessions::in_memory().http_sse().http_sse_prefix("/tools");
    for (endpoint, path, expected) in [
        (endpoint.clone(), "/a/sse?token=x", "/a/sse?sessionId="),
        (endpoint.sessions(prefixed), "/sse", "/tools/sse?sessionId="),
    ] {
        let peer = Peer::new(&endpoint);
        let mut request = peer.request(Method::GET, "");
        *request.uri_mut() = path.parse().unwrap();
        let first = peer.call(request).await.frame().await.unwrap();
        let start = format!("event: endpoint\ndata: {expected}");
        assert!(first.starts_with(&start), "{first}");
    }
}

#[tokio::test(start_paused = true)]
async fn header_that_differs_from_http_sse_message_is_rejected() {
    let (endpoint, _) = serving();
    let old = Old::open(&endpoint).await;
    let mut request = old.peer.request(Method::POST, tool(1, "wait").to_string());
    *request.uri_mut() = old.uri.parse().unwrap();
    let name = "echo".parse().unwrap();
    request.headers_mut().insert(names::MCP_NAME, name);
    assert_eq!(old.peer.call(request).await.refusal().await, (400, -32020));
}

#[tokio::test(start_paused = true)]
async fn extension_messages_pass_an_sse_connection() {
    let tools = Tools::with_extension();
    let endpoint = StreamableHttp::new(Served(tools.clone()));
    let mut old = Old::open(&endpoint.sessions(Sessions::in_memory().http_sse())).await;
    let params = json!({ "number": 1 });
    let custom = json!({ "jsonrpc": "2.0", "id": 1, "method": "x/echo", "params": params });
    assert_eq!(old.send(custom).await.status, 202);
    let answer = old.message().await;
    assert_eq!((&answer["id"], &answer["result"]), (&json!(1), &params));
    assert_eq!(old.send(tool(2, "wait")).await.status, 202);
    let go = json!({ "jsonrpc": "2.0", "method": "notifications/x/go" });
    assert_eq!(old.send(go).await.status, 202);
    assert_eq!(old.message().await["id"], 2);
    assert_eq!(tools.waiting(), (0, 1));
}
