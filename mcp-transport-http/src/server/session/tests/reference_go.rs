//! Session behaviour that the Go SDK documents or tests for its HTTP handler.

use super::*;

#[tokio::test(start_paused = true)]
async fn per_request_service_is_kept_by_its_session() {
    let made = Arc::new(Mutex::new(Vec::new()));
    let seen = made.clone();
    let (one, two) = (Tools::new(), Tools::new());
    let servers = [one.clone(), two.clone()];
    let endpoint = StreamableHttp::per_request(move |parts| {
        let tenant = parts
            .headers
            .get("tenant")
            .map(|tenant| tenant.to_str().unwrap());
        seen.lock().unwrap().push(tenant.map(str::to_owned));
        Served(servers[usize::from(tenant == Some("two"))].clone())
    });
    let peer = Peer::new(&endpoint);
    let mut request = peer.request(Method::POST, initialize("2025-11-25").to_string());
    request
        .headers_mut()
        .insert("tenant", "two".parse().unwrap());
    let got = peer.call(request).await;
    let mut peer = peer;
    peer.session = got.header("mcp-session-id");
    assert_eq!(made.lock().unwrap()[0].as_deref(), Some("two"));
    // The session keeps its server.
    let _call = peer.tool(1, "wait").await;
    assert_eq!((one.waiting(), two.waiting()), ((0, 0), (1, 0)));
}

#[tokio::test(start_paused = true)]
async fn close_all_ends_all_sessions() {
    let (endpoint, tools) = endpoint();
    let (first, second) = (Peer::open(&endpoint).await, Peer::open(&endpoint).await);
    let call = first.tool(1, "wait").await;
    endpoint.close_all();
    assert_eq!(call.messages().await.len(), 1);
    assert_eq!(tools.waiting(), (0, 0));
    for peer in [first, second] {
        assert_eq!(peer.tool(1, "echo").await.status, 404);
    }
}

#[tokio::test(start_paused = true)]
async fn repeated_accept_headers_are_combined() {
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let mut request = peer.request(Method::POST, tool(1, "echo").to_string());
    let headers = request.headers_mut();
    headers.insert(
        names::ACCEPT,
        "text/html, application/json".parse().unwrap(),
    );
    headers.append(names::ACCEPT, "text/event-stream".parse().unwrap());
    assert_eq!(peer.call(request).await.status, 200);
    // DELETE needs no `Accept` header, because its response has no body.
    let mut request = peer.request(Method::DELETE, "");
    request.headers_mut().remove(names::ACCEPT);
    assert_eq!(peer.call(request).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn session_is_opened_only_by_initialize() {
    let (endpoint, _) = endpoint();
    let peer = Peer::new(&endpoint);
    assert_eq!(peer.tool(1, "echo").await.status, 400);
    assert_eq!(endpoint.session_count(), 0);
    Peer::open(&endpoint).await;
    assert_eq!(endpoint.session_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn unanswered_call_in_a_deleted_session_gets_an_empty_stream() {
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let (call, _) = tokio::join!(peer.tool(1, "wait"), peer.delete());
    assert_eq!((call.status, call.is_stream()), (200, true));
    assert_eq!(call.messages().await, [] as [Value; 0]);
}

// spec: HTTP-SL-12
#[tokio::test(start_paused = true)]
async fn concurrent_calls_send_notifications_on_their_own_streams() {
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let (one, two) = tokio::join!(peer.send(steps(1)), peer.send(steps(2)));
    for (got, id) in [(one, 1), (two, 2)] {
        let messages = got.messages().await;
        assert_eq!(messages.len(), 7);
        assert_eq!(messages[6]["id"], id);
    }
}
