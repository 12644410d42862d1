//! Streams of calls whose events are kept: the call's task writes into the store, a reader reads
//! out of it. Readers come and go; the call does not notice.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use bytes::Bytes;
use mcp_core::NotificationBuffer;
use mcp_core::store::{EventStore, StoredEvent, StreamId};
use mcp_core::wire::Wire;
use parking_lot::{Mutex, MutexGuard};

use super::events::{self, Events};
use super::place::Place;

/// The streams of a session that are written or read here.
#[derive(Debug, Default)]
pub(in crate::server) struct Streams {
    last: AtomicU64,
    by_name: Mutex<HashMap<Box<str>, Weak<Stream>>>,
}

impl Streams {
    /// A stream for a call. Nothing is stored before it has something to say.
    #[inline]
    pub(super) fn open(self: &Arc<Self>, events: &Events, session: Arc<str>) -> Arc<Stream> {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let name: Box<str> = format!("{}-{number}", events.tag).into();
        let stream = Arc::new(Stream {
            store: Arc::clone(&events.store),
            session,
            name: name.clone(),
            place: Arc::default(),
            tail: Mutex::default(),
            streams: Arc::clone(self),
        });
        self.by_name.lock().insert(name, Arc::downgrade(&stream));
        stream
    }

    #[inline]
    pub(super) fn find(&self, name: &str) -> Option<Arc<Stream>> {
        self.by_name.lock().get(name)?.upgrade()
    }
}

/// The stream of a call.
pub(super) struct Stream {
    pub(super) store: Arc<dyn EventStore>,
    session: Arc<str>,
    pub(super) name: Box<str>,
    pub(super) place: Arc<Place>,
    tail: Mutex<Tail>,
    streams: Arc<Streams>,
}

/// What its reader has to know.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// The number of the last event.
    pub(super) end: Option<u64>,
    /// There is no other.
    pub(super) is_over: bool,
    /// Frames that the store did not take: they have no id, and only one reader gets them.
    pub(super) unsaved: Vec<u8>,
    /// The reader is to go, and to come again.
    pub(super) is_released: bool,
}

impl Stream {
    #[inline]
    pub(super) fn id(&self) -> StreamId<'_> {
        StreamId::new(&self.session, &self.name)
    }

    #[inline]
    pub(super) fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock()
    }

    /// Gives the client an id to come again with, if it knows such: the first event carries nothing
    /// else.
    // spec: RSM-05
    #[inline]
    pub(super) async fn prime(&self, wire: &dyn Wire) {
        if wire.version().has_stream_polling() {
            self.append(StoredEvent::new(Bytes::new())).await;
        }
    }

    /// Keeps framed messages; `ends` when the last one of them is the last one of all.
    #[inline]
    pub(super) async fn write(&self, frames: Bytes, ends: bool) {
        let mut texts = events::texts(frames).peekable();
        while let Some(text) = texts.next() {
            let event = StoredEvent::new(text);
            let is_last = ends && texts.peek().is_none();
            self.append(if is_last { event.last() } else { event })
                .await;
        }
    }

    /// Keeps what a call says, until it has said everything.
    #[inline]
    pub(super) async fn write_on(&self, first: Bytes, notes: Arc<NotificationBuffer>) {
        self.write(first, false).await;
        while let Some(frames) = std::future::poll_fn(|cx| notes.poll_drain(cx)).await {
            self.write(frames, notes.is_finished()).await;
        }
        if !self.tail().is_over {
            // The call has no answer.
            self.append(StoredEvent::new(Bytes::new()).last()).await;
        }
    }

    #[inline]
    async fn append(&self, event: StoredEvent) {
        let is_over = event.is_last;
        let kept = self.store.append(self.id(), event.clone()).await;
        let mut tail = self.tail();
        match kept {
            Ok(number) => tail.end = Some(number),
            Err(_) if event.text.is_empty() => {}
            Err(_) => tail.unsaved.extend(events::without_id(&event.text)),
        }
        tail.is_over |= is_over;
        drop(tail);
        self.place.wake();
    }
}

impl Drop for Stream {
    #[inline]
    fn drop(&mut self) {
        self.streams.by_name.lock().remove(&self.name);
    }
}

impl std::fmt::Debug for Stream {
    #[inline]
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("name", &self.name)
            .field("tail", &self.tail)
            .finish_non_exhaustive()
    }
}
