//! Sessions that are bound to the path of their `initialize`, or to a key of the program.

use mcp_core::store::MemorySessionStore;

use super::*;

/// Returns a request of `peer` at another path.
fn at(peer: &Peer, path: &str, method: Method, message: &Value) -> Request<Full<Bytes>> {
    let mut request = peer.request(method, message.to_string());
    *request.uri_mut() = path.parse().unwrap();
    request
}

/// Opens a session at a path.
async fn open_at(endpoint: &Endpoint, path: &str) -> Peer {
    let mut peer = Peer::new(endpoint);
    let got = peer
        .call(at(&peer, path, Method::POST, &initialize(peer.version)))
        .await;
    assert_eq!(got.status, 200, "{path}");
    peer.session = got.header("mcp-session-id");
    let got = peer
        .call(at(&peer, path, Method::POST, &initialized()))
        .await;
    assert_eq!(got.status, 202, "{path}");
    peer
}

/// An endpoint with a server for each first segment of a path.
fn tenants() -> (Endpoint, [Arc<Tools>; 2]) {
    let tools = [Tools::new(), Tools::new()];
    let servers = tools.clone();
    let endpoint = StreamableHttp::per_request(move |parts| {
        Served(servers[usize::from(parts.uri.path().starts_with("/two"))].clone())
    });
    (endpoint, tools)
}

#[tokio::test(start_paused = true)]
async fn session_is_not_found_at_another_path() {
    // spec: SESS-11
    let (endpoint, tools) = tenants();
    let peer = open_at(&endpoint, "/one/mcp").await;
    for path in ["/two/mcp", "/mcp", "/one/mcp/x", "/one/MCP", "/"] {
        for (method, message) in [
            (Method::POST, tool(1, "wait")),
            (Method::POST, initialized()),
            (Method::POST, json!([tool(1, "wait")])),
            (
                Method::POST,
                json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
            ),
            (Method::GET, json!(null)),
            (Method::DELETE, json!(null)),
        ] {
            let got = peer.call(at(&peer, path, method, &message)).await;
            assert_eq!(got.refusal().await, (404, -32001), "{path} {message}");
        }
    }
    assert_eq!(tools.map(|tools| tools.waiting()), [(0, 0), (0, 0)]);
    // A slash at the end does not count, and a query neither.
    for path in ["/one/mcp", "/one/mcp/", "/one/mcp?x=y"] {
        let got = peer
            .call(at(&peer, path, Method::POST, &tool(2, "echo")))
            .await;
        assert_eq!(got.status, 200, "{path}");
    }
    let got = peer
        .call(at(&peer, "/one/mcp", Method::DELETE, &json!(null)))
        .await;
    assert_eq!(got.status, 200);
}

#[tokio::test(start_paused = true)]
async fn session_with_a_key_is_found_only_with_this_key() {
    let (endpoint, _) = tenants();
    let endpoint = endpoint.session_key(|parts| {
        let tenant = parts.headers.get("tenant");
        tenant.map_or("", |tenant| tenant.to_str().unwrap()).into()
    });
    let peer = Peer::new(&endpoint);
    let of = |peer: &Peer, tenant: &str, path: &str, message: &Value| {
        let mut request = at(peer, path, Method::POST, message);
        let tenant = tenant.parse().unwrap();
        request.headers_mut().insert("tenant", tenant);
        request
    };
    let got = peer
        .call(of(&peer, "ada", "/one", &initialize("2025-11-25")))
        .await;
    let session = got.header("mcp-session-id");
    let peer = Peer { session, ..peer };
    for (tenant, path, status) in [
        ("ada", "/one", 200),
        ("ada", "/two", 200),
        ("bob", "/one", 404),
        ("", "/one", 404),
    ] {
        let got = peer.call(of(&peer, tenant, path, &tool(1, "echo"))).await;
        assert_eq!(got.status, status, "{tenant:?} {path}");
    }
    // A key without a limit would be memory of every session.
    let long = "x".repeat(1_025);
    let got = Peer::new(&endpoint)
        .call(of(
            &Peer::new(&endpoint),
            &long,
            "/one",
            &initialize("2025-11-25"),
        ))
        .await;
    assert_eq!(got.status, 500);
    assert_eq!(endpoint.session_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn stored_session_is_not_found_at_another_path() {
    let store = Arc::new(MemorySessionStore::new());
    let nodes = [(); 2].map(|()| tenants().0.sessions(Sessions::shared(store.clone())));
    let peer = open_at(&nodes[0], "/one").await;
    let there = Peer {
        endpoint: nodes[1].clone(),
        ..peer
    };
    for (path, status) in [("/two", 404), ("/one/", 200), ("/two", 404), ("/one", 200)] {
        let got = there
            .call(at(&there, path, Method::POST, &tool(1, "echo")))
            .await;
        assert_eq!(got.status, status, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn http_sse_message_is_refused_at_another_path() {
    let (endpoint, _) = tenants();
    let endpoint = endpoint.sessions(Sessions::in_memory().http_sse());
    let peer = Peer::new(&endpoint);
    let mut stream = peer
        .call(at(&peer, "/one/mcp", Method::GET, &json!(null)))
        .await;
    let first = stream.frame().await.unwrap();
    let (_, query) = first.trim_end().split_once('?').unwrap();
    for (path, status) in [("/two/mcp", 404), ("/one/mcp", 202), ("/one/mcp/", 202)] {
        let path = format!("{path}?{query}");
        let message = initialize("2024-11-05");
        let got = peer.call(at(&peer, &path, Method::POST, &message)).await;
        assert_eq!(got.status, status, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn path_that_is_too_long_opens_no_session() {
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.sessions(Sessions::in_memory().http_sse());
    let peer = Peer::new(&endpoint);
    let path = format!("/{}", "x".repeat(1_024));
    for (method, message) in [
        (Method::POST, initialize("2025-11-25")),
        (Method::GET, json!(null)),
    ] {
        let got = peer.call(at(&peer, &path, method, &message)).await;
        assert_eq!(got.refusal().await, (400, -32600));
    }
    assert_eq!(endpoint.session_count(), 0);
    open_at(&endpoint, &path[..1_024]).await;
}
