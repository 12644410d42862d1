//! One session over HTTP.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use http::HeaderValue;
use mcp_core::legacy::{Session, SessionRecord};
use mcp_core::{ReplyTarget, Service};
use mcp_types::RequestId;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::super::config::{Config, SessionEnd, SessionEvent, Sessions};
use super::super::replay::{ReaderSlot, StoredStreams};
use super::super::running_calls::RunningCalls;
use super::quota::SessionPermit;

/// One session over HTTP. It ends once: when a client, the server or the expiry task ends it, and at
/// the latest when it is dropped.
pub(in crate::server) struct HttpSession {
    pub(in crate::server) id: Arc<str>,
    /// The id as a header value.
    id_header: Option<HeaderValue>,
    pub(in crate::server) service: Arc<dyn Service>,
    /// Rules and state of the session, independent of HTTP.
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
    _permit: SessionPermit,
}

impl HttpSession {
    /// Creates a session. `reader` is the slot of its reader, when that is connected already.
    pub(super) fn new(
        id: Arc<str>,
        protocol: Session,
        service: Arc<dyn Service>,
        config: Arc<Config>,
        permit: SessionPermit,
        reader: Option<Arc<ReaderSlot>>,
    ) -> Self {
        Self {
            id_header: HeaderValue::from_str(&id).ok(),
            id,
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
            _permit: permit,
        }
    }

    /// Returns the slot for the reader of the GET stream.
    pub(super) fn standalone_reader(&self) -> &Arc<ReaderSlot> {
        self.standalone_reader.get_or_init(Arc::default)
    }

    pub(super) fn stored_streams(&self) -> &Arc<StoredStreams> {
        self.stored_streams.get_or_init(Arc::default)
    }

    /// Returns the target of the reply to the request `id`.
    pub(in crate::server) fn reply_target(&self, id: &RequestId) -> ReplyTarget {
        ReplyTarget {
            id: id.clone(),
            profile: Arc::clone(self.protocol.profile()),
            wire: self.protocol.wire(),
        }
    }

    /// Returns the session id as a header value.
    pub(super) fn id_header(&self) -> Option<HeaderValue> {
        self.id_header.clone()
    }

    pub(super) fn settings(&self) -> &Sessions {
        &self.config.sessions
    }

    /// Returns the state to save, or `None` when the same state was saved recently.
    pub(super) fn unsaved_record(&self) -> Option<SessionRecord> {
        let record = self.protocol.record();
        let now = Instant::now();
        let mut saved = self.saved.lock();
        if let Some((last, at)) = saved.as_deref()
            && *last == record
            && now.duration_since(*at) < self.settings().save_interval()
        {
            return None;
        }
        *saved = Some(Box::new((record.clone(), now)));
        Some(record)
    }

    /// Returns true when the session is in the session store.
    pub(super) fn is_saved(&self) -> bool {
        self.saved.lock().is_some()
    }

    /// Records that the session store has the current state.
    pub(super) fn mark_saved(&self) {
        *self.saved.lock() = Some(Box::new((self.protocol.record(), Instant::now())));
    }

    /// Returns the current deadline of the session and the reason to end it then, or `None` while
    /// the session is in use.
    // spec: SESS-13
    pub(super) fn deadline(&self) -> Option<(Instant, SessionEnd)> {
        let idle_since = self.calls.idle_since()?;
        let settings = self.settings();
        let idle = (idle_since + settings.idle_timeout, SessionEnd::Idle);
        if self.protocol.is_ready() {
            return Some(idle);
        }
        let never_ready = self.opened_at + settings.init_timeout;
        Some(if never_ready < idle.0 {
            (never_ready, SessionEnd::NeverReady)
        } else {
            idle
        })
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

    /// Stops the calls of the session, ends its streams and cancels its requests to the client.
    pub(super) fn end(&self, reason: SessionEnd) {
        if self.is_ended.swap(true, Ordering::AcqRel) {
            return;
        }
        self.calls.end();
        self.protocol.close();
        if let Some(reader) = self.standalone_reader.get() {
            reader.end();
        }
        // A session in a shared store may continue on another server.
        if reason == SessionEnd::Deleted || self.settings().store.is_none() {
            self.delete_events();
        }
        if self.is_announced.load(Ordering::Acquire) {
            let id = &*self.id;
            let event = SessionEvent::Closed { id, reason };
            self.config.notify_session_hook(event);
        }
    }

    /// Deletes the stored events in a task. Events that cannot be deleted expire in the store.
    fn delete_events(&self) {
        if let Some(storage) = &self.config.events
            && Handle::try_current().is_ok()
        {
            let (store, id) = (Arc::clone(&storage.store), Arc::clone(&self.id));
            tokio::spawn(async move { drop(store.forget(&id).await) });
        }
    }
}

impl Drop for HttpSession {
    fn drop(&mut self) {
        self.end(SessionEnd::Closed);
    }
}
