//! Limits of sessions, and the ends of sessions.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::server::{SessionEnd, SessionEvent, Sessions};

/// Records the reasons for which the sessions of `endpoint` end.
fn watched(endpoint: Endpoint) -> (Endpoint, Arc<Mutex<Vec<SessionEnd>>>) {
    let ends = Arc::<Mutex<Vec<SessionEnd>>>::default();
    let seen = ends.clone();
    let endpoint = endpoint.on_session(move |event| {
        if let SessionEvent::Closed { reason, .. } = event {
            seen.lock().unwrap().push(reason);
        }
    });
    (endpoint, ends)
}

#[tokio::test(start_paused = true)]
async fn idle_sessions_expire_but_read_ones_do_not() {
    // spec: SESS-13
    let (endpoint, ends) = watched(endpoint().0);
    let never_ready = Peer::new(&endpoint);
    assert_eq!(never_ready.send(initialize("2025-11-25")).await.status, 200);
    let idle = Peer::open(&endpoint).await;
    let mut reading = Peer::open(&endpoint).await;
    let stream = reading.get().await;
    assert_eq!(endpoint.session_count(), 3);

    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(*ends.lock().unwrap(), [SessionEnd::NeverReady]);
    tokio::time::sleep(Duration::from_secs(29 * 60)).await;
    assert_eq!(endpoint.session_count(), 1);
    assert_eq!(idle.tool(1, "echo").await.status, 404);
    // An open stream prevents the expiry.
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    assert_eq!(endpoint.session_count(), 1);
    drop(stream);
    tokio::time::sleep(Duration::from_secs(29 * 60)).await;
    assert_eq!(reading.tool(1, "echo").await.status, 200);
    tokio::time::sleep(Duration::from_secs(31 * 60)).await;
    assert_eq!(endpoint.session_count(), 0);
    assert_eq!(
        ends.lock().unwrap()[1..],
        [SessionEnd::Idle, SessionEnd::Idle]
    );
    // The task that expires sessions has ended. The next session starts another one.
    reading.session = None;
    reading.begin().await;
    tokio::time::sleep(Duration::from_secs(31 * 60)).await;
    assert_eq!(endpoint.session_count(), 0);
}

/// Some clients never send `notifications/initialized`.
#[tokio::test(start_paused = true)]
async fn session_that_is_used_without_initialized_ends_only_when_idle() {
    // spec: SESS-13
    let (endpoint, ends) = watched(endpoint().0);
    let mut peer = Peer::new(&endpoint);
    let got = peer.send(initialize("2025-11-25")).await;
    peer.session = got.header(names::MCP_SESSION_ID.as_str());
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(peer.tool(1, "echo").await.status, 200);
    for id in 2..5 {
        tokio::time::sleep(Duration::from_secs(20 * 60)).await;
        assert_eq!(peer.tool(id, "echo").await.status, 200);
    }
    assert!(ends.lock().unwrap().is_empty());
    tokio::time::sleep(Duration::from_secs(31 * 60)).await;
    assert_eq!(*ends.lock().unwrap(), [SessionEnd::Idle]);
}

#[tokio::test(start_paused = true)]
async fn session_does_not_expire_while_a_call_runs() {
    let (endpoint, tools) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let got = peer.tool(1, "wait").await;
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    assert_eq!(endpoint.session_count(), 1);
    tools.go.notify_one();
    assert_eq!(got.messages().await.len(), 1);
    tokio::time::sleep(Duration::from_secs(31 * 60)).await;
    assert_eq!(endpoint.session_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn sessions_beyond_the_limit_replace_abandoned_ones_which_expire() {
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.sessions(Sessions::in_memory().max(9_000));
    let events = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let seen = events.clone();
    let endpoint = endpoint.on_session(move |event| {
        match event {
            SessionEvent::Opened { .. } | SessionEvent::Continued { .. } => {
                seen.0.fetch_add(1, Ordering::Relaxed)
            }
            SessionEvent::Closed { .. } => seen.1.fetch_add(1, Ordering::Relaxed),
        };
    });
    for round in 1..4 {
        for _ in 0..10_000 {
            let got = Peer::new(&endpoint).send(initialize("2025-11-25")).await;
            assert_eq!(got.status, 200);
        }
        assert_eq!(endpoint.session_count(), 9_000);
        tokio::time::sleep(Duration::from_secs(61)).await;
        assert_eq!(endpoint.session_count(), 0);
        let counted = (
            events.0.load(Ordering::Relaxed),
            events.1.load(Ordering::Relaxed),
        );
        assert_eq!(counted, (10_000 * round, 10_000 * round));
    }
}

#[tokio::test(start_paused = true)]
async fn concurrent_initializes_do_not_exceed_the_limits() {
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.sessions(Sessions::in_memory().max(5).max_per_principal(3));
    let open = |subject: &str| {
        let mut peer = Peer::new(&endpoint);
        peer.principal = Some(Principal::new("issuer", subject));
        async move { peer.send(initialize("2025-11-25")).await.status }
    };
    let all = futures::future::join_all(["a", "a", "a", "a", "b", "b", "b"].map(open)).await;
    // The last one takes the place of the oldest one.
    assert_eq!(all, [200, 200, 200, 503, 200, 200, 200]);
    assert_eq!(endpoint.session_count(), 5);
    endpoint.close_all();
    assert_eq!(endpoint.session_count(), 0);
    assert_eq!(open("a").await, 200);
}

#[tokio::test(start_paused = true)]
async fn rejected_first_message_opens_no_session() {
    let (endpoint, ends) = watched(endpoint().0);
    let peer = Peer::new(&endpoint);
    let mut no_version = initialize("2025-11-25");
    no_version["params"] = json!({});
    for (message, expected) in [
        (no_version, (400, -32602)),
        (tool(1, "echo"), (400, -32000)),
        (initialized(), (400, -32000)),
        (json!([initialize("2025-03-26")]), (400, -32600)),
    ] {
        assert_eq!(peer.send(message).await.refusal().await, expected);
    }
    assert_eq!(endpoint.session_count(), 0);
    assert!(ends.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn dropped_endpoint_closes_its_sessions() {
    let (endpoint, tools) = endpoint();
    let (endpoint, ends) = watched(endpoint);
    let peer = Peer::open(&endpoint).await;
    let got = peer.tool(1, "wait").await;
    assert_eq!(tools.waiting(), (1, 0));
    drop((endpoint, peer));
    let told = got.messages().await;
    assert_eq!(told[0]["error"]["message"], "the session has ended");
    assert_eq!(tools.waiting(), (0, 0));
    assert_eq!(*ends.lock().unwrap(), [SessionEnd::Closed]);
}

#[tokio::test(start_paused = true)]
async fn legacy_call_is_cancelled_only_by_a_notification() {
    // spec: HTTP-SL-07, CAN-04, CAN-05
    let (endpoint, tools) = endpoint();
    let peer = Peer::open(&endpoint).await;
    // One connection breaks before the response, the other one after its head.
    let early = tokio::time::timeout(Duration::from_millis(10), peer.tool(1, "wait")).await;
    assert!(early.is_err());
    drop(peer.tool(2, "wait").await);
    settle().await;
    assert_eq!(tools.waiting(), (2, 0));
    tools.go.notify_one();
    settle().await;
    assert_eq!(tools.waiting(), (1, 1));
    for _ in 0..2 {
        assert_eq!(peer.send(cancelled(2)).await.status, 202);
        assert_eq!(peer.send(cancelled(1)).await.status, 202);
    }
    settle().await;
    assert_eq!(tools.waiting(), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn cancelled_call_has_no_reply() {
    // spec: CAN-04
    let (endpoint, tools) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let (early, _) = tokio::join!(peer.tool(1, "wait"), peer.send(cancelled(1)));
    assert_eq!(early.messages().await, [] as [Value; 0]);
    let late = peer.tool(2, "wait").await;
    assert_eq!(peer.send(cancelled(2)).await.status, 202);
    assert_eq!(late.messages().await, [] as [Value; 0]);
    assert_eq!(tools.waiting(), (0, 0));
    // The id is free again.
    assert_eq!(peer.tool(2, "echo").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn request_id_in_use_is_rejected() {
    // spec: BASE-04, BASE-06
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.sessions(Sessions::in_memory().max_calls(2));
    let peer = Peer::open(&endpoint).await;
    let _first = peer.tool(1, "wait").await;
    assert_eq!(peer.tool(1, "echo").await.refusal().await, (400, -32600));
    let _second = peer.tool("1", "wait").await;
    let full = peer.tool(2, "echo").await.json().await;
    let message = full["error"]["message"].as_str().unwrap();
    assert!(message.contains("2 running calls"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn session_is_not_found_by_another_principal() {
    // spec: SESS-10, SESS-11
    let (endpoint, _) = endpoint();
    let mut peer = Peer::new(&endpoint);
    peer.principal = Some(Principal::new("issuer", "me").scopes(["a"]));
    let mut peer = peer.begin().await;
    let got = peer.tool(1, "who").await.json().await;
    assert_eq!(got["result"]["content"][0]["text"], "me");
    peer.principal = Some(Principal::new("issuer", "me"));
    assert_eq!(peer.tool(2, "who").await.status, 200);
    for stranger in [None, Some(Principal::new("issuer", "you"))] {
        peer.principal = stranger;
        assert_eq!(peer.tool(3, "who").await.refusal().await, (404, -32001));
        assert_eq!(peer.get().await.status, 404);
        assert_eq!(peer.delete().await.status, 404);
    }
    assert_eq!(endpoint.session_count(), 1);
}
