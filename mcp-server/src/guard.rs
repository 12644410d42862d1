//! What stands around every handler: a panic is an error of its call, not the end of the server;
//! open questions are asked by the reply.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use mcp_core::ending::Ending;
use mcp_core::{Fault, Panicked, Reply, catch_panic};

use crate::ask::Round;

/// What of a call is looked after while its handler runs; nothing as a rule.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    over: Option<Ending>,
    round: Option<Arc<Round>>,
}

impl Watched {
    pub(crate) fn new(over: Ending, round: Option<Arc<Round>>) -> Self {
        Self {
            over: Some(over),
            round,
        }
    }
}

/// The future of the call is gone.
impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(over) = &self.over {
            over.end(());
        }
    }
}

/// Runs a handler to its end, or until its reply has to ask the client something: then the handler
/// is dropped.
///
/// A panic becomes a fault. Its text goes to the log alone: it may hold anything. What the code had
/// borrowed from others (state) may be half changed, as after any other failure: locks show it by
/// poisoning.
///
/// # Errors
///
/// The reply that takes the place of the handler's.
// spec: MRTR-01
pub(crate) async fn run<T>(
    what: &str,
    watched: Result<Watched, Fault>,
    handler: impl Future<Output = T>,
) -> Result<T, Reply> {
    let watched = watched?;
    let mut handler = pin!(catch_panic(handler));
    let round = watched.round.as_deref();
    let ended = poll_fn(|cx| {
        if let Some(round) = round {
            round.watch(cx);
        }
        match handler.as_mut().poll(cx) {
            Poll::Ready(ended) => Poll::Ready(ended.map_err(|panic| panicked(what, &panic).into())),
            Poll::Pending => match round.and_then(Round::reply) {
                Some(asking) => Poll::Ready(Err(asking)),
                None => Poll::Pending,
            },
        }
    })
    .await;
    if let Some(round) = round {
        round.end(what);
    }
    ended
}

fn panicked(what: &str, panic: &Panicked) -> Fault {
    tracing::error!(handler = what, panic = panic.text(), "handler panicked");
    Fault::internal(format!("the handler of {what} failed"))
}

/// Runs a filter that the author wrote; `None` when it panics.
pub(crate) fn catch<T>(what: &str, filter: impl FnOnce() -> T) -> Option<T> {
    let caught = mcp_core::catch_panic_now(filter);
    let told = caught.map_err(|panic| {
        tracing::error!(of = what, panic = panic.text(), "filter panicked");
    });
    told.ok()
}
