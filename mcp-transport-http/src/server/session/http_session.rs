//! One session over HTTP.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use mcp_core::deadline::finite;
use mcp_core::legacy::Session;
use mcp_core::store::SessionRecord;
use mcp_core::{ReplyTarget, Service, SessionId};
use mcp_types::RequestId;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::super::config::{Config, SessionEnd, SessionEvent, Sessions};
use super::super::replay::{self, ReaderSlot, StoredStreams};
use super::super::running_calls::{RunningCalls, StopReason};
use super::quota::{AddressBlock, SessionPermit};

/// Part of a session that the session store does not have yet.
pub(super) enum Unsaved {
    /// The state has changed.
    State(Box<SessionRecord>),
    /// The state is stored, and its lifetime has to be extended.
    Lifetime,
}

/// One session over HTTP. It ends once: when a client, the server or the expiry task ends it, and at
/// the latest when it is dropped.
pub(in crate::server) struct HttpSession {
    pub(in crate::server) id: Arc<str>,
    /// Binds the session to a part of the program, see `binding`.
    pub(in crate::server) key: Arc<str>,
    pub(in crate::server) service: Arc<dyn Service>,
    /// The session's rules and state, independent of HTTP.
    pub(in crate::server) protocol: Arc<Session>,
    pub(in crate::server) calls: Arc<RunningCalls>,
    /// Reader of the GET stream. Created when the first one connects.
    standalone_reader: OnceLock<Arc<ReaderSlot>>,
    /// Stored streams of calls. Created for the first one.
    stored_streams: OnceLock<Arc<StoredStreams>>,
    pub(in crate::server) config: Arc<Config>,
    opened_at: Instant,
    /// Last state that was saved in the session store, and the time.
    saved: Mutex<Option<Box<(SessionRecord, Instant)>>>,
    /// The hook was called for the start of the session.
    is_announced: AtomicBool,
    is_ended: AtomicBool,
    /// Shared with the session that this one replaces.
    permit: Arc<SessionPermit>,
}

impl HttpSession {
    /// Creates a session. `reader` is its reader's slot, when that is connected already.
    pub(super) fn new(
        id: Arc<str>,
        key: Arc<str>,
        protocol: Session,
        service: Arc<dyn Service>,
        config: Arc<Config>,
        permit: Arc<SessionPermit>,
        reader: Option<Arc<ReaderSlot>>,
    ) -> Self {
        protocol.set_observed_id(SessionId(Arc::clone(&id)));
        Self {
            id,
            key,
            service,
            protocol: Arc::new(protocol),
            calls: Arc::new(RunningCalls::new(config.sessions.max_calls)),
            standalone_reader: reader.map(OnceLock::from).unwrap_or_default(),
            stored_streams: OnceLock::new(),
            config,
            opened_at: Instant::now(),
            saved: Mutex::default(),
            is_announced: AtomicBool::new(false),
            is_ended: AtomicBool::new(false),
            permit,
        }
    }

    /// Creates a session with the same id, calls and streams, and a new state. Insert it with
    /// [`SessionTable::replace`](super::table::SessionTable::replace).
    pub(in crate::server) fn successor(&self, protocol: Session) -> Self {
        let mut successor = Self::new(
            Arc::clone(&self.id),
            Arc::clone(&self.key),
            protocol,
            Arc::clone(&self.service),
            Arc::clone(&self.config),
            Arc::clone(&self.permit),
            self.standalone_reader.get().cloned(),
        );
        successor.calls = Arc::clone(&self.calls);
        successor.stored_streams = self.stored_streams.clone();
        successor
    }

    /// Returns true when the session has no verified principal.
    pub(super) fn is_anonymous(&self) -> bool {
        self.permit.is_anonymous()
    }

    /// Returns the addresses whose share contains the session.
    pub(super) fn address(&self) -> Option<AddressBlock> {
        self.permit.address()
    }

    /// Returns the slot for the reader of the GET stream.
    pub(super) fn standalone_reader(&self) -> &Arc<ReaderSlot> {
        self.standalone_reader.get_or_init(Arc::default)
    }

    /// Ends the reader of the GET stream if the client has opened a later one at another server.
    pub(super) fn end_older_reader(&self, number: u64) {
        // Without a slot, no stream is open or has a number here.
        if let Some(reader) = self.standalone_reader.get() {
            reader.end_older(number);
        }
    }

    /// Ends the reader of the GET stream.
    fn end_standalone_reader(&self) {
        if let Some(reader) = self.standalone_reader.get() {
            reader.end();
        }
    }

    pub(super) fn stored_streams(&self) -> &Arc<StoredStreams> {
        self.stored_streams.get_or_init(Arc::default)
    }

    /// Returns the reply's target to the request `id`.
    pub(in crate::server) fn reply_target(&self, id: &RequestId) -> ReplyTarget {
        ReplyTarget {
            id: id.clone(),
            profile: Arc::clone(self.protocol.profile()),
            version: self.protocol.version(),
        }
    }

    pub(super) fn settings(&self) -> &Sessions {
        &self.config.sessions
    }

    /// Returns the state to store.
    pub(super) fn record(&self) -> SessionRecord {
        let mut record = self.protocol.record();
        record.key = Some((*self.key).to_owned());
        record
    }

    /// Returns what the session store does not have yet, or `None` when it is up to date.
    pub(super) fn unsaved(&self) -> Option<Unsaved> {
        let record = self.record();
        let saved = self.saved.lock();
        match saved.as_deref() {
            Some((last, _)) if *last != record => Some(Unsaved::State(Box::new(record))),
            Some((_, at)) if at.elapsed() >= self.settings().save_interval() => {
                Some(Unsaved::Lifetime)
            }
            // A session of HTTP+SSE is not in the store.
            _ => None,
        }
    }

    /// Records that the session store has this state.
    pub(super) fn mark_saved(&self, record: SessionRecord) {
        *self.saved.lock() = Some(Box::new((record, Instant::now())));
    }

    /// Records that the session store keeps the session for its whole lifetime from now on.
    pub(super) fn mark_kept(&self) {
        if let Some((_, at)) = self.saved.lock().as_deref_mut() {
            *at = Instant::now();
        }
    }

    /// Updates the session to the state that was loaded from the session store. Changes of this
    /// server that are not saved yet take precedence.
    pub(super) fn apply_stored(&self, record: SessionRecord) {
        let mut saved = self.saved.lock();
        if let Some((last, _)) = saved.as_deref_mut()
            && *last == self.record()
        {
            last.clone_from(&record);
            self.protocol.update(record);
        }
    }

    /// Returns the session's current deadline and the reason to end it then, or `None` while
    /// the session is in use.
    // spec: SESS-13
    pub(super) fn deadline(&self) -> Option<(Instant, SessionEnd)> {
        let idle_since = self.calls.idle_since()?;
        let settings = self.settings();
        let idle = (idle_since + finite(settings.idle_timeout), SessionEnd::Idle);
        if self.is_in_use() {
            return Some(idle);
        }
        let never_ready = self.opened_at + finite(settings.init_timeout);
        Some(if never_ready < idle.0 {
            (never_ready, SessionEnd::NeverReady)
        } else {
            idle
        })
    }

    /// Returns true if the client has completed the handshake, or uses the session without: some clients never
    /// send `notifications/initialized`.
    pub(super) fn is_in_use(&self) -> bool {
        self.protocol.is_ready() || self.calls.is_used()
    }

    /// Calls the hook: a client opened the session.
    pub(in crate::server) fn announce_opened(&self) {
        let id = &*self.id;
        self.announce(SessionEvent::Opened { id });
    }

    /// Calls the hook: a client continued a session from the session store.
    pub(super) fn announce_continued(&self) {
        let id = &*self.id;
        self.announce(SessionEvent::Continued { id });
    }

    fn announce(&self, event: SessionEvent<'_>) {
        self.is_announced.store(true, Ordering::Release);
        self.config.notify_session_hook(event);
    }

    /// Returns true after the end of the session.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Acquire)
    }

    /// Stops the session's calls, ends its streams and cancels its requests to the client.
    pub(super) fn end(&self, reason: SessionEnd) {
        if self.is_ended.swap(true, Ordering::AcqRel) {
            return;
        }
        self.permit.release();
        self.calls.end(match reason {
            // spec: SESS-07
            SessionEnd::Deleted => StopReason::SessionDeleted,
            _ => StopReason::SessionEnded,
        });
        self.protocol.close();
        self.end_standalone_reader();
        // A session in a shared store may continue on another server.
        if reason == SessionEnd::Deleted || self.settings().store.is_none() {
            self.delete_events();
        }
        self.announce_closed(reason);
    }

    /// Ends the session's state after a successor has replaced it. Its requests to the client fail,
    /// and its calls continue.
    pub(in crate::server) fn end_replaced(&self) {
        if !self.is_ended.swap(true, Ordering::AcqRel) {
            self.protocol.close();
            self.announce_closed(SessionEnd::Replaced);
        }
    }

    fn announce_closed(&self, reason: SessionEnd) {
        if self.is_announced.load(Ordering::Acquire) {
            let id = &*self.id;
            let event = SessionEvent::Closed { id, reason };
            self.config.notify_session_hook(event);
        }
    }

    /// Deletes the stored events in a task.
    fn delete_events(&self) {
        if let Some(storage) = &self.config.events {
            self.stored_streams().mark_deleted();
            replay::delete_events(storage, &self.id);
        }
    }

    /// Returns true when the stored events are being deleted. An event that was stored meanwhile must be
    /// deleted by its writer.
    pub(super) fn has_deleted_events(&self) -> bool {
        let streams = self.stored_streams.get();
        streams.is_some_and(|streams| streams.is_deleted())
    }
}

impl Drop for HttpSession {
    fn drop(&mut self) {
        self.end(SessionEnd::Closed);
    }
}
