//! The running calls of one client: found by their ids, so that it can stop them; counted, so that
//! nobody takes it for gone while one runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use mcp_core::Fault;
use mcp_core::locks::Mutex;
use mcp_types::RequestId;
use tokio::time::Instant;

/// The running calls of one client, and everything else that keeps its session alive.
#[derive(Debug)]
pub(super) struct InFlight {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    running: Vec<(RequestId, Arc<Stop>)>,
    /// Running calls and open streams.
    holds: usize,
    quiet_since: Instant,
    ended: bool,
}

/// Why a call does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// Its client waits no longer.
    Cancelled,
    /// Its session has ended.
    Ended,
}

#[derive(Debug, Default)]
struct Stop {
    /// [`CANCELLED`] or [`ENDED`]; 0 while the call may go on.
    why: AtomicU8,
    waker: AtomicWaker,
}

const CANCELLED: u8 = 1;
const ENDED: u8 = 2;

impl Stop {
    fn stop(&self, why: u8) {
        // The first reason stands.
        let _ = self
            .why
            .compare_exchange(0, why, Ordering::Release, Ordering::Relaxed);
        self.waker.wake();
    }

    fn why(&self) -> Option<Stopped> {
        match self.why.load(Ordering::Acquire) {
            CANCELLED => Some(Stopped::Cancelled),
            ENDED => Some(Stopped::Ended),
            _ => None,
        }
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
        let stop = Arc::<Stop>::default();
        state.running.push((id.clone(), Arc::clone(&stop)));
        state.holds += 1;
        Ok(Ticket {
            calls: Arc::clone(self),
            id: id.clone(),
            stop,
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
        let stop = self.state.lock().find(id).cloned();
        if let Some(stop) = stop {
            stop.stop(CANCELLED);
        }
    }

    /// Ends them all, and no other begins.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        let running = state.running.clone();
        drop(state);
        for (_, stop) in running {
            stop.stop(ENDED);
        }
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
        let place = self.running.iter().position(|(it, _)| it == id);
        place.map(|place| self.running.swap_remove(place));
        if self.running.is_empty() {
            self.running.shrink_to(Self::KEPT);
        }
    }

    fn find(&self, id: &RequestId) -> Option<&Arc<Stop>> {
        let mut running = self.running.iter();
        running.find(|(it, _)| it == id).map(|(_, stop)| stop)
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
    stop: Arc<Stop>,
}

impl Ticket {
    /// Ready when the call must not go on.
    pub(super) fn poll_stopped(&self, cx: &Context<'_>) -> Poll<Stopped> {
        self.stop.waker.register(cx.waker());
        match self.stop.why() {
            Some(why) => Poll::Ready(why),
            None => Poll::Pending,
        }
    }

    /// Why the call must not go on.
    pub(super) fn stopped(&self) -> Option<Stopped> {
        self.stop.why()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.calls.state.lock();
        state.remove(&self.id);
        state.let_go();
    }
}
