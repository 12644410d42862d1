//! A stream of events: a task works on the call, a body carries what it says.
//!
//! Between the two stands one bounded buffer, which the body empties whole into one frame.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use mcp_core::{Fault, NotificationBuffer};
use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep, sleep};
use tracing::Instrument;

use super::call::{Call, Outcome, encode_event, new_buffer};
use super::config::{Config, Streams};
use crate::Shutdown;
use crate::sse::encode as sse;
use crate::task;

/// How long a reader may take nothing before reports of progress stop waiting for it.
const STALL_AFTER: Duration = Duration::from_secs(1);

/// What task and body share.
#[derive(Debug)]
struct Pipe {
    notes: Arc<NotificationBuffer>,
    /// How often the body has taken something.
    takes: AtomicUsize,
}

impl Pipe {
    fn of(call: &Call) -> Arc<Self> {
        let notes = call.running.notifications().map(Arc::clone);
        Arc::new(Self {
            notes: notes.unwrap_or_else(|| Arc::new(new_buffer(call.to().wire))),
            takes: AtomicUsize::new(0),
        })
    }
}

/// Moves `call` into a task of its own, where `keep` takes what it says.
pub(super) fn start_kept<K: Future<Output = ()> + Send + 'static>(
    call: Call,
    config: &Config,
    keep: impl FnOnce(Arc<NotificationBuffer>) -> K,
) {
    let pipe = Pipe::of(&call);
    let kept = keep(Arc::clone(&pipe.notes));
    let work = work(call, pipe, config.streams, config.ended_by());
    let work = async move {
        task::join_all(vec![Box::pin(work), Box::pin(kept)]).await;
    };
    task::spawn(work.in_current_span());
}

/// What becomes of a call whose reader goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// It is cancelled.
    // spec: HTTP-SM-15, HTTP-SM-16
    Cancels,
    /// It goes on: only a message of its client cancels it.
    // spec: HTTP-SL-07
    CancelsNothing,
}

/// Moves `call` into a task of its own and returns the events that it makes, from `first` on.
pub(super) fn start(call: Call, first: Bytes, config: &Config, leaving: Leaving) -> Events {
    let pipe = Pipe::of(&call);
    // What the handler tells `tracing` from here on stays in the span of its request.
    let work = work(call, Arc::clone(&pipe), config.streams, config.ended_by());
    let task = task::spawn(work.in_current_span());
    // Proxies may hold the head back until they see a byte of the body.
    let first = if first.is_empty() {
        Bytes::from_static(sse::COMMENT)
    } else {
        first
    };
    Events {
        first,
        pipe,
        task: task.abort_handle(),
        leaving,
        ping: Ping::new(config.streams.ping_interval),
        done: false,
    }
}

/// Works on the call until it is answered, and writes the answer.
async fn work(call: Call, pipe: Arc<Pipe>, streams: Streams, shutdown: Option<Shutdown>) {
    let mut desk = Desk {
        call,
        pipe,
        answered: false,
    };
    let outcome = desk.outcome(streams, shutdown).await;
    desk.finish(outcome);
}

struct Desk {
    call: Call,
    pipe: Arc<Pipe>,
    answered: bool,
}

impl Desk {
    /// What becomes of the call.
    async fn outcome(&mut self, streams: Streams, shutdown: Option<Shutdown>) -> Outcome {
        let mut unsupported_legacy = pin!(after(streams.max_age));
        let mut closed = pin!(async move {
            match shutdown {
                Some(shutdown) => shutdown.closed().await,
                None => std::future::pending().await,
            }
        });
        let mut reader = ReaderWatch::default();
        std::future::poll_fn(|cx| {
            if let Poll::Ready(outcome) = self.call.poll(cx) {
                return Poll::Ready(outcome);
            }
            if unsupported_legacy.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Outcome::Reply(Fault::Deadline.into()));
            }
            if closed.as_mut().poll(cx).is_ready() {
                let fault = Fault::Refused("the server is shutting down".into());
                return Poll::Ready(Outcome::Reply(fault.into()));
            }
            reader.poll(cx, &self.pipe);
            Poll::Pending
        })
        .await
    }

    // spec: HTTP-SM-14
    fn finish(&mut self, outcome: Outcome) {
        self.answered = true;
        self.call.running.close();
        let text = outcome
            .reply()
            .map(|reply| encode_event(self.call.to(), reply, Vec::new()).into_bytes());
        self.pipe.notes.finish(&text.unwrap_or_default());
    }
}

/// The last resort: if the task ends without an answer, the stream ends with an error instead of
/// never.
impl Drop for Desk {
    fn drop(&mut self) {
        if !self.answered {
            let fault = Fault::internal("internal error");
            self.finish(Outcome::Reply(fault.into()));
        }
    }
}

pub(super) async fn after(time: Option<Duration>) {
    match time {
        Some(time) => sleep(time).await,
        None => std::future::pending().await,
    }
}

/// Looks whether the reader takes anything while a report waits for it.
#[derive(Default)]
struct ReaderWatch {
    /// Since how many takes, and until when.
    waiting: Option<(usize, Pin<Box<Sleep>>)>,
}

impl ReaderWatch {
    fn poll(&mut self, cx: &mut Context<'_>, pipe: &Pipe) {
        while pipe.notes.poll_blocked_writer(cx).is_ready() {
            let takes = pipe.takes.load(Ordering::Relaxed);
            match &mut self.waiting {
                Some((before, timer)) if *before == takes => {
                    if timer.as_mut().poll(cx).is_pending() {
                        return;
                    }
                    pipe.notes.mark_stalled();
                }
                _ => self.waiting = Some((takes, Box::pin(sleep(STALL_AFTER)))),
            }
        }
        self.waiting = None;
    }
}

/// The body's side of a stream.
#[derive(Debug)]
pub(super) struct Events {
    first: Bytes,
    pipe: Arc<Pipe>,
    task: AbortHandle,
    leaving: Leaving,
    ping: Ping,
    done: bool,
}

impl Events {
    pub(super) fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.done {
            return Poll::Ready(None);
        }
        if !self.first.is_empty() {
            return Poll::Ready(Some(std::mem::take(&mut self.first)));
        }
        let Poll::Ready(taken) = self.pipe.notes.poll_drain(cx) else {
            ready!(self.ping.poll(cx));
            return Poll::Ready(Some(Bytes::from_static(sse::PING)));
        };
        self.pipe.takes.fetch_add(1, Ordering::Relaxed);
        self.ping.postpone();
        self.done = taken.is_none();
        Poll::Ready(taken)
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }
}

/// Whoever drops the body has gone away.
impl Drop for Events {
    fn drop(&mut self) {
        if self.leaving == Leaving::Cancels {
            self.task.abort();
        }
        self.pipe.notes.close();
    }
}

/// A timer that goes off after a stretch of silence. What is sent only notes the time; the timer
/// itself is set again when it goes off too early.
// spec: HTTP-SM-20, HTTP-S-11
#[derive(Debug)]
pub(super) struct Ping {
    interval: Duration,
    since: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Ping {
    pub(super) fn new(interval: Duration) -> Self {
        Self {
            interval,
            since: Instant::now(),
            timer: Box::pin(sleep(interval)),
        }
    }

    pub(super) fn postpone(&mut self) {
        self.since = Instant::now();
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.timer.as_mut().poll(cx));
            let now = Instant::now();
            let due = self.since + self.interval;
            if now >= due {
                self.since = now;
                self.timer.as_mut().reset(now + self.interval);
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(due);
        }
    }
}

#[cfg(test)]
mod tests;
