//! One live session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_core::Service;
use mcp_core::legacy::Session;
use tokio::time::Instant;

use super::super::config::Config;
use super::super::in_flight::InFlight;
use super::super::sessions::{SessionEnd, SessionEvent};
use super::place::{Leave, Place};
use super::table::Slot;

/// One live session. It ends once, whoever ends it, and at the latest when it is dropped.
pub(super) struct Live {
    pub(super) id: Arc<str>,
    /// What serves it.
    pub(super) service: Arc<dyn Service>,
    pub(super) machine: Arc<Session>,
    pub(super) calls: Arc<InFlight>,
    /// Of the reader of what belongs to no call.
    pub(super) standalone: Arc<Place>,
    config: Arc<Config>,
    opened: Instant,
    is_over: AtomicBool,
    _slot: Slot,
}

impl Live {
    pub(super) fn new(
        id: Arc<str>,
        service: Arc<dyn Service>,
        machine: Session,
        config: Arc<Config>,
        slot: Slot,
    ) -> Self {
        Self {
            id,
            service,
            machine: Arc::new(machine),
            calls: Arc::new(InFlight::new(config.sessions.max_calls)),
            standalone: Arc::default(),
            config,
            opened: Instant::now(),
            is_over: AtomicBool::new(false),
            _slot: slot,
        }
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

    pub(super) fn begin(&self) {
        let id = &*self.id;
        self.config.hooks.tell(SessionEvent::Opened { id });
    }

    /// Stops its calls, ends its streams, gives its questions up.
    pub(super) fn end(&self, reason: SessionEnd) {
        if self.is_over.swap(true, Ordering::AcqRel) {
            return;
        }
        self.calls.end();
        self.machine.close();
        self.standalone.dismiss(Leave::Ended);
        let id = &*self.id;
        self.config.hooks.tell(SessionEvent::Closed { id, reason });
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.end(SessionEnd::Closed);
    }
}
