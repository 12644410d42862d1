//! Stores of stream events, for clients that reconnect.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;

use super::StoreError;
use parking_lot::Mutex;

/// The id of a stream: its session and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StreamId<'a> {
    /// The id of the session.
    pub session: &'a str,
    /// The name of the stream within the session.
    pub stream: &'a str,
}

impl<'a> StreamId<'a> {
    /// The id of a stream of a session.
    pub fn new(session: &'a str, stream: &'a str) -> Self {
        Self { session, stream }
    }
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredEvent {
    /// The message as JSON. Empty for an event without a message.
    pub text: Bytes,
    /// True for the last event of a stream.
    pub is_last: bool,
}

impl StoredEvent {
    /// An event that is not the last one.
    pub fn new(text: Bytes) -> Self {
        Self {
            text,
            is_last: false,
        }
    }

    /// Marks the event as the last one.
    #[must_use]
    pub fn last(mut self) -> Self {
        self.is_last = true;
        self
    }
}

/// The events that a client has missed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// The events with their numbers, in order.
    pub events: Vec<(u64, StoredEvent)>,
    /// True if the stream has ended.
    pub is_over: bool,
}

impl Replay {
    /// A replay of these events.
    pub fn new(events: Vec<(u64, StoredEvent)>, is_over: bool) -> Self {
        Self { events, is_over }
    }
}

/// A replay that is not possible.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The session has no such stream, or its events were dropped.
    #[error("this session has no such stream, or its events are no longer kept")]
    Unknown,
    /// Events that the client has missed were dropped.
    #[error("events after this one are no longer kept; make the request again")]
    TooOld,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A store of stream events. When its data is lost, a client whose connection breaks does not receive
/// the response of its running call.
///
/// Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>
#[async_trait]
pub trait EventStore: Send + Sync + 'static {
    /// Stores an event and returns its number, which is greater than those of all earlier events of
    /// the stream, from whichever node.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the event was not stored. It is then sent to the connected client
    /// and cannot be replayed.
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError>;

    /// Returns the events of a stream with numbers above `after`, or all events.
    ///
    /// # Errors
    ///
    /// Returns [`ReplayError`] when one of these events is not available.
    // spec: RSM-04
    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError>;

    /// Removes all streams of a session.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when events may still be stored.
    async fn forget(&self, session: &str) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: EventStore + ?Sized> EventStore for Arc<S> {
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        (**self).append(stream, event).await
    }

    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        (**self).after(stream, after).await
    }

    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        (**self).forget(session).await
    }
}

/// A store in the memory of this process.
///
/// The store holds at most 65,536 events and 64 MiB, each event for at most 15 minutes. The oldest events of
/// all streams are dropped first.
#[derive(Debug)]
pub struct MemoryEventStore {
    state: Mutex<StoredEvents>,
    max_events: usize,
    max_bytes: usize,
    max_age: Duration,
    clock: fn() -> Instant,
}

#[derive(Debug, Default)]
struct StoredEvents {
    sessions: HashMap<Box<str>, HashMap<Box<str>, Stream>>,
    /// All events in order, including those of removed streams.
    order: VecDeque<EventRecord>,
    bytes: usize,
    next: u64,
    /// The number of the oldest event that was not dropped.
    floor: u64,
}

#[derive(Debug)]
struct Stream {
    events: VecDeque<(u64, StoredEvent)>,
    /// The lowest number from which on no event of the stream was dropped.
    floor: u64,
}

#[derive(Debug)]
struct EventRecord {
    session: Box<str>,
    stream: Box<str>,
    since: Instant,
}

impl MemoryEventStore {
    /// An empty store with the default limits.
    pub fn new() -> Self {
        Self {
            state: Mutex::default(),
            max_events: 65_536,
            max_bytes: 64 << 20,
            max_age: Duration::from_secs(15 * 60),
            clock: Instant::now,
        }
    }

    /// Sets the maximum number of events. Default: 65,536.
    #[must_use]
    pub fn max_events(mut self, events: usize) -> Self {
        self.max_events = events;
        self
    }

    /// Sets the maximum total size of the messages in bytes. Default: 64 MiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the time for which an event is kept. Default: 15 minutes.
    #[must_use]
    pub fn max_age(mut self, time: Duration) -> Self {
        self.max_age = time;
        self
    }

    /// Sets the clock. Default: [`Instant::now`].
    #[must_use]
    pub fn clock(mut self, clock: fn() -> Instant) -> Self {
        self.clock = clock;
        self
    }

    /// Returns the number of stored events.
    pub fn len(&self) -> usize {
        let state = self.state.lock();
        let streams = state.sessions.values().flat_map(HashMap::values);
        streams.map(|stream| stream.events.len()).sum()
    }

    /// Returns true if no event is stored.
    pub fn is_empty(&self) -> bool {
        self.state.lock().sessions.is_empty()
    }

    /// Drops the events beyond the limits.
    fn trim(&self, state: &mut StoredEvents, now: Instant) {
        while let Some(oldest) = state.order.front()
            && (state.order.len() > self.max_events
                || state.bytes > self.max_bytes
                || now.saturating_duration_since(oldest.since) > self.max_age)
        {
            state.drop_oldest();
        }
    }
}

impl Default for MemoryEventStore {
    fn default() -> Self {
        Self::new()
    }
}

impl StoredEvents {
    fn drop_oldest(&mut self) {
        let Some(oldest) = self.order.pop_front() else {
            return;
        };
        let number = self.floor;
        self.floor += 1;
        let Some(streams) = self.sessions.get_mut(&oldest.session) else {
            return;
        };
        if let Some(stream) = streams.get_mut(&oldest.stream)
            && stream.events.front().is_some_and(|(it, _)| *it == number)
        {
            if let Some((_, event)) = stream.events.pop_front() {
                self.bytes -= event.text.len();
            }
            stream.floor = number + 1;
            if stream.events.is_empty() {
                streams.remove(&oldest.stream);
            }
        }
        if streams.is_empty() {
            self.sessions.remove(&oldest.session);
        }
    }
}

#[async_trait]
impl EventStore for MemoryEventStore {
    async fn append(&self, id: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        let now = (self.clock)();
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        state.bytes += event.text.len();
        state.order.push_back(EventRecord {
            session: id.session.into(),
            stream: id.stream.into(),
            since: now,
        });
        let floor = state.floor;
        let streams = state.sessions.entry(id.session.into()).or_default();
        let stream = streams.entry(id.stream.into()).or_insert_with(|| Stream {
            events: VecDeque::new(),
            floor,
        });
        stream.events.push_back((number, event));
        self.trim(&mut state, now);
        Ok(number)
    }

    async fn after(&self, id: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        let now = (self.clock)();
        let mut state = self.state.lock();
        self.trim(&mut state, now);
        let streams = state.sessions.get(id.session);
        let stream = streams.and_then(|streams| streams.get(id.stream));
        let stream = stream.ok_or(ReplayError::Unknown)?;
        // The first missed event.
        let from = after.map_or(0, |after| after.saturating_add(1));
        if from < stream.floor {
            return Err(ReplayError::TooOld);
        }
        let start = stream.events.partition_point(|(number, _)| *number < from);
        Ok(Replay {
            events: stream.events.range(start..).cloned().collect(),
            is_over: stream.events.back().is_some_and(|(_, it)| it.is_last),
        })
    }

    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        let mut state = self.state.lock();
        if let Some(streams) = state.sessions.remove(session) {
            let events = streams.values().flat_map(|stream| &stream.events);
            let bytes: usize = events.map(|(_, event)| event.text.len()).sum();
            state.bytes -= bytes;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! Storage, expiry and limits.

    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use bytes::Bytes;
    use futures::executor::block_on;

    use super::{EventStore, MemoryEventStore, ReplayError, StoredEvent, StreamId};

    static SECONDS: AtomicU64 = AtomicU64::new(0);

    fn clock() -> Instant {
        static START: OnceLock<Instant> = OnceLock::new();
        *START.get_or_init(Instant::now) + Duration::from_secs(SECONDS.load(Ordering::Relaxed))
    }

    fn append(store: &MemoryEventStore, session: &str, stream: &str, text: &'static str) -> u64 {
        let event = StoredEvent::new(Bytes::from_static(text.as_bytes()));
        block_on(store.append(StreamId::new(session, stream), event)).unwrap()
    }

    /// Returns the messages after a number, and the end of the stream.
    fn after(
        store: &MemoryEventStore,
        (session, stream): (&str, &str),
        number: Option<u64>,
    ) -> Result<(Vec<String>, bool), ReplayError> {
        let replay = block_on(store.after(StreamId::new(session, stream), number))?;
        let texts = replay.events.iter();
        let texts = texts.map(|(_, event)| String::from_utf8(event.text.to_vec()).unwrap());
        Ok((texts.collect(), replay.is_over))
    }

    #[test]
    fn replay_starts_after_the_last_event() {
        // spec: RSM-01, RSM-04
        let store = MemoryEventStore::new();
        let first = append(&store, "s", "1", "a");
        append(&store, "s", "2", "of another stream");
        append(&store, "t", "1", "of another session");
        let second = append(&store, "s", "1", "b");
        assert!(first < second);
        let stream = ("s", "1");
        assert_eq!(after(&store, stream, None).unwrap().0, ["a", "b"]);
        assert_eq!(after(&store, stream, Some(first)).unwrap().0, ["b"]);
        let none: [&str; 0] = [];
        for number in [second, second + 1, u64::MAX] {
            assert_eq!(after(&store, stream, Some(number)).unwrap().0, none);
        }
        for stream in [("s", "3"), ("u", "1")] {
            assert!(matches!(
                after(&store, stream, None),
                Err(ReplayError::Unknown)
            ));
        }
        assert!(!after(&store, stream, None).unwrap().1);
        let last = StoredEvent::new(Bytes::from_static(b"c")).last();
        let end = block_on(store.append(StreamId::new("s", "1"), last)).unwrap();
        assert!(after(&store, stream, Some(end)).unwrap().1);

        block_on(store.forget("s")).unwrap();
        assert!(matches!(
            after(&store, stream, None),
            Err(ReplayError::Unknown)
        ));
        assert_eq!(after(&store, ("t", "1"), None).unwrap().0.len(), 1);
        assert_eq!(store.len(), 1);
    }

    #[test]
    fn events_beyond_a_limit_are_dropped() {
        let store = MemoryEventStore::new()
            .max_events(3)
            .max_bytes(10)
            .max_age(Duration::from_secs(60))
            .clock(clock);
        let (one, two) = (("s", "1"), ("s", "2"));
        let a = append(&store, "s", "1", "a");
        let b = append(&store, "s", "2", "b");
        let c = append(&store, "s", "1", "c");
        assert_eq!(store.len(), 3);
        append(&store, "s", "1", "d");
        // A client that has received the dropped event has missed nothing.
        assert_eq!(after(&store, one, Some(a)).unwrap().0, ["c", "d"]);
        assert!(matches!(after(&store, one, None), Err(ReplayError::TooOld)));
        append(&store, "s", "1", "123456789");
        assert!(matches!(
            after(&store, two, Some(b)),
            Err(ReplayError::Unknown)
        ));
        assert!(matches!(
            after(&store, one, Some(a)),
            Err(ReplayError::TooOld)
        ));
        assert_eq!(after(&store, one, Some(c)).unwrap().0, ["d", "123456789"]);
        // A stream that starts again does not appear complete.
        append(&store, "s", "2", "");
        assert!(matches!(
            after(&store, two, Some(a)),
            Err(ReplayError::TooOld)
        ));
        SECONDS.store(61, Ordering::Relaxed);
        assert!(matches!(
            after(&store, one, Some(c)),
            Err(ReplayError::Unknown)
        ));
        assert!(store.is_empty());
        // Removed streams do not use memory.
        for _ in 0..100 {
            append(&store, "gone", "1", "12345");
            block_on(store.forget("gone")).unwrap();
        }
        assert_eq!(append(&store, "s", "1", "1234567890"), 106);
        assert_eq!(store.len(), 1);
        assert!(store.state.lock().order.len() <= 3);
    }
}
