//! The running calls of a session. The client can cancel a call by its id, and a session with a
//! running call is not idle.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcp_core::Fault;
use mcp_core::close_signal::{CloseSignal, Closed};
use mcp_types::RequestId;
use parking_lot::Mutex;
use tokio::time::Instant;

/// The running calls of a session, and everything else that keeps the session alive.
#[derive(Debug)]
pub(super) struct RunningCalls {
    limit: usize,
    state: Mutex<CallTable>,
}

#[derive(Debug)]
struct CallTable {
    calls: BTreeMap<RequestId, CloseSignal<StopReason>>,
    /// Number of running calls and open streams.
    active: usize,
    last_activity: Instant,
    is_ended: bool,
}

/// Reason to stop a call before its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopReason {
    /// The client cancelled the call.
    Cancelled,
    /// The session ended.
    SessionEnded,
}

impl RunningCalls {
    /// Creates an empty set for at most `limit` calls.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::new(CallTable {
                calls: BTreeMap::new(),
                active: 0,
                last_activity: Instant::now(),
                is_ended: false,
            }),
        }
    }

    /// Adds a call.
    ///
    /// # Errors
    ///
    /// Returns a fault when the session has ended, when `id` is in use, or when the limit is
    /// reached.
    // spec: BASE-04
    pub(super) fn insert(self: &Arc<Self>, id: &RequestId) -> Result<CallPermit, Fault> {
        let mut state = self.state.lock();
        let running = state.calls.len();
        if state.is_ended {
            return Err(session_ended());
        }
        let Entry::Vacant(entry) = state.calls.entry(id.clone()) else {
            let message = "a request with this id is running already; give each one its own";
            return Err(Fault::InvalidRequest(message.into()));
        };
        if running >= self.limit {
            let message = format!("this session has {running} running calls already; let some end");
            return Err(Fault::Refused(message.into()));
        }
        let stopped = entry.insert(CloseSignal::default()).closed();
        state.active += 1;
        Ok(CallPermit {
            stopped,
            id: id.clone(),
            _activity: ActivityGuard(Arc::clone(self)),
        })
    }

    /// Keeps the session alive until the guard is dropped.
    pub(super) fn keep_alive(self: &Arc<Self>) -> ActivityGuard {
        self.state.lock().active += 1;
        ActivityGuard(Arc::clone(self))
    }

    /// Records a message of the client that is handled at once.
    pub(super) fn record_activity(&self) {
        self.state.lock().last_activity = Instant::now();
    }

    /// Stops the call `id` because the client cancelled it. A call that has ended is ignored.
    // spec: CAN-05, CAN-07
    pub(super) fn cancel(&self, id: &RequestId) {
        let signal = self.state.lock().calls.get(id).cloned();
        if let Some(signal) = signal {
            signal.close(StopReason::Cancelled);
        }
    }

    /// Stops all calls and rejects further ones.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.is_ended = true;
        let signals: Vec<_> = state.calls.values().cloned().collect();
        drop(state);
        for signal in signals {
            signal.close(StopReason::SessionEnded);
        }
    }

    /// Returns the time of the last activity, or `None` while a call runs or a stream is open.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state.lock();
        (state.active == 0).then_some(state.last_activity)
    }
}

/// Returns the fault of a call whose session has ended.
pub(super) fn session_ended() -> Fault {
    Fault::Refused("the session has ended".into())
}

/// Keeps a session alive until it is dropped.
#[derive(Debug)]
pub(super) struct ActivityGuard(Arc<RunningCalls>);

impl Drop for ActivityGuard {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.active = state.active.saturating_sub(1);
        state.last_activity = Instant::now();
    }
}

/// Entry of a call in [`RunningCalls`], removed when it is dropped. As a future it waits until the
/// call must stop.
#[derive(Debug)]
pub(super) struct CallPermit {
    stopped: Closed<StopReason>,
    id: RequestId,
    _activity: ActivityGuard,
}

impl Future for CallPermit {
    type Output = StopReason;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<StopReason> {
        Pin::new(&mut self.stopped).poll(cx)
    }
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        self._activity.0.state.lock().calls.remove(&self.id);
    }
}
