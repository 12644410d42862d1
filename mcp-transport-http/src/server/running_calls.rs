//! The running calls of a session. The client can cancel a call by its id, and a session with a
//! running call is not idle.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcp_core::Fault;
use mcp_types::RequestId;
use parking_lot::Mutex;
use tokio::time::Instant;

/// The wait of a client whose session has too many running calls.
const CALL_WAIT: Duration = Duration::from_secs(1);

/// The running calls of a session, and everything else that keeps the session alive.
#[derive(Debug)]
pub(super) struct RunningCalls {
    limit: usize,
    state: Mutex<CallTable>,
}

#[derive(Debug)]
struct CallTable {
    /// Few calls run at the same time, so a vector is searched.
    calls: Vec<Entry>,
    /// Number of running calls and open streams.
    active: usize,
    last_activity: Instant,
    /// The client has sent a message.
    is_used: bool,
    is_ended: bool,
    /// Cancellations of calls that have not arrived. Allocated for the first one.
    early: Option<Box<EarlyCancellations>>,
}

/// Cancellations that arrived before their calls. A client sends both in POST requests, and the
/// network may reorder them. They are kept for a short time, and only the newest ones.
#[derive(Debug, Default)]
struct EarlyCancellations(VecDeque<(RequestId, Instant)>);

impl EarlyCancellations {
    /// Time in which the call has to arrive.
    const LIFETIME: Duration = Duration::from_secs(5);
    const MAX: usize = 16;
    const MAX_ID_LEN: usize = 256;

    fn add(&mut self, id: &RequestId) {
        if matches!(id, RequestId::String(id) if id.len() > Self::MAX_ID_LEN) {
            return;
        }
        if self.0.len() >= Self::MAX {
            self.0.pop_front();
        }
        self.0.push_back((id.clone(), Instant::now()));
    }

    /// Removes the cancellation of a call. Returns whether there was one.
    fn take(&mut self, id: &RequestId) -> bool {
        self.0.retain(|(_, at)| at.elapsed() < Self::LIFETIME);
        let index = self.0.iter().position(|(early, _)| early == id);
        index.and_then(|index| self.0.remove(index)).is_some()
    }
}

/// A running call.
#[derive(Debug)]
struct Entry {
    id: RequestId,
    stop_reason: Option<StopReason>,
    /// The task that waits for `stop_reason`.
    waker: Option<Waker>,
}

impl Entry {
    /// Stops the call. Returns the task to wake. Only the first reason is kept.
    fn stop(&mut self, reason: StopReason) -> Option<Waker> {
        self.stop_reason.get_or_insert(reason);
        self.waker.take()
    }
}

impl CallTable {
    fn end_activity(&mut self) {
        self.active = self.active.saturating_sub(1);
        self.last_activity = Instant::now();
    }

    fn call(&mut self, id: &RequestId) -> Option<&mut Entry> {
        self.calls.iter_mut().find(|entry| entry.id == *id)
    }
}

/// Reason to stop a call before its reply. Two of them are ends of the session with different answers: who has
/// deleted the session expects no reply, so the stream is empty; a client whose server ends the session
/// gets 404, and opens another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopReason {
    /// The client cancelled the call.
    Cancelled,
    /// The client deleted the session.
    SessionDeleted,
    /// The session ended for another reason.
    SessionEnded,
}

impl RunningCalls {
    /// Creates an empty set for at most `limit` calls.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::new(CallTable {
                calls: Vec::new(),
                active: 0,
                last_activity: Instant::now(),
                is_used: false,
                is_ended: false,
                early: None,
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
        if state.call(id).is_some() {
            let message = "a request with this id is running already; give each one its own";
            return Err(Fault::InvalidRequest(message.into()));
        }
        if running >= self.limit {
            let message = format!("this session has {running} running calls already; let some end");
            return Err(Fault::rate_limited(message, CALL_WAIT));
        }
        let is_cancelled = state.early.as_mut().is_some_and(|early| early.take(id));
        state.calls.push(Entry {
            id: id.clone(),
            stop_reason: None,
            waker: None,
        });
        state.active += 1;
        state.is_used = true;
        Ok(CallPermit {
            id: id.clone(),
            calls: Arc::clone(self),
            is_cancelled,
        })
    }

    /// Keeps the session alive until the guard is dropped.
    pub(super) fn keep_alive(self: &Arc<Self>) -> ActivityGuard {
        self.state.lock().active += 1;
        ActivityGuard(Arc::clone(self))
    }

    /// Records a message of the client that is handled at once.
    pub(super) fn record_activity(&self) {
        let mut state = self.state.lock();
        state.last_activity = Instant::now();
        state.is_used = true;
    }

    /// Stops the call `id` because the client cancelled it. If there is no such call, it has ended or
    /// is still to arrive.
    // spec: CAN-05, CAN-07
    pub(super) fn cancel(&self, id: &RequestId) {
        let mut state = self.state.lock();
        let waker = match state.call(id) {
            Some(call) => call.stop(StopReason::Cancelled),
            None => {
                state.early.get_or_insert_default().add(id);
                None
            }
        };
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Stops all calls for `reason` and rejects further ones.
    pub(super) fn end(&self, reason: StopReason) {
        let mut state = self.state.lock();
        state.is_ended = true;
        let calls = state.calls.iter_mut();
        let wakers: Vec<_> = calls.filter_map(|call| call.stop(reason)).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns true if the client has sent a message since the session was opened.
    pub(super) fn is_used(&self) -> bool {
        self.state.lock().is_used
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
        self.0.state.lock().end_activity();
    }
}

/// Entry of a call in [`RunningCalls`], removed when it is dropped. As a future it waits until the
/// call must stop.
#[derive(Debug)]
pub(super) struct CallPermit {
    id: RequestId,
    calls: Arc<RunningCalls>,
    is_cancelled: bool,
}

impl CallPermit {
    /// Returns true when the client cancelled the call before it arrived. The call must not start, and
    /// has no reply.
    // spec: CAN-04
    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }
}

impl Future for CallPermit {
    type Output = StopReason;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<StopReason> {
        let mut state = self.calls.state.lock();
        let Some(call) = state.call(&self.id) else {
            return Poll::Pending;
        };
        match call.stop_reason {
            Some(reason) => Poll::Ready(reason),
            None => {
                call.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        let mut state = self.calls.state.lock();
        state.end_activity();
        if let Some(index) = state.calls.iter().position(|call| call.id == self.id) {
            state.calls.swap_remove(index);
        }
    }
}
