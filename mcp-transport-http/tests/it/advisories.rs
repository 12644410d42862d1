//! Known security advisories of MCP SDKs and tools, as far as this crate decides them.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use mcp_core::store::{MemoryEventStore, MemorySessionStore};
use mcp_core::{Channel as _, ChannelError, MirroredHeaders, OutgoingRequest, Principal};
use mcp_transport_http::StreamableHttp;
use mcp_transport_http::client::HttpChannel;
use mcp_transport_http::server::{Body, Sessions};
use mcp_types::{Method as McpMethod, ProtocolVersion};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::support::{
    call_text, dual_endpoint, dual_endpoint_of, echo, endpoint, head_of, start, text, within,
};

/// An endpoint that counts its calls.
fn counting() -> (StreamableHttp, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let endpoint = dual_endpoint(move |exchange| {
        counted.fetch_add(1, Ordering::Relaxed);
        echo(exchange)
    });
    (endpoint, calls)
}

/// A legacy client without a socket.
#[derive(Clone)]
struct Peer {
    endpoint: StreamableHttp,
    principal: Option<Principal>,
    session: Option<String>,
}

impl Peer {
    fn new(endpoint: &StreamableHttp, principal: Option<Principal>) -> Self {
        Self {
            endpoint: endpoint.clone(),
            principal,
            session: None,
        }
    }

    async fn open(endpoint: &StreamableHttp, principal: Option<Principal>) -> Self {
        let mut peer = Self::new(endpoint, principal);
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" },
        });
        let response = peer.post(&message(0, "initialize", &params)).await;
        assert_eq!(response.status(), StatusCode::OK);
        let id = response.headers()["mcp-session-id"].to_str().unwrap();
        peer.session = Some(id.to_owned());
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(peer.post(&initialized).await.status(), StatusCode::ACCEPTED);
        peer
    }

    async fn send(&self, method: Method, last_event: Option<&str>, body: &str) -> Response<Body> {
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(last) = last_event {
            request = request.header("last-event-id", last);
        }
        if let Some(principal) = &self.principal {
            request = request.extension(principal.clone());
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        self.endpoint
            .handle(head, Bytes::from(body.to_owned()))
            .await
    }

    async fn post(&self, message: &Value) -> Response<Body> {
        self.send(Method::POST, None, &message.to_string()).await
    }

    async fn call(&self, id: i64, tool: &str) -> Response<Body> {
        let params = json!({ "name": tool, "arguments": {} });
        self.post(&message(id, "tools/call", &params)).await
    }
}

fn message(id: i64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

async fn body(response: Response<Body>) -> String {
    let bytes = within(response.into_body().collect()).await.unwrap();
    String::from_utf8(bytes.to_bytes().to_vec()).unwrap()
}

/// CVE-2025-66414, CVE-2025-66416 and GHSA-89vp-x53w-74fx (CVE-2026-42559): a web page let the name of its
/// own host resolve to 127.0.0.1 (DNS rebinding), and called the server of its visitor as a page of the
/// same origin.
#[tokio::test]
async fn cve_2025_66414_ghsa_89vp_x53w_74fx_request_for_another_host_is_rejected() {
    let (endpoint, calls) = counting();
    let server = start(endpoint, |serve| serve).await;
    let call = call_text("t", false);
    for (host, origin) in [
        ("attacker.example", None),
        (
            "attacker.example:8000",
            Some("http://attacker.example:8000"),
        ),
        ("localhost.attacker.example", None),
        ("localhost", Some("http://attacker.example")),
        ("localhost", Some("null")),
    ] {
        let origin = origin.map(|origin| format!("Origin: {origin}\r\n"));
        for method in ["POST", "GET", "DELETE"] {
            let mut client = server.connect().await;
            let head = head_of("t")
                .replace("POST", method)
                .replace("Host: localhost", &format!("Host: {host}"));
            let length = call.len();
            let origin = origin.as_deref().unwrap_or_default();
            let request = format!("{head}{origin}Content-Length: {length}\r\n\r\n{call}");
            client.send(request).await;
            let (head, body) = client.response().await.unwrap();
            assert_eq!(head.status, 403, "{method} {host}: {body}");
        }
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    server.assert_serving().await;
    server.stop().await;
}

/// CVE-2026-33252: a web page of another site sent a POST that browsers send without a preflight
/// request (`text/plain`, or no content type), and the server executed it.
#[tokio::test]
async fn cve_2026_33252_cross_site_post_is_rejected() {
    let (endpoint, calls) = counting();
    let server = start(endpoint, |serve| serve).await;
    let call = call_text("t", false);
    for content_type in [
        "Content-Type: text/plain\r\n",
        "Content-Type: text/plain; application/json\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: multipart/form-data; boundary=x\r\n",
        "",
    ] {
        for (origin, status) in [("", 415), ("Origin: https://attacker.example\r\n", 403)] {
            let mut client = server.connect().await;
            let head = head_of("t").replace("Content-Type: application/json\r\n", content_type);
            let length = call.len();
            let request = format!("{head}{origin}Content-Length: {length}\r\n\r\n{call}");
            client.send(request).await;
            let (head, body) = client.response().await.unwrap();
            assert_eq!(head.status, status, "{content_type:?}: {body}");
        }
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    server.stop().await;
}

/// CVE-2026-52869: a session served every authenticated user who knew its id.
#[tokio::test]
async fn cve_2026_52869_session_is_not_found_by_another_principal() {
    let (endpoint, calls) = counting();
    let ada = Principal::new("https://issuer.example", "ada");
    let mut peer = Peer::open(&endpoint, Some(ada.clone())).await;
    for other in [
        None,
        Some(Principal::new("https://issuer.example", "bob")),
        Some(Principal::new("https://other.example", "ada")),
    ] {
        peer.principal = other;
        assert_eq!(peer.call(1, "t").await.status(), StatusCode::NOT_FOUND);
        for method in [Method::GET, Method::DELETE] {
            let response = peer.send(method, None, "").await;
            assert_eq!(response.status(), StatusCode::NOT_FOUND);
        }
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    peer.principal = Some(ada);
    assert_eq!(peer.call(1, "t").await.status(), StatusCode::OK);
}

/// GHSA-9pj6-vhgr-3mwh (CVE-2026-63128): each `initialize` of a client without a login left a session that
/// was never removed, until the memory of the server was full.
#[tokio::test(start_paused = true)]
async fn ghsa_9pj6_vhgr_3mwh_initialize_does_not_fill_the_session_table() {
    const MAX: usize = 16;

    let (endpoint, _) = counting();
    let endpoint = endpoint.sessions(
        Sessions::in_memory()
            .max(MAX)
            .init_timeout(Duration::from_secs(60)),
    );
    let peer = Peer::new(&endpoint, None);
    // An `initialize` that fails keeps nothing.
    for params in [
        json!({}),
        json!({ "protocolVersion": 7, "capabilities": {}, "clientInfo": {} }),
        json!({ "protocolVersion": "2025-11-25", "capabilities": "all" }),
    ] {
        let refused = peer.post(&message(0, "initialize", &params)).await;
        assert!(refused.headers().get("mcp-session-id").is_none());
        assert_eq!(endpoint.metrics().sessions, 0, "{params}");
    }
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "c", "version": "1" },
    });
    for _ in 0..20 * MAX {
        drop(peer.post(&message(0, "initialize", &params)).await);
        assert!(endpoint.metrics().sessions <= MAX as u64);
    }
    // Real clients are served meanwhile.
    let real = Peer::open(&endpoint, None).await;
    assert_eq!(real.call(1, "t").await.status(), StatusCode::OK);
    // A client that does not complete the handshake loses its session.
    tokio::time::sleep(Duration::from_secs(5 * 60)).await;
    assert_eq!(endpoint.metrics().sessions, 1);
    tokio::time::sleep(Duration::from_secs(60 * 60)).await;
    assert_eq!(endpoint.metrics().sessions, 0);
}

/// GHSA-9g45-5xwm-f3wc: a client followed a redirect to another origin and repeated the headers of its
/// program there, such as an API key.
#[tokio::test]
async fn ghsa_9g45_5xwm_f3wc_headers_do_not_follow_a_redirect() {
    for status in [301, 302, 303, 307, 308] {
        let (elsewhere, calls) = counting();
        let elsewhere = start(elsewhere, |serve| serve).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let answer = format!(
            "HTTP/1.1 {status} Elsewhere\r\nlocation: http://{}/mcp\r\ncontent-length: 0\r\n\r\n",
            elsewhere.addr
        );
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            while stream.read(&mut request).await.is_ok_and(|count| count > 0) {}
        });
        let channel = HttpChannel::new(&url).unwrap();
        let channel = channel.header("x-api-key", "s3cret").unwrap();
        let method = McpMethod::CallTool.as_str();
        let mirrored = MirroredHeaders::new(ProtocolVersion::LATEST, method, Some("t"));
        let request = OutgoingRequest::new(1.into(), call_text("t", false), mirrored);
        let mut answers = channel.call(request);
        let error = within(answers.next()).await.unwrap().unwrap_err();
        assert!(
            matches!(&error, ChannelError::Status { status: found, .. } if *found == status),
            "{error:?}"
        );
        assert!(!error.to_string().contains("s3cret"), "{error}");
        assert_eq!(calls.load(Ordering::Relaxed), 0, "{status}");
        elsewhere.stop().await;
    }
}

/// CVE-2026-33946: a client read another one's event stream, by resuming it with an event's id or
/// by opening its session's stream again.
#[tokio::test]
async fn cve_2026_33946_stream_is_not_resumed_by_another_client() {
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    let endpoint = dual_endpoint(move |_| {
        let go = Arc::clone(&wait);
        async move {
            go.notified().await;
            text("secret")
        }
    });
    let endpoint = endpoint
        .commit_after(Duration::ZERO)
        .events(MemoryEventStore::new());
    let ada = Principal::new("https://issuer.example", "ada");
    let bob = Principal::new("https://issuer.example", "bob");
    let victim = Peer::open(&endpoint, Some(ada)).await;
    let mut call = victim.call(1, "t").await.into_body();
    let first = within(call.frame()).await.unwrap().unwrap();
    let first = String::from_utf8(first.into_data().unwrap().to_vec()).unwrap();
    let id = first.lines().find_map(|line| line.strip_prefix("id: "));
    let id = id.unwrap().to_owned();
    // With a session of its own, the attacker does not find the stream.
    let attacker = Peer::open(&endpoint, Some(bob.clone())).await;
    let stolen = attacker.send(Method::GET, Some(&id), "").await;
    assert!(stolen.status().is_client_error(), "{}", stolen.status());
    // With the session of the victim, it does not find the session.
    let thief = Peer {
        principal: Some(bob),
        ..victim.clone()
    };
    for last in [None, Some(&*id)] {
        let stolen = thief.send(Method::GET, last, "").await;
        assert_eq!(stolen.status(), StatusCode::NOT_FOUND);
    }
    // The victim still reads its stream.
    go.notify_one();
    let rest = within(call.collect()).await.unwrap().to_bytes();
    assert!(String::from_utf8(rest.to_vec()).unwrap().contains("secret"));
}

/// CVE-2025-6515: session ids were addresses of memory, which an attacker could guess and use to send
/// messages to the sessions of others.
#[tokio::test]
async fn cve_2025_6515_session_ids_are_random() {
    const IDS: usize = 500;

    let (endpoint, _) = counting();
    let endpoint = endpoint.sessions(Sessions::in_memory().http_sse());
    let mut ids = HashSet::new();
    for _ in 0..IDS {
        ids.insert(Peer::open(&endpoint, None).await.session.unwrap());
        let stream = Peer::new(&endpoint, None).send(Method::GET, None, "").await;
        let first = within(stream.into_body().frame()).await.unwrap().unwrap();
        let first = String::from_utf8(first.into_data().unwrap().to_vec()).unwrap();
        let (_, id) = first.trim_end().split_once("sessionId=").unwrap();
        ids.insert(id.to_owned());
    }
    assert_eq!(ids.len(), 2 * IDS);
    // 32 hexadecimal digits. Only those of version and variant of a UUID are not random.
    let digits = |id: &String| id.chars().filter(|char| *char != '-').collect::<Vec<_>>();
    let digits: Vec<_> = ids.iter().map(digits).collect();
    let random = (0..32).filter(|&position| {
        let values: HashSet<_> = digits.iter().map(|id| id[position]).collect();
        values.len() == 16
    });
    assert_eq!(random.count(), 30);
}

/// CVE-2026-39313: a server read the whole body of a request into memory, however large it was.
#[tokio::test]
async fn cve_2026_39313_body_is_read_up_to_its_limit() {
    const LIMIT: usize = 64 << 10;

    let (endpoint, calls) = counting();
    let server = start(endpoint.body_limit(LIMIT), |serve| serve).await;
    let mut announced = server.connect().await;
    let head = head_of("t");
    announced
        .send(format!("{head}Content-Length: 1099511627776\r\n\r\n{{"))
        .await;
    assert_eq!(announced.head().await.unwrap().status, 413);
    // The size of a chunked body is not announced, and the client never ends it.
    let mut chunked = server.connect().await;
    let chunk = format!("{:x}\r\n{}\r\n", LIMIT, " ".repeat(LIMIT));
    chunked
        .send(format!(
            "{head}Transfer-Encoding: chunked\r\n\r\n{chunk}{chunk}{chunk}"
        ))
        .await;
    assert_eq!(chunked.head().await.unwrap().status, 413);
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    server.assert_serving().await;
    server.stop().await;
}

/// Heads of 400 KiB on each of 10,000 connections filled a server's memory.
#[tokio::test]
async fn large_head_is_rejected() {
    let server = start(endpoint(echo), |serve| serve).await;
    let call = call_text("t", false);
    for (size, status) in [(60 << 10, 200), (140 << 10, 431)] {
        let mut client = server.connect().await;
        let filler = format!("X-Filler: {}\r\n", "x".repeat(size));
        let length = call.len();
        let head = head_of("t");
        client
            .send(format!(
                "{head}{filler}Content-Length: {length}\r\n\r\n{call}"
            ))
            .await;
        assert_eq!(client.head().await.unwrap().status, status, "{size}");
    }
    server.stop().await;
}

/// GHSA-345p-7cg4-v4c7 (CVE-2026-25536): two clients, or two requests of one client, had the same id, and
/// one received the response of the other.
#[tokio::test]
async fn ghsa_345p_7cg4_v4c7_clients_have_independent_request_ids() {
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    let endpoint = dual_endpoint(move |exchange| {
        let go = Arc::clone(&wait);
        async move {
            if matches!(&exchange.call, mcp_core::Call::CallTool(call) if call.name == "slow") {
                go.notified().await;
            }
            echo(exchange).await
        }
    });
    let first = Peer::open(&endpoint, None).await;
    let second = Peer::open(&endpoint, None).await;
    let slow = tokio::spawn({
        let first = first.clone();
        async move { body(first.call(7, "slow").await).await }
    });
    tokio::task::yield_now().await;
    // The id is in use in the first session only.
    let repeated = first.call(7, "quick").await;
    assert_eq!(repeated.status(), StatusCode::BAD_REQUEST);
    let other = body(second.call(7, "quick").await).await;
    assert!(
        other.contains("quick") && !other.contains("slow"),
        "{other}"
    );
    go.notify_one();
    let slow = within(slow).await.unwrap();
    assert!(slow.contains("slow") && !slow.contains("quick"), "{slow}");
    // A response to a request that the server never sent matches nothing.
    let response = json!({ "jsonrpc": "2.0", "id": 7, "result": {} });
    let refused = second.post(&response).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
}

/// GHSA-mvgg-jvj2-4frq: two servers that shared one store, by mistake or with one prefix, continued each other's
/// sessions, so that a session of one server reached the tools of another one.
#[tokio::test]
async fn ghsa_mvgg_jvj2_4frq_session_in_a_common_store_is_not_continued_by_another_server() {
    let store = Arc::new(MemorySessionStore::new());
    let node = |server: &'static str| {
        let sessions = Sessions::shared(store.clone());
        dual_endpoint_of(server, echo).sessions(sessions)
    };
    let opened = Peer::open(&node("shop"), None).await;
    let status = async |server| {
        let mut peer = Peer::new(&node(server), None);
        peer.session.clone_from(&opened.session);
        peer.post(&message(1, "ping", &json!({}))).await.status()
    };
    assert_eq!(status("shop").await, StatusCode::OK);
    assert_eq!(status("bank").await, StatusCode::NOT_FOUND);
    assert_eq!(status("shop").await, StatusCode::OK, "the session goes on");
}
