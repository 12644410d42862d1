//! The stored event streams of calls.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use bytes::Bytes;
use mcp_core::NotificationBuffer;
use mcp_core::store::{EventStore, StoredEvent, StreamId};
use mcp_types::ProtocolVersion;
use parking_lot::{Mutex, MutexGuard};

use super::super::config::EventStorage;
use super::event_id;
use super::reader_slot::ReaderSlot;
use super::writer;
use crate::sse::encode as sse;

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
    /// Events that the store did not accept. They have no id, so only one reader gets them.
    unsaved: VecDeque<UnsavedEvent>,
    /// The handler asked the client to disconnect and to reconnect later.
    pub(super) is_released: bool,
}

/// An event that the store did not accept.
#[derive(Debug)]
struct UnsavedEvent {
    /// Number of the stored event before it.
    after: Option<u64>,
    /// The event, encoded without an id.
    encoded: Bytes,
}

impl Progress {
    /// Appends the events to `out` that the store did not accept and that come before the event
    /// `number`; without a number, all of them.
    pub(super) fn take_unsaved(&mut self, number: Option<u64>, out: &mut Vec<u8>) {
        let is_before = |event: &UnsavedEvent| number.is_none() || event.after < number;
        while self.unsaved.front().is_some_and(is_before) {
            if let Some(event) = self.unsaved.pop_front() {
                out.extend_from_slice(&event.encoded);
            }
        }
    }

    /// Returns a number before the first event of the stream. A reader that starts with the stream asks
    /// for the events after it: a store that has dropped events of other streams does not know whether
    /// this one is complete.
    pub(super) fn before_first(&self) -> Option<u64> {
        self.first_event?.checked_sub(1)
    }
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
    }

    async fn append(&self, event: StoredEvent) {
        let is_last = event.is_last;
        let stored = self.store.append(self.id(), event.clone()).await;
        if stored.is_ok() && self.streams.is_deleted() {
            // The deletion may have been earlier. A failure is in the log.
            drop(self.store.forget(&self.session).await);
        }
        let mut progress = self.progress();
        match stored {
            Ok(number) => {
                progress.first_event.get_or_insert(number);
                progress.last_event = Some(number);
            }
            Err(_) if event.text.is_empty() => {}
            Err(_) => {
                let after = progress.last_event;
                let encoded = sse::message_event(&event.text).into();
                progress.unsaved.push_back(UnsavedEvent { after, encoded });
            }
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
