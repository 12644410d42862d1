//! HTTP+SSE of 2024-11-05.

use mcp_core::ChangeEvent;

use super::*;
use crate::Shutdown;
use crate::server::{SessionEnd, SessionEvent};

/// A client of HTTP+SSE.
struct Old {
    peer: Peer,
    stream: Got,
    uri: String,
}

impl Old {
    async fn connect(endpoint: &Endpoint) -> Self {
        let peer = Peer::new(endpoint).speaking("2024-11-05");
        let mut stream = peer.get().await;
        assert_eq!(stream.status, 200);
        // spec: SSE-02
        let first = stream.frame().await.unwrap();
        let data = first.strip_prefix("event: endpoint\ndata: ").unwrap();
        let uri = format!("/mcp{}", data.trim_end());
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
        let mut request = self.peer.request(Method::POST, message.to_string());
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
async fn sse_connections_are_limited_and_time_out_before_initialize() {
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.sessions(Sessions::in_memory().http_sse().max(1));
    let mut idle = Old::connect(&endpoint).await;
    assert_eq!(Peer::new(&endpoint).get().await.status, 503);
    for (message, expected) in [
        (tool(1, "echo"), (400, -32601)),
        (initialized(), (400, -32000)),
        (json!([tool(1, "echo")]), (400, -32600)),
    ] {
        assert_eq!(idle.send(message).await.refusal().await, expected);
    }
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
async fn http_sse_is_disabled_by_default_and_ends_on_drain() {
    let peer = Peer::new(&endpoint().0);
    assert_eq!(peer.get().await.refusal().await, (400, -32000));
    let shutdown = Shutdown::new();
    let old = Old::open(&serving().0.shutdown_with(shutdown.clone())).await;
    shutdown.drain();
    assert_eq!(old.stream.rest().await, []);
}
