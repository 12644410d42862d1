//! Streams end when the authorization of their caller expires.

use std::time::SystemTime;

use mcp_core::store::MemoryEventStore;
use tokio::time::Instant;

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

/// Returns a principal whose authorization expires in a minute.
fn expiring() -> Option<Principal> {
    let me = Principal::new("issuer", "me");
    Some(me.expires_at(SystemTime::now() + MINUTE))
}

async fn open(endpoint: &Endpoint) -> Peer {
    let mut peer = Peer::new(endpoint);
    peer.principal = expiring();
    peer.begin().await
}

/// Asserts that about a minute has passed. The wall clock is not paused, so it does not include the second
/// before a response becomes a stream.
fn assert_minute(start: Instant) {
    let elapsed = start.elapsed();
    assert!(
        elapsed > MINUTE * 9 / 10 && elapsed <= MINUTE + Duration::from_secs(1),
        "{elapsed:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn get_stream_ends_and_is_opened_again_with_a_new_token() {
    let (endpoint, _) = endpoint();
    let mut peer = open(&endpoint).await;
    let start = Instant::now();
    assert_eq!(peer.get().await.rest().await, []);
    assert_minute(start);
    // An authorization that has expired already ends the stream at once.
    let start = Instant::now();
    peer.principal = Some(Principal::new("issuer", "me").expires_at(SystemTime::UNIX_EPOCH));
    assert_eq!(peer.get().await.rest().await, []);
    assert_eq!(start.elapsed(), Duration::ZERO);
    peer.principal = Some(Principal::new("issuer", "me"));
    let mut stream = peer.get().await;
    tokio::time::sleep(10 * MINUTE).await;
    assert_eq!(stream.frame().await.as_deref(), Some(":\n\n"));
    assert_eq!(stream.frame().await.as_deref(), Some(": ping\n\n"));
}

#[tokio::test(start_paused = true)]
async fn call_with_an_event_stream_is_cancelled() {
    let (endpoint, tools) = endpoint();
    let peer = open(&endpoint).await;
    let start = Instant::now();
    let messages = peer.tool(1, "wait").await.messages().await;
    assert_minute(start);
    assert_eq!(messages[0]["id"], 1);
    let message = messages[0]["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("authorization of the caller has expired"),
        "{message}"
    );
    assert_eq!(tools.waiting(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn stored_stream_ends_and_its_call_continues() {
    let (endpoint, tools) = endpoint();
    let endpoint = endpoint.events(MemoryEventStore::new());
    let mut peer = open(&endpoint).await;
    let start = Instant::now();
    let events = peer.tool(1, "wait").await.rest().await;
    assert_minute(start);
    assert_eq!(tools.waiting(), (1, 0));
    let last = events.last().unwrap().id.clone().unwrap();
    // A resumed stream ends as well.
    peer.principal = expiring();
    let start = Instant::now();
    assert_eq!(peer.resume(&last).await.rest().await, []);
    assert_minute(start);
    peer.principal = Some(Principal::new("issuer", "me"));
    let resumed = peer.resume(&last).await;
    tools.go.notify_one();
    let messages = resumed.messages().await;
    assert_eq!(messages[0]["result"]["content"][0]["text"], "waited");
}

#[tokio::test(start_paused = true)]
async fn sse_connection_ends_with_its_session() {
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.sessions(Sessions::in_memory().http_sse());
    let mut peer = Peer::new(&endpoint);
    peer.principal = expiring();
    let start = Instant::now();
    let mut stream = peer.get().await;
    let mut frames = 0;
    while stream.frame().await.is_some() {
        frames += 1;
    }
    assert_minute(start);
    assert!(frames >= 1);
    drop(stream);
    assert_eq!(endpoint.session_count(), 0);
}
