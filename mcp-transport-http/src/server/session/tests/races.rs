//! Messages of one client that arrive in another order than they were sent.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use mcp_core::store::{
    EventStore, MemoryEventStore, MemorySessionStore, Replay, ReplayError, SessionRecord,
    SessionStore, StoreError, StoredEvent, StreamId,
};
use mcp_core::{ChangeBus as _, ChangeEvent};

use super::*;

#[tokio::test(start_paused = true)]
async fn response_arrives_even_before_the_call_stream_is_read() {
    for keeps in [false, true] {
        let (mut endpoint, _) = endpoint();
        if keeps {
            endpoint = endpoint.events(MemoryEventStore::new());
        }
        let peer = Peer::open(&endpoint).await;
        for number in 1..4 {
            // The client knows the id of the question from another copy of the stream.
            let got = peer.tool(number, "ask").await;
            settle().await;
            let answer = asking::accept(&json!(number));
            assert_eq!(peer.send(answer).await.status, 202);
            settle().await;
            let messages = got.messages().await;
            let ids: Vec<_> = messages.iter().map(|message| &message["id"]).collect();
            assert_eq!(ids, [&json!(number), &json!(number)]);
            assert_eq!(messages[0]["method"], "elicitation/create");
            assert_eq!(messages[1]["result"]["content"][0]["text"], "accepted");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn call_that_arrives_after_its_cancellation_does_not_run() {
    // spec: CAN-04, CAN-07
    let (endpoint, tools) = endpoint();
    let peer = Peer::open(&endpoint).await;
    assert_eq!(peer.send(cancelled(5)).await.status, 202);
    let got = peer.tool(5, "wait").await;
    assert_eq!((got.status, got.is_stream()), (200, true));
    assert_eq!(got.messages().await, Vec::<Value>::new());
    settle().await;
    assert_eq!(tools.waiting(), (0, 0));
    // The id is free again, and other calls are not affected.
    for id in [5, 6] {
        assert_eq!(peer.tool(id, "echo").await.json().await["id"], id);
    }
    // The cancellation of a call that has ended does not affect later calls.
    assert_eq!(peer.send(cancelled(6)).await.status, 202);
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(peer.tool(6, "echo").await.json().await["id"], 6);
    // Many cancellations use little memory, and the newest ones are kept.
    for id in 100..1_000 {
        assert_eq!(peer.send(cancelled(id)).await.status, 202);
    }
    let long = "x".repeat(1000);
    assert_eq!(peer.send(cancelled(long.clone())).await.status, 202);
    assert_eq!(peer.tool(100, "echo").await.json().await["id"], 100);
    assert_eq!(
        peer.tool(long.clone(), "echo").await.json().await["id"],
        long
    );
    assert_eq!(peer.tool(999, "wait").await.messages().await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn initialized_after_the_first_call_loses_no_change() {
    // spec: LIFE-03, LIFE-05
    let (endpoint, tools) = endpoint();
    let mut peer = Peer::new(&endpoint);
    let opened = peer.send(initialize("2025-11-25")).await;
    peer.session = opened.header("mcp-session-id");
    assert_eq!(peer.tool(1, "echo").await.json().await["id"], 1);
    let running = peer.send(steps(2)).await;
    let mut stream = peer.get().await;
    assert_eq!(stream.frame().await.as_deref(), Some(":\n\n"));
    tools.bus.publish(ChangeEvent::Tools);
    settle().await;
    assert_eq!(stream.frame_now(), None);
    assert_eq!(peer.send(initialized()).await.status, 202);
    let change = stream.event().await.data.unwrap();
    assert_eq!(change["method"], "notifications/tools/list_changed");
    assert_eq!(running.messages().await.len(), 7);
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(endpoint.session_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn delete_stops_the_running_calls_in_its_session() {
    let (endpoint, tools) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let begun = peer.tool(1, "wait").await;
    let silent = tokio::spawn({
        let peer = peer.clone();
        async move { peer.tool(2, "wait").await }
    });
    settle().await;
    assert_eq!(tools.waiting(), (2, 0));
    assert_eq!(peer.delete().await.status, 200);
    settle().await;
    assert_eq!(tools.waiting(), (0, 0));
    assert_eq!(peer.tool(3, "echo").await.status, 404);
    // Both responses end.
    drop(begun.rest().await);
    drop(silent.await.unwrap());
}

/// Stores that pause in `load` and `after` until they are released.
struct Paused {
    sessions: MemorySessionStore,
    events: MemoryEventStore,
    is_on: AtomicBool,
    go: Notify,
}

impl Paused {
    async fn pause(&self) {
        if self.is_on.swap(false, Ordering::SeqCst) {
            self.go.notified().await;
        }
    }
}

#[async_trait]
impl SessionStore for Paused {
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        let loaded = self.sessions.load(id).await;
        self.pause().await;
        loaded
    }

    async fn insert(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.sessions.insert(id, record, ttl).await
    }

    async fn replace(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.sessions.replace(id, record, ttl).await
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.sessions.remove(id).await
    }
}

#[async_trait]
impl EventStore for Paused {
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        self.events.append(stream, event).await
    }

    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        let loaded = self.events.after(stream, after).await;
        self.pause().await;
        loaded
    }

    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        self.events.forget(session).await
    }
}

fn paused() -> Arc<Paused> {
    Arc::new(Paused {
        sessions: MemorySessionStore::new(),
        events: MemoryEventStore::new(),
        is_on: AtomicBool::new(false),
        go: Notify::new(),
    })
}

#[tokio::test(start_paused = true)]
async fn session_deleted_while_a_request_loads_it_is_not_continued() {
    // spec: SESS-07
    let store = paused();
    let tools = Tools::new();
    let endpoints = [(); 2].map(|()| {
        StreamableHttp::new(Served(tools.clone())).sessions(Sessions::shared(store.clone()))
    });
    // At the server that has the session, and at another one.
    for index in 0..2 {
        let peer = Peer::open(&endpoints[0]).await;
        let late = Peer {
            endpoint: endpoints[index].clone(),
            ..peer.clone()
        };
        store.is_on.store(true, Ordering::SeqCst);
        let late = tokio::spawn(async move { late.tool(1, "wait").await.status });
        settle().await;
        assert_eq!(peer.delete().await.status, 200);
        store.go.notify_one();
        assert_eq!(late.await.unwrap(), 404, "{index}");
        assert_eq!(tools.waiting(), (0, 0));
        assert_eq!(endpoints[index].session_count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn stream_resumed_while_its_session_is_deleted_ends() {
    let store = paused();
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.events(store.clone());
    for is_call in [false, true] {
        let peer = Peer::open(&endpoint).await;
        let mut got = if is_call {
            peer.tool(1, "wait").await
        } else {
            peer.get().await
        };
        let id = got.event().await.id.unwrap();
        drop(got);
        store.is_on.store(true, Ordering::SeqCst);
        let resumed = tokio::spawn({
            let peer = peer.clone();
            async move { peer.resume(&id).await.status }
        });
        settle().await;
        assert_eq!(peer.delete().await.status, 200);
        store.go.notify_one();
        assert_eq!(resumed.await.unwrap(), 404, "{is_call}");
    }
}
