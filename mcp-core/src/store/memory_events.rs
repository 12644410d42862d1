//! An event store in this process's memory.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;

use super::StoreError;
use super::events::{EventStore, Replay, ReplayError, StoredEvent, StreamId};

/// The size of the events that [`EventStore::after`] returns at once, in bytes.
const PAGE_BYTES: usize = 256 << 10;

/// A store in this process's memory.
///
/// The store holds at most 65,536 events and 64 MiB, each event for at most 15 minutes. When it is
/// full, it drops the oldest events of the session that uses most of it. A session with many events
/// therefore does not take the events of others.
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
    /// Sessions that have events.
    sessions: HashMap<Arc<str>, SessionEvents>,
    /// The sessions, sorted by each number that decides which session loses an event.
    ranks: BTreeSet<(Rank, u64, Arc<str>)>,
    events: usize,
    bytes: usize,
    next: u64,
    /// The number after the newest event that was dropped.
    floor: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The number of the oldest event.
    Oldest,
    Bytes,
    Events,
}

/// The events of one session.
#[derive(Debug)]
struct SessionEvents {
    streams: HashMap<Arc<str>, Stream>,
    /// All events, oldest first.
    order: VecDeque<EventRecord>,
    bytes: usize,
    /// The lowest number from which on no event was dropped.
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
    number: u64,
    stream: Arc<str>,
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
    pub fn count(&self) -> usize {
        self.state.lock().events
    }

    /// Drops the events beyond the limits.
    fn trim(&self, state: &mut StoredEvents, now: Instant) {
        while let Some(session) = self.session_to_trim(state, now) {
            state.drop_oldest(&session);
        }
    }

    /// Returns the session whose oldest event has to be dropped.
    fn session_to_trim(&self, state: &StoredEvents, now: Instant) -> Option<Arc<str>> {
        if state.events > self.max_events {
            return state.largest(Rank::Events);
        }
        if state.bytes > self.max_bytes {
            return state.largest(Rank::Bytes);
        }
        let (.., session) = state.ranks.first()?;
        let oldest = state.sessions.get(session)?.order.front()?;
        let age = now.saturating_duration_since(oldest.since);
        (age > self.max_age).then(|| session.clone())
    }
}

impl Default for MemoryEventStore {
    fn default() -> Self {
        Self::new()
    }
}

impl StoredEvents {
    fn append(&mut self, id: StreamId<'_>, event: StoredEvent, since: Instant) -> u64 {
        let number = self.next;
        self.next += 1;
        let (session, mut events) = self
            .take(id.session)
            .unwrap_or_else(|| (id.session.into(), SessionEvents::new(self.floor)));
        events.push(id.stream, number, event, since);
        self.put(session, events);
        number
    }

    fn largest(&self, rank: Rank) -> Option<Arc<str>> {
        let mut ranks = self.ranks.range(..(rank, u64::MAX, "".into()));
        let (.., session) = ranks.next_back()?;
        Some(session.clone())
    }

    fn drop_oldest(&mut self, session: &str) {
        if let Some((session, mut events)) = self.take(session) {
            events.pop();
            self.floor = self.floor.max(events.floor);
            self.put(session, events);
        }
    }

    /// Removes the events of a session. [`put`](Self::put) returns them, in new ranks.
    fn take(&mut self, session: &str) -> Option<(Arc<str>, SessionEvents)> {
        let (session, events) = self.sessions.remove_entry(session)?;
        self.events -= events.order.len();
        self.bytes -= events.bytes;
        for (rank, number) in events.ranks() {
            self.ranks.remove(&(rank, number, session.clone()));
        }
        Some((session, events))
    }

    fn put(&mut self, session: Arc<str>, events: SessionEvents) {
        if events.order.is_empty() {
            return;
        }
        self.events += events.order.len();
        self.bytes += events.bytes;
        for (rank, number) in events.ranks() {
            self.ranks.insert((rank, number, session.clone()));
        }
        self.sessions.insert(session, events);
    }
}

impl SessionEvents {
    fn new(floor: u64) -> Self {
        Self {
            streams: HashMap::new(),
            order: VecDeque::new(),
            bytes: 0,
            floor,
        }
    }

    fn ranks(&self) -> [(Rank, u64); 3] {
        let oldest = self.order.front().map_or(0, |event| event.number);
        [
            (Rank::Oldest, oldest),
            (Rank::Bytes, self.bytes as u64),
            (Rank::Events, self.order.len() as u64),
        ]
    }

    fn push(&mut self, stream: &str, number: u64, event: StoredEvent, since: Instant) {
        let name = match self.streams.get_key_value(stream) {
            Some((name, _)) => name.clone(),
            None => stream.into(),
        };
        self.bytes += event.text.len();
        let floor = self.floor;
        let stream = self.streams.entry(name.clone()).or_insert_with(|| Stream {
            events: VecDeque::new(),
            floor,
        });
        stream.events.push_back((number, event));
        self.order.push_back(EventRecord {
            number,
            stream: name,
            since,
        });
    }

    /// Drops the oldest event.
    fn pop(&mut self) {
        let Some(EventRecord { number, stream, .. }) = self.order.pop_front() else {
            return;
        };
        self.floor = number + 1;
        if let Some(entry) = self.streams.get_mut(&stream) {
            let dropped = entry.events.pop_front();
            self.bytes -= dropped.map_or(0, |(_, event)| event.text.len());
            entry.floor = number + 1;
            if entry.events.is_empty() {
                self.streams.remove(&stream);
            }
        }
    }
}

impl Stream {
    /// Returns the first events from the number `from` on.
    fn page(&self, from: u64) -> Replay {
        let start = self.events.partition_point(|(number, _)| *number < from);
        let mut bytes = 0;
        let mut events = Vec::new();
        for (number, event) in self.events.range(start..) {
            bytes += event.text.len() + size_of::<StoredEvent>();
            if bytes > PAGE_BYTES && !events.is_empty() {
                let mut replay = Replay::new(events, false);
                replay.has_more = true;
                return replay;
            }
            events.push((*number, event.clone()));
        }
        let is_over = self.events.back().is_some_and(|(_, last)| last.is_last);
        Replay::new(events, is_over)
    }
}

#[async_trait]
impl EventStore for MemoryEventStore {
    async fn append(&self, id: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        let now = (self.clock)();
        let mut state = self.state.lock();
        let number = state.append(id, event, now);
        self.trim(&mut state, now);
        Ok(number)
    }

    async fn after(&self, id: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        let now = (self.clock)();
        let mut state = self.state.lock();
        self.trim(&mut state, now);
        let session = state.sessions.get(id.session);
        // spec: RSM-04
        let stream = session.and_then(|session| session.streams.get(id.stream));
        let stream = stream.ok_or(ReplayError::Unknown)?;
        // The first missed event.
        let from = after.map_or(0, |after| after.saturating_add(1));
        if from < stream.floor {
            return Err(ReplayError::TooOld);
        }
        Ok(stream.page(from))
    }

    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        self.state.lock().take(session);
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

    use super::super::{EventStore, ReplayError, StoredEvent, StreamId};
    use super::{MemoryEventStore, PAGE_BYTES};

    static SECONDS: AtomicU64 = AtomicU64::new(0);

    fn clock() -> Instant {
        static START: OnceLock<Instant> = OnceLock::new();
        *START.get_or_init(Instant::now) + Duration::from_secs(SECONDS.load(Ordering::Relaxed))
    }

    fn append(store: &MemoryEventStore, session: &str, stream: &str, text: &'static str) -> u64 {
        let event = StoredEvent::new(Bytes::from_static(text.as_bytes()));
        block_on(store.append(StreamId { session, stream }, event)).unwrap()
    }

    /// Returns the messages after a number, and the end of the stream.
    fn after(
        store: &MemoryEventStore,
        (session, stream): (&str, &str),
        number: Option<u64>,
    ) -> Result<(Vec<String>, bool), ReplayError> {
        let replay = block_on(store.after(StreamId { session, stream }, number))?;
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
        let mut last = StoredEvent::new(Bytes::from_static(b"c"));
        last.is_last = true;
        let end = block_on(store.append(
            StreamId {
                session: "s",
                stream: "1",
            },
            last,
        ))
        .unwrap();
        assert!(after(&store, stream, Some(end)).unwrap().1);

        block_on(store.forget("s")).unwrap();
        assert!(matches!(
            after(&store, stream, None),
            Err(ReplayError::Unknown)
        ));
        assert_eq!(after(&store, ("t", "1"), None).unwrap().0.len(), 1);
        assert_eq!(store.count(), 1);
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
        assert_eq!(store.count(), 3);
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
        assert_eq!(store.count(), 0);
        // Removed streams do not use memory.
        for _ in 0..100 {
            append(&store, "gone", "1", "12345");
            block_on(store.forget("gone")).unwrap();
        }
        assert_eq!(append(&store, "s", "1", "1234567890"), 106);
        assert_eq!(store.count(), 1);
        let state = store.state.lock();
        assert_eq!((state.sessions.len(), state.bytes), (1, 10));
        assert_eq!(state.ranks.len(), 3);
    }

    #[test]
    fn noisy_session_displaces_no_events_from_others() {
        let by_count = MemoryEventStore::new().max_events(100);
        let by_bytes = MemoryEventStore::new().max_bytes(1000);
        for (store, text) in [(by_count, ""), (by_bytes, "0123456789")] {
            append(&store, "quiet", "1", "a");
            append(&store, "quiet", "2", "b");
            for _ in 0..10_000 {
                append(&store, "noisy", "1", text);
            }
            assert!((99..=102).contains(&store.count()), "{}", store.count());
            assert_eq!(after(&store, ("quiet", "1"), None).unwrap().0, ["a"]);
            assert_eq!(after(&store, ("quiet", "2"), None).unwrap().0, ["b"]);
        }
    }

    #[test]
    fn long_replay_comes_in_parts() {
        let store = MemoryEventStore::new();
        let text: &str = "x".repeat(PAGE_BYTES / 3).leak();
        let numbers: Vec<_> = (0..10).map(|_| append(&store, "s", "1", text)).collect();
        let (mut seen, mut last, mut parts) = (Vec::new(), None, 0);
        loop {
            let replay = block_on(store.after(
                StreamId {
                    session: "s",
                    stream: "1",
                },
                last,
            ))
            .unwrap();
            assert!(replay.events.len() < 4);
            seen.extend(replay.events.iter().map(|(number, _)| *number));
            last = seen.last().copied();
            parts += 1;
            if !replay.has_more {
                break;
            }
        }
        assert_eq!((seen, parts), (numbers, 5));
        // An event that is larger than a part is returned alone.
        let large: &str = "x".repeat(2 * PAGE_BYTES).leak();
        append(&store, "s", "2", large);
        append(&store, "s", "2", "");
        let replay = block_on(store.after(
            StreamId {
                session: "s",
                stream: "2",
            },
            None,
        ))
        .unwrap();
        assert_eq!((replay.events.len(), replay.has_more), (1, true));
    }
}
