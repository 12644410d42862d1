//! One live session.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use http::HeaderValue;
use mcp_core::ReplyTarget;
use mcp_core::legacy::{Session, SessionRecord};
use mcp_core::{ServerProfile, Service};
use mcp_types::RequestId;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::super::config::Config;
use super::super::in_flight::InFlight;
use super::super::kept::{Leave, Place, Streams};
use super::super::sessions::{SessionEnd, SessionEvent, Sessions};
use super::slots::Slot;
use crate::task;

/// One live session. It ends once, whoever ends it, and at the latest when it is dropped.
pub(in crate::server) struct Live {
    pub(super) id: Arc<str>,
    /// The id, as every answer has it.
    header: Option<HeaderValue>,
    /// What serves it.
    pub(super) service: Arc<dyn Service>,
    pub(super) machine: Arc<Session>,
    pub(super) calls: Arc<InFlight>,
    /// Of the reader of what belongs to no call, once one has come.
    standalone: OnceLock<Arc<Place>>,
    /// Of calls whose events are kept, once there is one.
    streams: OnceLock<Arc<Streams>>,
    pub(super) config: Arc<Config>,
    opened: Instant,
    /// What was written down last, and when.
    saved: Mutex<Option<Box<(SessionRecord, Instant)>>>,
    /// Whoever wants to know has been told that it has begun.
    is_told: AtomicBool,
    is_over: AtomicBool,
    _slot: Slot,
}

/// What serves a session, and how.
pub(super) struct Served {
    pub(super) service: Arc<dyn Service>,
    pub(super) config: Arc<Config>,
}

impl Live {
    pub(super) fn new(id: Arc<str>, of: Served, machine: Session, slot: Slot) -> Self {
        Self::at(OnceLock::new(), id, of, machine, slot)
    }

    /// A session whose reader is there already.
    pub(super) fn at(
        standalone: OnceLock<Arc<Place>>,
        id: Arc<str>,
        of: Served,
        machine: Session,
        slot: Slot,
    ) -> Self {
        Self {
            header: HeaderValue::from_str(&id).ok(),
            id,
            service: of.service,
            machine: Arc::new(machine),
            calls: Arc::new(InFlight::new(of.config.sessions.max_calls)),
            standalone,
            streams: OnceLock::new(),
            config: of.config,
            opened: Instant::now(),
            saved: Mutex::default(),
            is_told: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            _slot: slot,
        }
    }

    pub(super) fn standalone(&self) -> &Arc<Place> {
        self.standalone.get_or_init(Arc::default)
    }

    pub(super) fn streams(&self) -> &Arc<Streams> {
        self.streams.get_or_init(Arc::default)
    }

    /// Whom the answer to a request goes to, and by whom.
    pub(super) fn recipient(&self, id: &RequestId, profile: Arc<ServerProfile>) -> ReplyTarget {
        ReplyTarget {
            id: id.clone(),
            profile,
            wire: self.machine.wire(),
        }
    }

    /// What names it in answers.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        self.header.clone()
    }

    pub(super) fn sessions(&self) -> &Sessions {
        &self.config.sessions
    }

    /// What is to be written down, unless that was done.
    #[inline]
    pub(super) fn unsaved_record(&self) -> Option<SessionRecord> {
        let record = self.machine.record();
        let now = Instant::now();
        let mut saved = self.saved.lock();
        if let Some((last, since)) = saved.as_deref()
            && *last == record
            && now.duration_since(*since) < self.sessions().save_pause()
        {
            return None;
        }
        *saved = Some(Box::new((record.clone(), now)));
        Some(record)
    }

    /// Others can find it written down.
    #[inline]
    pub(super) fn is_shared(&self) -> bool {
        let saved = self.saved.lock();
        saved.is_some()
    }

    /// It is written down as it is.
    #[inline]
    pub(super) fn note_saved(&self) {
        let mut saved = self.saved.lock();
        *saved = Some(Box::new((self.machine.record(), Instant::now())));
    }

    /// When its time is up, as it looks now, and for which reason. `None` while something happens
    /// in it.
    // spec: SESS-13
    pub(super) fn deadline(&self) -> Option<(Instant, SessionEnd)> {
        let quiet_since = self.calls.quiet_since()?;
        let sessions = &self.config.sessions;
        let idle = (quiet_since + sessions.idle_timeout, SessionEnd::Idle);
        if self.machine.is_ready() {
            return Some(idle);
        }
        let never_ready = self.opened + sessions.init_timeout;
        Some(if never_ready < idle.0 {
            (never_ready, SessionEnd::NeverReady)
        } else {
            idle
        })
    }

    pub(super) fn tell_opened(&self) {
        let id = &*self.id;
        self.is_told.store(true, Ordering::Release);
        self.config.hooks.tell(SessionEvent::Opened { id });
    }

    pub(super) fn tell_continued(&self) {
        let id = &*self.id;
        self.is_told.store(true, Ordering::Release);
        self.config.hooks.tell(SessionEvent::Continued { id });
    }

    /// Stops its calls, ends its streams, gives its questions up.
    pub(super) fn end(&self, reason: SessionEnd) {
        if self.is_over.swap(true, Ordering::AcqRel) {
            return;
        }
        self.calls.end();
        self.machine.close();
        if let Some(place) = self.standalone.get() {
            place.dismiss(Leave::Ended);
        }
        // Where others share the session, it may go on there.
        if reason == SessionEnd::Deleted || self.sessions().store.is_none() {
            self.forget_events();
        }
        if self.is_told.load(Ordering::Acquire) {
            let id = &*self.id;
            self.config.hooks.tell(SessionEvent::Closed { id, reason });
        }
    }
}

impl Live {
    /// Nobody can read them any more. The store may take its time, so nobody waits for it; what
    /// it does not forget ages.
    fn forget_events(&self) {
        if let Some(events) = &self.config.events
            && Handle::try_current().is_ok()
        {
            task::spawn(events.forget(Arc::clone(&self.id)));
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.end(SessionEnd::Closed);
    }
}
