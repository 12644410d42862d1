//! The events of streams, so that a client whose connection broke gets what it has missed.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;

use super::StoreError;
use parking_lot::Mutex;

/// A stream of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StreamId<'a> {
    /// The id of the session.
    pub session: &'a str,
    /// The name of the stream within it.
    pub stream: &'a str,
}

impl<'a> StreamId<'a> {
    /// A stream of a session.
    #[inline]
    pub fn new(session: &'a str, stream: &'a str) -> Self {
        Self { session, stream }
    }
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredEvent {
    /// The text of the message; empty for an event that carries none.
    pub text: Bytes,
    /// No event comes after it.
    pub is_last: bool,
}

impl StoredEvent {
    /// A message.
    #[inline]
    pub fn new(text: Bytes) -> Self {
        Self {
            text,
            is_last: false,
        }
    }

    /// Says that no event comes after it.
    #[must_use]
    #[inline]
    pub fn last(mut self) -> Self {
        self.is_last = true;
        self
    }
}

/// What a client has missed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// The events and their numbers, in their order.
    pub events: Vec<(u64, StoredEvent)>,
    /// The stream has ended: no more events come.
    pub is_over: bool,
}

impl Replay {
    /// Events of a stream.
    #[inline]
    pub fn new(events: Vec<(u64, StoredEvent)>, is_over: bool) -> Self {
        Self { events, is_over }
    }
}

/// There is nothing to replay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The stream is not of this session, or its events were dropped.
    #[error("this session has no such stream, or its events are no longer kept")]
    Unknown,
    /// Events that the client has missed are gone.
    #[error("events after this one are no longer kept; make the request again")]
    TooOld,
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where the events of streams are kept. What is lost with it: a client whose connection breaks
/// does not get the answer of its running call.
///
/// Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>
#[async_trait]
pub trait EventStore: Send + Sync + 'static {
    /// Keeps an event and gives it a number, greater than those of all earlier events of the
    /// stream, whichever node they came from.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when it is not kept. It goes to whoever reads the stream just now, and
    /// cannot be had again.
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError>;

    /// The events of a stream with numbers above `after`; all of them when that is `None`.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] when these cannot be had, or not all of them.
    // spec: RSM-04
    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError>;

    /// Forgets all streams of a session.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they may still be there.
    async fn forget(&self, session: &str) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: EventStore + ?Sized> EventStore for Arc<S> {
    #[inline]
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        (**self).append(stream, event).await
    }

    #[inline]
    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        (**self).after(stream, after).await
    }

    #[inline]
    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        (**self).forget(session).await
    }
}

/// Events in the memory of this process.
///
/// Bounded in number, bytes and age; the oldest events of all streams are dropped first.
#[derive(Debug)]
pub struct MemoryEventStore {
    state: Mutex<State>,
    max_events: usize,
    max_bytes: usize,
    max_age: Duration,
    clock: fn() -> Instant,
}

#[derive(Debug, Default)]
struct State {
    sessions: HashMap<Box<str>, HashMap<Box<str>, Stream>>,
    /// All events in their order, also of streams that were forgotten.
    order: VecDeque<Kept>,
    bytes: usize,
    next: u64,
    /// Every event below this number was dropped.
    floor: u64,
}

#[derive(Debug)]
struct Stream {
    events: VecDeque<(u64, StoredEvent)>,
    /// Every event of the stream below this number was dropped.
    floor: u64,
}

#[derive(Debug)]
struct Kept {
    session: Box<str>,
    stream: Box<str>,
    since: Instant,
}

impl MemoryEventStore {
    /// A store of at most 65,536 events and 64 MiB, each for at most 15 minutes.
    #[inline]
    pub fn new() -> Self {
        Self {
            state: Mutex::default(),
            max_events: 65_536,
            max_bytes: 64 << 20,
            max_age: Duration::from_secs(15 * 60),
            clock: Instant::now,
        }
    }

    /// Sets how many events it keeps.
    #[must_use]
    #[inline]
    pub fn max_events(mut self, events: usize) -> Self {
        self.max_events = events;
        self
    }

    /// Sets how many bytes of messages it keeps.
    #[must_use]
    #[inline]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets how long it keeps an event.
    #[must_use]
    #[inline]
    pub fn max_age(mut self, time: Duration) -> Self {
        self.max_age = time;
        self
    }

    /// Sets where the time comes from.
    #[must_use]
    #[inline]
    pub fn clock(mut self, clock: fn() -> Instant) -> Self {
        self.clock = clock;
        self
    }

    /// How many events it keeps.
    #[inline]
    pub fn len(&self) -> usize {
        let state = self.state.lock();
        let streams = state.sessions.values().flat_map(HashMap::values);
        streams.map(|stream| stream.events.len()).sum()
    }

    /// It keeps no event.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.state.lock().sessions.is_empty()
    }

    /// Drops what is too much or too old.
    #[inline]
    fn trim(&self, state: &mut State, now: Instant) {
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
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    #[inline]
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
    #[inline]
    async fn append(&self, id: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        let now = (self.clock)();
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        state.bytes += event.text.len();
        state.order.push_back(Kept {
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

    #[inline]
    async fn after(&self, id: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        let now = (self.clock)();
        let mut state = self.state.lock();
        self.trim(&mut state, now);
        let streams = state.sessions.get(id.session);
        let stream = streams.and_then(|streams| streams.get(id.stream));
        let stream = stream.ok_or(ReplayError::Unknown)?;
        // The first one that is wanted.
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

    #[inline]
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
mod tests;
