//! The end of a session with open requests.

use super::*;
use crate::server::AnswerMode;

#[tokio::test(start_paused = true)]
async fn silent_call_ends_with_an_empty_stream_when_its_client_deletes_the_session() {
    // spec: SESS-07
    for mode in [AnswerMode::Auto, AnswerMode::AlwaysJson] {
        let (endpoint, tools) = endpoint();
        let endpoint = endpoint.sessions(Sessions::in_memory().answer(mode));
        let peer = Peer::open(&endpoint).await;
        let (call, deleted) = tokio::join!(peer.tool(1, "wait"), peer.delete());
        assert_eq!(deleted.status, 200);
        assert_eq!((call.status, call.is_stream()), (200, true), "{mode:?}");
        assert_eq!(call.messages().await, [] as [Value; 0]);
        assert_eq!(tools.waiting(), (0, 0));
        assert_eq!(peer.tool(2, "echo").await.refusal().await, (404, -32001));
    }
}

#[tokio::test(start_paused = true)]
async fn started_stream_ends_without_events_when_its_client_deletes_the_session() {
    let (endpoint, tools) = endpoint();
    let events = mcp_core::store::MemoryEventStore::new();
    for endpoint in [endpoint.clone(), endpoint.events(events)] {
        let peer = Peer::open(&endpoint).await;
        let call = peer.tool(1, "wait").await;
        assert!(call.is_stream());
        assert_eq!(peer.delete().await.status, 200);
        assert_eq!(call.messages().await, [] as [Value; 0]);
        settle().await;
        assert_eq!(tools.waiting(), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn batch_ends_without_replies_when_its_client_deletes_the_session() {
    let (endpoint, _) = endpoint();
    let peer = Peer::new(&endpoint).speaking("2025-03-26").begin().await;
    let batch = json!([tool(1, "wait"), tool(2, "wait")]);
    let (calls, _) = tokio::join!(peer.send(batch), peer.delete());
    assert_eq!((calls.status, calls.is_stream()), (200, true));
    assert_eq!(calls.messages().await, [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn silent_call_is_404_when_the_server_ends_the_session() {
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let close = async { endpoint.close_all() };
    let (call, ()) = tokio::join!(peer.tool(1, "wait"), close);
    assert_eq!(call.status, 404);
    let body = call.json().await;
    assert_eq!(body["id"], 1);
    assert_eq!(body["error"]["message"], "the session has ended");
}
