//! The stored event streams of calls.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use mcp_core::store::{EventStore, ReplayError, StoreError, StoredEvent, StreamId};
use mcp_core::{Backoff, NotificationBuffer};
use mcp_types::ProtocolVersion;
use parking_lot::{Mutex, MutexGuard};
use tokio::time::{Instant, sleep};

use super::super::config::EventStorage;
use super::event_id;
use super::reader_slot::ReaderSlot;
use super::writer;
use crate::sse::encode as sse;

/// Time in which the events of an ended call are stored that the store did not accept at first.
const STORE_LATER: Duration = Duration::from_secs(30);
/// Delays between two attempts.
const STORE_RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));
/// Largest number of events without an id that are kept and remembered, and of stored events until they are forgotten.
const MAX_REMEMBERED: usize = 256;
/// Largest sum of the bytes of such events. One event may have more.
const MAX_REMEMBERED_BYTES: usize = 1 << 20;

/// The stored streams of a session that this server writes or reads.
#[derive(Debug, Default)]
pub(in crate::server) struct StoredStreams {
    last_number: AtomicU64,
    is_deleted: AtomicBool,
    by_name: Mutex<HashMap<Box<str>, Weak<StoredStream>>>,
}

impl StoredStreams {
    /// Creates a stream for a call. `node` is the number of this server among those that share the session. The
    /// store is not used before the first event.
    pub(in crate::server) fn create(
        self: &Arc<Self>,
        storage: &EventStorage,
        session: &Arc<str>,
        node: Option<u32>,
    ) -> Arc<StoredStream> {
        let number = self.last_number.fetch_add(1, Ordering::Relaxed) + 1;
        let name = writer::stream_name(&storage.stream_prefix, node, number);
        let stream = Arc::new(StoredStream {
            store: Arc::clone(&storage.store) as _,
            session: Arc::clone(session),
            name: name.clone(),
            reader: Arc::default(),
            progress: Mutex::default(),
            streams: Arc::clone(self),
        });
        self.by_name.lock().insert(name, Arc::downgrade(&stream));
        stream
    }

    /// Records that the session's events are being deleted. Call it before the deletion.
    pub(in crate::server) fn mark_deleted(&self) {
        self.is_deleted.store(true, Ordering::SeqCst);
    }

    pub(in crate::server) fn is_deleted(&self) -> bool {
        self.is_deleted.load(Ordering::SeqCst)
    }

    pub(super) fn find(&self, name: &str) -> Option<Arc<StoredStream>> {
        self.by_name.lock().get(name)?.upgrade()
    }
}

/// The stored event stream of a call.
pub(in crate::server) struct StoredStream {
    pub(super) store: Arc<dyn EventStore>,
    pub(super) session: Arc<str>,
    pub(super) name: Box<str>,
    pub(super) reader: Arc<ReaderSlot>,
    progress: Mutex<Progress>,
    streams: Arc<StoredStreams>,
}

/// Stream state for the reader.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Number of the first stored event.
    first_event: Option<u64>,
    /// Number of the last stored event.
    pub(super) last_event: Option<u64>,
    /// The last stored event ends the stream.
    pub(super) is_complete: bool,
    /// Events that the store did not accept. A reader gets them without an id, and the others are stored later. Beyond
    /// the limits only the last event of the stream is added, which has the result.
    unsaved: VecDeque<UnsavedEvent>,
    leaves_out: bool,
    /// Events that a reader got without an id. The store may have accepted them too late.
    sent_unsaved: VecDeque<Bytes>,
    /// Numbers of the other events that were stored since then.
    stored: Vec<u64>,
    /// An event that a reader has found in the store before the store has answered its writer.
    found: Option<(u64, Bytes)>,
    /// The handler asked the client to disconnect and to reconnect later.
    pub(super) is_released: bool,
}

/// An event that the store did not accept.
#[derive(Debug)]
struct UnsavedEvent {
    /// Number of the stored event before it.
    after: Option<u64>,
    event: StoredEvent,
}

impl Progress {
    /// Appends the events to `out` that the store did not accept and that come before the event
    /// `number`; without a number, all of them.
    pub(super) fn take_unsaved(&mut self, number: Option<u64>, out: &mut Vec<u8>) {
        let is_before = |event: &UnsavedEvent| number.is_none() || event.after < number;
        while self.unsaved.front().is_some_and(is_before) {
            if let Some(UnsavedEvent { event, .. }) = self.unsaved.pop_front() {
                out.extend_from_slice(&sse::message_event(&event.text));
                while is_full(self.sent_unsaved.iter(), &event.text) {
                    self.sent_unsaved.pop_front();
                }
                self.sent_unsaved.push_back(event.text);
            }
        }
    }

    /// Returns whether a reader got this event without an id. True once for each.
    pub(super) fn was_sent(&mut self, number: u64, event: &StoredEvent) -> bool {
        if self.stored.contains(&number) {
            return false;
        }
        let sent = self
            .sent_unsaved
            .iter()
            .position(|text| *text == event.text);
        let was_sent = sent.is_some_and(|index| self.sent_unsaved.remove(index).is_some());
        if !was_sent && self.last_event < Some(number) {
            self.found = Some((number, event.text.clone()));
        }
        was_sent
    }

    fn add_unsaved(&mut self, event: StoredEvent) {
        match self.found.take() {
            // The store has it, and only its answer is missing.
            Some((number, text)) if text == event.text => return self.record(number),
            _ if event.text.is_empty() => return,
            _ => {}
        }
        let kept = self.unsaved.iter().map(|unsaved| &unsaved.event.text);
        if is_full(kept, &event.text) && !event.is_last {
            if !std::mem::replace(&mut self.leaves_out, true) {
                tracing::warn!(
                    "a stream leaves out events: its event store is away, and nobody reads it"
                );
            }
            return;
        }
        let after = self.last_event;
        self.unsaved.push_back(UnsavedEvent { after, event });
    }

    /// Records the number of an event in the store.
    fn advance(&mut self, number: u64) {
        self.first_event.get_or_insert(number);
        self.last_event = Some(number);
    }

    /// Records that the store has an event, which no reader got without an id.
    fn record(&mut self, number: u64) {
        self.advance(number);
        // An event that comes even later counts as another one.
        if self.sent_unsaved.is_empty() || self.stored.len() >= MAX_REMEMBERED {
            self.sent_unsaved.clear();
            self.stored.clear();
        } else {
            self.stored.push(number);
        }
    }

    /// Returns a number before the first event of the stream. A reader that starts with the stream asks
    /// for the events after it: a store that has dropped events of other streams does not know whether
    /// this one is complete.
    pub(super) fn before_first(&self) -> Option<u64> {
        self.first_event?.checked_sub(1)
    }
}

/// Returns whether a further event exceeds the limits. The first one does not.
fn is_full<'a>(mut kept: impl Iterator<Item = &'a Bytes>, next: &Bytes) -> bool {
    let add = |(count, bytes), text: &Bytes| (count + 1, bytes + text.len());
    let Some(first) = kept.next() else {
        return false;
    };
    let (count, bytes) = kept.fold((1, first.len()), add);
    count >= MAX_REMEMBERED || bytes + next.len() > MAX_REMEMBERED_BYTES
}

impl StoredStream {
    fn id(&self) -> StreamId<'_> {
        StreamId {
            session: &self.session,
            stream: &self.name,
        }
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock()
    }

    /// Disconnects the reader. The client reconnects later.
    // spec: RSM-06
    pub(in crate::server) fn release(&self) {
        self.progress().is_released = true;
        self.reader.wake();
    }

    pub(in crate::server) fn is_released(&self) -> bool {
        self.progress().is_released
    }

    /// Stores an event without a message, so that the client has an id to reconnect with. Clients of
    /// older revisions do not support such events.
    // spec: RSM-05
    pub(super) async fn append_first_event(&self, version: ProtocolVersion) {
        if version.has_stream_polling() {
            self.append(StoredEvent::new(Bytes::new())).await;
        }
    }

    /// Stores events. `is_complete` means that the last of them ends the stream.
    pub(super) async fn append_all(&self, events: Bytes, is_complete: bool) {
        let mut messages = event_id::messages(events).peekable();
        while let Some(message) = messages.next() {
            let mut event = StoredEvent::new(message);
            event.is_last = is_complete && messages.peek().is_none();
            self.append(event).await;
        }
    }

    /// Stores the events `first` and everything that the call writes into `buffer`, until it ends.
    pub(super) async fn append_from(&self, first: Bytes, buffer: Arc<NotificationBuffer>) {
        self.append_all(first, false).await;
        while let Some(events) = poll_fn(|cx| buffer.poll_drain(cx)).await {
            self.append_all(events, buffer.is_finished()).await;
        }
        if !self.progress().is_complete {
            // The call was cancelled and has no reply.
            let mut last = StoredEvent::new(Bytes::new());
            last.is_last = true;
            self.append(last).await;
        }
        self.store_later().await;
    }

    /// Stores the events that the store has not accepted and no reader has taken: a client may resume the stream at
    /// another server.
    async fn store_later(&self) {
        let deadline = Instant::now() + STORE_LATER;
        let mut backoff = Backoff::new(STORE_RETRY.0, STORE_RETRY.1);
        while !self.store_unsaved().await && Instant::now() < deadline {
            sleep(backoff.next_delay()).await;
        }
    }

    /// Tries to store the events that the store has not accepted. Returns whether there are none left.
    async fn store_unsaved(&self) -> bool {
        loop {
            let first = {
                let progress = self.progress();
                // Not `after`: an equal event before this one may have been stored since then.
                let first = progress.unsaved.front();
                first.map(|unsaved| (progress.last_event, unsaved.event.clone()))
            };
            let Some((after, event)) = first else {
                return true;
            };
            let Ok(number) = self.store_again(after, &event).await else {
                return false;
            };
            let mut progress = self.progress();
            let is_first = |unsaved: &UnsavedEvent| unsaved.event.text == event.text;
            if progress.unsaved.front().is_some_and(is_first) {
                progress.unsaved.pop_front();
                progress.record(number);
            } else {
                // A reader has taken it meanwhile.
                progress.advance(number);
            }
            drop(progress);
            self.reader.wake();
        }
    }

    /// Stores an event, unless the store has accepted an earlier attempt that took too long.
    async fn store_again(
        &self,
        after: Option<u64>,
        event: &StoredEvent,
    ) -> Result<u64, StoreError> {
        match self.store.after(self.id(), after).await {
            Err(ReplayError::Store(error)) => return Err(error),
            Err(_) => {}
            Ok(replay) => {
                let is_same = |(_, stored): &&(u64, StoredEvent)| stored.text == event.text;
                if let Some((number, _)) = replay.events.iter().find(is_same) {
                    return Ok(*number);
                }
            }
        }
        self.store.append(self.id(), event.clone()).await
    }

    async fn append(&self, event: StoredEvent) {
        let is_last = event.is_last;
        if !self.store_unsaved().await {
            // The order of the events is kept.
            let mut progress = self.progress();
            progress.add_unsaved(event);
            progress.is_complete |= is_last;
            drop(progress);
            self.reader.wake();
            return;
        }
        let stored = self.store.append(self.id(), event.clone()).await;
        if stored.is_ok() && self.streams.is_deleted() {
            // The deletion may have been earlier. A failure is in the log.
            drop(self.store.forget(&self.session).await);
        }
        let mut progress = self.progress();
        match stored {
            Ok(number) => {
                progress.found = None;
                progress.record(number);
            }
            Err(_) => progress.add_unsaved(event),
        }
        progress.is_complete |= is_last;
        drop(progress);
        self.reader.wake();
    }
}

impl Drop for StoredStream {
    fn drop(&mut self) {
        self.streams.by_name.lock().remove(&self.name);
    }
}

impl fmt::Debug for StoredStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredStream")
            .field("name", &self.name)
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use bytes::Bytes;
    use mcp_core::store::{
        EventStore, MemoryEventStore, Replay, ReplayError, StoreError, StoredEvent, StreamId,
    };
    use parking_lot::Mutex;

    use super::{
        MAX_REMEMBERED, MAX_REMEMBERED_BYTES, Progress, ReaderSlot, StoredStream, StoredStreams,
    };
    use crate::sse::encode as sse;

    /// A store that cannot be reached.
    struct Away;

    #[async_trait]
    impl EventStore for Away {
        async fn append(&self, _: StreamId<'_>, _: StoredEvent) -> Result<u64, StoreError> {
            Err(StoreError::new("away"))
        }

        async fn after(&self, _: StreamId<'_>, _: Option<u64>) -> Result<Replay, ReplayError> {
            Err(StoreError::new("away").into())
        }

        async fn forget(&self, _: &str) -> Result<(), StoreError> {
            Err(StoreError::new("away"))
        }
    }

    fn stream() -> StoredStream {
        StoredStream {
            store: Arc::new(Away),
            session: "session".into(),
            name: "stream".into(),
            reader: Arc::<ReaderSlot>::default(),
            progress: Mutex::<Progress>::default(),
            streams: Arc::<StoredStreams>::default(),
        }
    }

    fn event(text: &str) -> Vec<u8> {
        sse::message_event(text.as_bytes()).to_vec()
    }

    #[tokio::test]
    async fn events_of_a_stream_without_reader_and_store_are_bounded_and_the_last_one_is_kept() {
        for (size, sent, kept) in [
            (10, MAX_REMEMBERED * 2, MAX_REMEMBERED),
            (MAX_REMEMBERED_BYTES / 4, 8, 3),
            (MAX_REMEMBERED_BYTES * 2, 3, 1),
        ] {
            let stream = stream();
            for number in 0..sent {
                let text = format!("{}{number}", "0".repeat(size));
                stream.append(StoredEvent::new(Bytes::from(text))).await;
            }
            stream.append_all(event("last").into(), true).await;
            let mut progress = stream.progress();
            assert!(progress.is_complete);
            let texts = progress.unsaved.iter().map(|unsaved| &unsaved.event.text);
            let texts: Vec<&str> = texts.map(|text| str::from_utf8(text).unwrap()).collect();
            let (last, first) = texts.split_last().unwrap();
            let numbers = first.iter().map(|text| text.parse::<usize>().unwrap());
            assert!(numbers.eq(0..kept), "{size}");
            assert_eq!(*last, "last");
            // A reader gets all of them. Those that it got are remembered within the limits.
            let mut out = Vec::new();
            progress.take_unsaved(None, &mut out);
            let sent = progress.sent_unsaved.iter().map(Bytes::len);
            let (count, bytes) = (sent.len(), sent.sum::<usize>());
            assert!(count <= MAX_REMEMBERED && (count == 1 || bytes <= MAX_REMEMBERED_BYTES));
        }
    }

    #[tokio::test]
    async fn equal_events_are_all_stored_when_the_store_is_back() {
        for stored_before in [false, true] {
            let mut stream = stream();
            let back = Arc::new(MemoryEventStore::new());
            if stored_before {
                // The store is away after the first event.
                stream.store = back.clone();
                stream.append_all(event("same").into(), false).await;
                stream.store = Arc::new(Away);
            }
            for text in ["same", "same", "last", "last"] {
                stream.append_all(event(text).into(), false).await;
            }
            stream.store = back;
            assert!(stream.store_unsaved().await);
            let replay = stream.store.after(stream.id(), None).await.unwrap();
            let texts = replay.events.iter();
            let texts: Vec<_> = texts
                .map(|(_, event)| str::from_utf8(&event.text).unwrap())
                .collect();
            let expected = ["same", "same", "same", "last", "last"];
            assert_eq!(texts, expected[usize::from(!stored_before)..]);
        }
    }
}
