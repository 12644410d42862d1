//! Stores and hooks that fail, panic and hang, and the largest timeouts.

use std::future::pending;

use async_trait::async_trait;
use mcp_core::store::{
    EventStore, MemoryEventStore, MemorySessionStore, Replay, ReplayError, SessionRecord,
    SessionStore, StoreError, StoredEvent, StreamId,
};
use mcp_core::{ChangeBus as _, ChangeEvent};

use super::*;
use crate::server::SessionEvent;

mod replay;

const SECRET: &str = "redis://:hunter2@db";
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Works,
    Fails,
    Panics,
    Hangs,
}

/// A store of sessions and events that can be made to misbehave.
pub(super) struct Faulty {
    mode: Mutex<Mode>,
    pub(super) sessions: MemorySessionStore,
    pub(super) events: MemoryEventStore,
    /// Number of loads of events.
    loads: Mutex<usize>,
    /// Number of the next loads of events that fail.
    failing_loads: Mutex<usize>,
    /// Number of the appended events until one fails.
    appends_until_failure: Mutex<Option<usize>>,
    /// Number of the appended events until one is stored too late, before the next operation.
    appends_until_late: Mutex<Option<usize>>,
    /// Number of the appended events until one is stored whose append never answers.
    appends_until_silent: Mutex<Option<usize>>,
    late: Mutex<Option<(String, String, StoredEvent)>>,
    late_from: Mutex<Option<tokio::time::Instant>>,
    /// Time until an event is stored.
    append_time: Mutex<Duration>,
    /// Number of the next deletions of events that fail.
    failing_forgets: Mutex<usize>,
    /// Changes of records fail.
    refuses_changes: Mutex<bool>,
}

fn clock() -> std::time::Instant {
    tokio::time::Instant::now().into_std()
}

impl Faulty {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            mode: Mutex::new(Mode::Works),
            sessions: MemorySessionStore::new().clock(clock),
            events: MemoryEventStore::new().clock(clock),
            loads: Mutex::default(),
            failing_loads: Mutex::default(),
            appends_until_failure: Mutex::default(),
            appends_until_late: Mutex::default(),
            appends_until_silent: Mutex::default(),
            late: Mutex::default(),
            late_from: Mutex::default(),
            append_time: Mutex::default(),
            failing_forgets: Mutex::default(),
            refuses_changes: Mutex::default(),
        })
    }

    fn set(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }

    /// Stores the event that comes late, a second after its time. A store runs the operations of one connection in their order.
    async fn store_late(&self) -> Result<(), StoreError> {
        let from = *self.late_from.lock().unwrap();
        if from.is_none_or(|from| tokio::time::Instant::now() < from) {
            return Ok(());
        }
        let late = self.late.lock().unwrap().take();
        if let Some((session, stream, event)) = late {
            let id = StreamId {
                session: &session,
                stream: &stream,
            };
            self.events.append(id, event).await?;
        }
        Ok(())
    }

    async fn misbehave(&self) -> Result<(), StoreError> {
        let mode = *self.mode.lock().unwrap();
        match mode {
            Mode::Works => Ok(()),
            Mode::Fails => Err(StoreError::new(SECRET)),
            Mode::Panics => panic!("{SECRET}"),
            Mode::Hangs => pending().await,
        }
    }
}

#[async_trait]
impl SessionStore for Faulty {
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        self.misbehave().await?;
        self.sessions.load(id).await
    }

    async fn insert(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.misbehave().await?;
        self.sessions.insert(id, record, ttl).await
    }

    async fn replace(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.misbehave().await?;
        if *self.refuses_changes.lock().unwrap() {
            return Err(StoreError::new(SECRET));
        }
        self.sessions.replace(id, record, ttl).await
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.misbehave().await?;
        self.sessions.remove(id).await
    }
}

#[async_trait]
impl EventStore for Faulty {
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        let is_next = |until: &Mutex<Option<usize>>| {
            let mut until = until.lock().unwrap();
            *until = until.map(|left| left.wrapping_sub(1));
            *until == Some(0)
        };
        if is_next(&self.appends_until_failure) {
            return Err(StoreError::new(SECRET));
        }
        if is_next(&self.appends_until_silent) {
            self.events.append(stream, event).await?;
            return pending().await;
        }
        if is_next(&self.appends_until_late) {
            let late = (stream.session.to_owned(), stream.stream.to_owned(), event);
            *self.late.lock().unwrap() = Some(late);
            *self.late_from.lock().unwrap() = Some(tokio::time::Instant::now() + SECOND);
            return pending().await;
        }
        self.store_late().await?;
        self.misbehave().await?;
        let time = *self.append_time.lock().unwrap();
        tokio::time::sleep(time).await;
        self.events.append(stream, event).await
    }

    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        *self.loads.lock().unwrap() += 1;
        let failing = *self.failing_loads.lock().unwrap();
        if failing > 0 {
            *self.failing_loads.lock().unwrap() = failing - 1;
            return Err(StoreError::new(SECRET).into());
        }
        self.misbehave().await?;
        self.store_late().await?;
        self.events.after(stream, after).await
    }

    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        let failing = *self.failing_forgets.lock().unwrap();
        if failing > 0 {
            *self.failing_forgets.lock().unwrap() = failing - 1;
            return Err(StoreError::new(SECRET));
        }
        self.misbehave().await?;
        self.events.forget(session).await
    }
}

fn serving() -> (Endpoint, Arc<Tools>, Arc<Faulty>) {
    let (endpoint, tools) = endpoint();
    let store = Faulty::new();
    let endpoint = endpoint
        .sessions(Sessions::shared(store.clone()))
        .events(store.clone());
    (endpoint, tools, store)
}

/// Returns the status and the message of an error response.
async fn error(got: Got) -> (u16, String) {
    let status = got.status;
    let body = got.json().await;
    let text = body.to_string();
    assert!(!text.contains("hunter2"), "{text}");
    (
        status,
        body["error"]["message"].as_str().unwrap().to_owned(),
    )
}

/// Opens sessions that end in every way, with calls and streams that end before or with them.
async fn use_sessions(endpoint: &Endpoint, count: usize) {
    for number in 0..count {
        let peer = Peer::open(endpoint).await;
        assert_eq!(peer.send(steps(1)).await.rest().await.len(), 8);
        let stream = peer.get().await;
        let call = peer.tool(2, "wait").await;
        match number % 3 {
            // The client deletes the session, with and without open streams.
            0 => assert_eq!(peer.delete().await.status, 200),
            1 => {
                drop((stream, call));
                assert_eq!(peer.delete().await.status, 200);
            }
            // The client goes away. The session ends after the idle timeout.
            _ => assert_eq!(peer.send(cancelled(2)).await.status, 202),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn ended_sessions_leave_nothing_in_stores() {
    let (endpoint, tools, store) = serving();
    for round in 0..5 {
        use_sessions(&endpoint, 30).await;
        // The sessions expire after 30 minutes, their records after an hour.
        tokio::time::sleep(61 * MINUTE).await;
        let last = Peer::open(&endpoint).await;
        assert_eq!(last.send(steps(1)).await.rest().await.len(), 8);
        assert_eq!(endpoint.session_count(), 1, "{round}");
        assert_eq!(
            (store.sessions.count(), store.events.count()),
            (1, 8),
            "{round}"
        );
        assert_eq!(last.delete().await.status, 200);
        settle().await;
        assert_eq!(
            (store.sessions.count(), store.events.count()),
            (0, 0),
            "{round}"
        );
        assert_eq!(tools.waiting(), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn deleted_session_leaves_no_events_when_the_store_fails() {
    for failures in 0..3 {
        let (endpoint, _, store) = serving();
        *store.failing_forgets.lock().unwrap() = failures;
        let peer = Peer::open(&endpoint).await;
        assert_eq!(peer.send(steps(1)).await.rest().await.len(), 8);
        assert_eq!(peer.delete().await.status, 200);
        tokio::time::sleep(MINUTE).await;
        assert_eq!(store.events.count(), 0, "{failures}");
    }
}

#[tokio::test(start_paused = true)]
async fn event_deletions_wait_in_a_few_tasks() {
    let (endpoint, _, store) = serving();
    let sessions = 1000;
    *store.failing_forgets.lock().unwrap() = usize::MAX;
    for _ in 0..sessions {
        let peer = Peer::open(&endpoint).await;
        assert_eq!(peer.send(steps(1)).await.rest().await.len(), 8);
        assert_eq!(peer.delete().await.status, 200);
    }
    settle().await;
    let tasks = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    assert!(tasks < 100, "{tasks} tasks");
    // The others expire in the store.
    assert_eq!(store.events.count(), 8 * sessions);
    *store.failing_forgets.lock().unwrap() = 0;
    tokio::time::sleep(MINUTE).await;
    assert!(store.events.count() < 8 * sessions);
}

#[tokio::test(start_paused = true)]
async fn event_that_is_stored_while_its_session_is_deleted_is_deleted_as_well() {
    let (endpoint, tools, store) = serving();
    for is_call in [true, false] {
        let peer = Peer::open(&endpoint).await;
        let mut stream = if is_call {
            peer.tool(1, "wait").await
        } else {
            peer.get().await
        };
        assert!(stream.event().await.id.is_some());
        *store.append_time.lock().unwrap() = SECOND;
        tools.bus.publish(ChangeEvent::Tools);
        let delete = async {
            settle().await;
            peer.delete().await.status
        };
        let (_, deleted) = tokio::join!(stream.rest(), delete);
        assert_eq!(deleted, 200);
        tokio::time::sleep(MINUTE).await;
        assert_eq!(tools.waiting(), (0, 0));
        assert_eq!(store.events.count(), 0, "{is_call}");
        *store.append_time.lock().unwrap() = Duration::ZERO;
    }
}

#[tokio::test(start_paused = true)]
async fn store_that_misbehaves_fails_requests_without_its_message() {
    let (endpoint, _, store) = serving();
    let endpoint = endpoint.store_timeout(2 * SECOND);
    let peer = Peer::open(&endpoint).await;
    let first = peer.send(steps(1)).await.rest().await[0]
        .id
        .clone()
        .unwrap();
    let failed = |what: &str| {
        let reason = format!("the request did not run: the {what} store failed; try again in 1 s");
        (503, reason)
    };
    for mode in [Mode::Fails, Mode::Panics, Mode::Hangs] {
        store.set(mode);
        let begin = tokio::time::Instant::now();
        assert_eq!(error(peer.tool(2, "echo").await).await, failed("session"));
        let opened = Peer::new(&endpoint).send(initialize("2025-11-25")).await;
        assert_eq!(error(opened).await, failed("session"));
        assert_eq!(error(peer.delete().await).await, failed("session"));
        // Another server may have the stream.
        let resumed = peer.resume(&first).await;
        assert_eq!(resumed.header("retry-after").as_deref(), Some("0"));
        assert_eq!(error(resumed).await, failed("session"));
        let waited = if mode == Mode::Hangs {
            8 * SECOND
        } else {
            Duration::ZERO
        };
        assert_eq!(begin.elapsed(), waited, "{mode:?}");
        store.set(Mode::Works);
        assert_eq!(endpoint.session_count(), 1);
        assert_eq!(peer.tool(3, "echo").await.status, 200);
    }
    // Without a session store, so that requests reach the event store.
    let (endpoint, tools) = super::endpoint();
    let endpoint = endpoint.events(store.clone()).store_timeout(2 * SECOND);
    let peer = Peer::open(&endpoint).await;
    for mode in [Mode::Fails, Mode::Panics, Mode::Hangs] {
        store.set(mode);
        for last in ["0_1", &first] {
            let resumed = peer.resume(last).await;
            assert_eq!(resumed.header("retry-after").as_deref(), Some("1"));
            assert_eq!(error(resumed).await, failed("event"));
        }
        // Events that cannot be stored are sent without an id.
        let events = peer.send(steps(1)).await.rest().await;
        assert_eq!(events.len(), 7, "{mode:?}");
        assert!(events.iter().all(|event| event.id.is_none()));
        let mut stream = peer.get().await;
        tools.bus.publish(ChangeEvent::Tools);
        let change = stream.event().await;
        assert_eq!((change.id, change.data.is_some()), (None, true));
        tokio::time::sleep(MINUTE).await;
    }
}

#[tokio::test(start_paused = true)]
async fn request_that_is_refused_after_the_lookup_does_not_run() {
    let (endpoint, tools, store) = serving();
    let peer = Peer::open(&endpoint).await;
    // The store has to keep the session for longer.
    tokio::time::sleep(29 * MINUTE).await;
    *store.refuses_changes.lock().unwrap() = true;
    for _ in 0..2 {
        let (status, message) = error(peer.tool(1, "wait").await).await;
        assert_eq!(status, 503);
        assert!(message.contains("the request did not run"), "{message}");
        settle().await;
        assert_eq!(tools.waiting(), (0, 0));
    }
    *store.refuses_changes.lock().unwrap() = false;
    // The same id: the call has not begun.
    let call = peer.tool(1, "wait").await;
    assert_eq!((call.status, tools.waiting()), (200, (1, 0)));
}

#[tokio::test(start_paused = true)]
async fn call_that_runs_is_answered_when_the_store_fails() {
    let (endpoint, tools) = endpoint();
    let store = Faulty::new();
    let endpoint = endpoint.sessions(Sessions::shared(store.clone()));
    let peer = Peer::open(&endpoint).await;
    let waiting = tokio::spawn({
        let peer = peer.clone();
        async move { peer.tool(1, "wait").await.json().await }
    });
    settle().await;
    assert_eq!(tools.waiting(), (1, 0));
    store.set(Mode::Fails);
    tools.go.notify_one();
    let response = waiting.await.unwrap();
    assert!(response["result"].is_object(), "{response}");
    // A batch runs before its session is saved.
    store.set(Mode::Works);
    let peer = Peer::new(&endpoint).speaking("2025-03-26").begin().await;
    tokio::time::sleep(29 * MINUTE).await;
    *store.refuses_changes.lock().unwrap() = true;
    let echo = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "echo" },
    });
    let got = peer.send(json!([echo])).await;
    assert_eq!(got.status, 200);
}

#[tokio::test(start_paused = true)]
async fn panicking_hook_changes_nothing() {
    let (endpoint, _) = endpoint();
    let told = Arc::<Mutex<usize>>::default();
    let seen = told.clone();
    let endpoint = endpoint.on_session(move |_: SessionEvent<'_>| {
        *seen.lock().unwrap() += 1;
        panic!("as told");
    });
    for round in 1..4 {
        let deleted = Peer::open(&endpoint).await;
        assert_eq!(deleted.delete().await.status, 200);
        let idle = Peer::open(&endpoint).await;
        assert_eq!(idle.tool(1, "echo").await.status, 200);
        Peer::open(&endpoint).await;
        assert_eq!(endpoint.session_count(), 2);
        tokio::time::sleep(31 * MINUTE).await;
        assert_eq!(endpoint.session_count(), 0);
        assert_eq!(*told.lock().unwrap(), 6 * round);
    }
}

#[tokio::test(start_paused = true)]
async fn sessions_expire_in_time_whatever_the_store_does() {
    for mode in [Mode::Fails, Mode::Panics, Mode::Hangs] {
        let (endpoint, _, store) = serving();
        let mut streams = Vec::new();
        for _ in 0..100 {
            let reading = Peer::open(&endpoint).await;
            streams.push(reading.get().await);
        }
        let idle = Peer::open(&endpoint).await;
        store.set(mode);
        tokio::time::sleep(29 * MINUTE).await;
        assert_eq!(endpoint.session_count(), 101);
        tokio::time::sleep(61 * SECOND).await;
        assert_eq!(endpoint.session_count(), 100, "{mode:?}");
        store.set(Mode::Works);
        assert_eq!(idle.tool(1, "echo").await.status, 200);
        // The sessions in use are saved again before they expire in the store.
        tokio::time::sleep(24 * 60 * MINUTE).await;
        assert_eq!(endpoint.session_count(), 100, "{mode:?}");
        assert_eq!(store.sessions.count(), 100);
    }
}

#[tokio::test(start_paused = true)]
async fn largest_timeouts_do_not_overflow() {
    let (endpoint, tools, _) = serving();
    let max = Duration::MAX;
    let store = Faulty::new();
    let sessions = Sessions::shared(store.clone())
        .idle_timeout(max)
        .init_timeout(MINUTE)
        .ask_timeout(max)
        .http_sse();
    let endpoint = endpoint
        .sessions(sessions.clone())
        .store_timeout(max)
        .body_timeout(max)
        .commit_after(max)
        .ping_interval(max)
        .max_stream_age(max)
        .reconnect_after(max);
    let peer = Peer::open(&endpoint).await;
    let stream = peer.get().await;
    assert_eq!(peer.send(steps(1)).await.messages().await.len(), 7);
    let mut asked = peer.tool(2, "ask").await;
    let question = loop {
        if let Some(question) = asked.event().await.data {
            break question;
        }
    };
    let waiting = tokio::spawn({
        let peer = peer.clone();
        async move { peer.tool(3, "wait").await.status }
    });
    let never_ready = Peer::new(&endpoint);
    assert_eq!(never_ready.send(initialize("2025-11-25")).await.status, 200);
    tokio::time::sleep(30 * MINUTE).await;
    // The task that expires sessions runs.
    assert_eq!((endpoint.session_count(), store.sessions.count()), (1, 2));
    assert_eq!(peer.send(asking::accept(&question["id"])).await.status, 202);
    assert_eq!(asked.messages().await.len(), 1);
    tools.go.notify_one();
    assert_eq!(waiting.await.unwrap(), 200);
    drop(stream);
    // All times at once.
    let endpoint = super::endpoint().0.sessions(sessions.init_timeout(max));
    let peer = Peer::new(&endpoint);
    assert_eq!(peer.send(initialize("2025-11-25")).await.status, 200);
    let stream = Peer::new(&endpoint).get().await;
    tokio::time::sleep(24 * 60 * MINUTE).await;
    assert_eq!(stream.status, 200);
}

#[test]
fn sessions_expire_after_the_runtime_was_replaced() {
    let (endpoint, _) = endpoint();
    for _ in 0..2 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            Peer::open(&endpoint).await;
        });
        drop(runtime);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        Peer::open(&endpoint).await;
        tokio::time::sleep(32 * MINUTE).await;
        assert_eq!(endpoint.session_count(), 0);
    });
}

#[tokio::test(start_paused = true)]
async fn refused_reader_loads_no_events() {
    let (endpoint, tools, store) = serving();
    let peer = Peer::open(&endpoint).await;
    let mut first = peer.tool(1, "wait").await;
    let id = first.event().await.id.unwrap();
    let second = peer.resume(&id).await;
    let loads = *store.loads.lock().unwrap();
    assert_eq!(peer.resume(&id).await.status, 409);
    assert_eq!(*store.loads.lock().unwrap(), loads);
    tools.go.notify_one();
    assert_eq!(second.messages().await.len(), 1);
    // The GET stream.
    let mut stream = peer.get().await;
    let id = stream.event().await.id.unwrap();
    let _second = peer.resume(&id).await;
    let loads = *store.loads.lock().unwrap();
    assert_eq!(peer.resume(&id).await.status, 409);
    assert_eq!(*store.loads.lock().unwrap(), loads);
}

#[tokio::test(start_paused = true)]
async fn long_replay_is_loaded_while_the_client_reads() {
    let (endpoint, tools, store) = serving();
    let peer = Peer::open(&endpoint).await;
    let session = peer.session.clone().unwrap();
    for (stream, is_call) in [("0", false), ("elsewhere-1", true)] {
        let id = StreamId {
            session: &session,
            stream,
        };
        let mut last = 0;
        for number in 0..100 {
            let text = json!({ "id": number, "x": "x".repeat(50_000) }).to_string();
            let mut event = StoredEvent::new(text.into());
            event.is_last = is_call && number == 99;
            last = store.append(id, event).await.unwrap();
        }
        let before = *store.loads.lock().unwrap();
        let mut got = peer.resume(&format!("{stream}_{}", last - 99)).await;
        assert_eq!(*store.loads.lock().unwrap(), before + 1);
        let mut seen = Vec::new();
        while seen.len() < 99 {
            let frame = got.frame().await.unwrap();
            assert!(frame.len() < 400_000, "{}", frame.len());
            let messages = events(&frame).into_iter().filter_map(|event| event.data);
            seen.extend(messages.map(|message| message["id"].as_u64().unwrap()));
        }
        assert_eq!(seen, (1..100).collect::<Vec<_>>());
        assert!(*store.loads.lock().unwrap() > before + 10);
        if is_call {
            assert_eq!(got.rest().await, [])
        } else {
            tools.bus.publish(ChangeEvent::Tools);
            while got.event().await.data.is_none() {}
        }
    }
}

#[tokio::test(start_paused = true)]
async fn stream_after_dropped_events_is_complete() {
    let (endpoint, tools) = endpoint();
    let store = MemoryEventStore::new().max_age(MINUTE).clock(clock);
    let endpoint = endpoint.events(store);
    for version in ["2025-11-25", "2025-06-18"] {
        let peer = Peer::new(&endpoint).speaking(version).begin().await;
        for id in 1..4 {
            assert_eq!(peer.send(steps(id)).await.messages().await.len(), 7, "{id}");
            let waiting = peer.tool(10 + id, "wait").await;
            tools.go.notify_one();
            assert_eq!(waiting.messages().await.len(), 1);
            tokio::time::sleep(2 * MINUTE).await;
        }
    }
}
