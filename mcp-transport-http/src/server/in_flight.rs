//! The running calls of one client: found by their ids, so that it can stop them; counted, so that
//! nobody takes it for gone while one runs.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mcp_core::Fault;
use mcp_types::RequestId;
use parking_lot::Mutex;
use tokio::time::Instant;

/// The running calls of one client, and everything else that keeps its session alive.
#[derive(Debug)]
pub(super) struct InFlight {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    running: Vec<InFlightCall>,
    /// Running calls and open streams.
    holds: usize,
    quiet_since: Instant,
    ended: bool,
}

#[derive(Debug)]
struct InFlightCall {
    id: RequestId,
    /// Why it must not go on. The first reason stands.
    stopped: Option<Stopped>,
    /// Of whoever works on it.
    waker: Option<Waker>,
}

/// Why a call does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// Its client waits no longer.
    Cancelled,
    /// Its session has ended.
    Ended,
}

impl InFlightCall {
    /// Returns whom to wake; not under the lock, which the woken may take.
    fn stop(&mut self, why: Stopped) -> Option<Waker> {
        self.stopped.get_or_insert(why);
        self.waker.take()
    }
}

impl InFlight {
    /// No call yet; `limit` of them at a time.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::new(State {
                running: Vec::new(),
                holds: 0,
                quiet_since: Instant::now(),
                ended: false,
            }),
        }
    }

    /// A call begins.
    // spec: BASE-04
    pub(super) fn begin(self: &Arc<Self>, id: &RequestId) -> Result<Ticket, Fault> {
        let mut state = self.state.lock();
        if state.ended {
            return Err(ended());
        }
        if state.find(id).is_some() {
            let message = "a request with this id is running already; give each one its own";
            return Err(Fault::InvalidRequest(message.into()));
        }
        if state.running.len() >= self.limit {
            let limit = self.limit;
            let message = format!("this session has {limit} running calls already; let some end");
            return Err(Fault::Refused(message.into()));
        }
        state.running.push(InFlightCall {
            id: id.clone(),
            stopped: None,
            waker: None,
        });
        state.holds += 1;
        Ok(Ticket {
            calls: Arc::clone(self),
            id: id.clone(),
        })
    }

    /// Something else begins that keeps the session alive.
    pub(super) fn hold(self: &Arc<Self>) -> Hold {
        self.state.lock().holds += 1;
        Hold(Arc::clone(self))
    }

    /// The client has said something that is done at once.
    pub(super) fn note_sign(&self) {
        self.state.lock().quiet_since = Instant::now();
    }

    /// The client waits no longer for this call. An unknown one has ended already.
    // spec: CAN-05, CAN-07
    pub(super) fn cancel(&self, id: &RequestId) {
        let mut state = self.state.lock();
        let waker = state
            .find(id)
            .and_then(|call| call.stop(Stopped::Cancelled));
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Ends them all, and no other begins.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        let running = state.running.iter_mut();
        let wakers: Vec<_> = running
            .filter_map(|call| call.stop(Stopped::Ended))
            .collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Since when nothing happens; `None` while something does.
    pub(super) fn quiet_since(&self) -> Option<Instant> {
        let state = self.state.lock();
        (state.holds == 0).then_some(state.quiet_since)
    }
}

/// What a call of an ended session is told.
pub(super) fn ended() -> Fault {
    Fault::Refused("the session has ended".into())
}

/// Keeps a session alive.
#[derive(Debug)]
pub(super) struct Hold(Arc<InFlight>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.state.lock().let_go();
    }
}

impl State {
    /// The room of so many calls is kept for the next ones.
    const KEPT: usize = 4;

    fn remove(&mut self, id: &RequestId) {
        let place = self.running.iter().position(|call| call.id == *id);
        place.map(|place| self.running.swap_remove(place));
        if self.running.is_empty() {
            self.running.shrink_to(Self::KEPT);
        }
    }

    fn find(&mut self, id: &RequestId) -> Option<&mut InFlightCall> {
        self.running.iter_mut().find(|call| call.id == *id)
    }

    fn let_go(&mut self) {
        self.holds = self.holds.saturating_sub(1);
        self.quiet_since = Instant::now();
    }
}

/// A running call in the table; it leaves when this is dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    calls: Arc<InFlight>,
    id: RequestId,
}

impl Ticket {
    /// Ready when the call must not go on.
    pub(super) fn poll_stopped(&self, cx: &Context<'_>) -> Poll<Stopped> {
        let mut state = self.calls.state.lock();
        let Some(call) = state.find(&self.id) else {
            return Poll::Pending;
        };
        if let Some(why) = call.stopped {
            return Poll::Ready(why);
        }
        match &mut call.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            waker => *waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.calls.state.lock();
        state.remove(&self.id);
        state.let_go();
    }
}
