//! What stands around every handler: a panic is an error of its call, not the end of the server;
//! open questions are asked by the reply.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcp_core::close_signal::CloseSignal;
use mcp_core::{BoxFuture, CatchPanic, Fault, Panicked, Reply, catch_panic};
use pin_project_lite::pin_project;

use crate::round::AnyRound;

/// What of a call is looked after while its handler runs; nothing as a rule.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    over: Option<CloseSignal>,
    round: Option<Arc<dyn AnyRound>>,
}

impl Watched {
    pub(crate) fn new(over: CloseSignal, round: Option<Arc<dyn AnyRound>>) -> Self {
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
            over.close(());
        }
    }
}

/// What has a handler.
pub(crate) trait Handled {
    /// What the handler gives.
    type Given;

    /// For the log, and for errors.
    fn name(&self) -> &str;

    /// The reply of what the handler gave.
    fn reply(&self, given: Self::Given) -> Reply;
}

/// Runs a handler to its end, or until its reply has to ask the client something: then the handler
/// is dropped.
///
/// A panic becomes a fault. Its text goes to the log alone: it may hold anything. What the code had
/// borrowed from others (state) may be half changed, as after any other failure: locks show it by
/// poisoning.
// spec: MRTR-01
pub(crate) fn run<W, F>(
    what: W,
    watched: Result<Watched, Fault>,
    handler: F,
) -> BoxFuture<'static, Reply>
where
    W: Handled + Send + 'static,
    F: Future<Output = W::Given> + Send + 'static,
{
    match watched {
        Ok(watched) => Box::pin(Run {
            handler: Some(catch_panic(handler)),
            what,
            watched,
        }),
        Err(fault) => Box::pin(ready(fault.into())),
    }
}

pin_project! {
    /// A handler at work; see [`run`].
    // No `async fn`: that would hold the handler several times.
    struct Run<W, F> {
        #[pin]
        handler: Option<CatchPanic<F>>,
        what: W,
        watched: Watched,
    }
}

impl<W: Handled, F: Future<Output = W::Given>> Future for Run<W, F> {
    type Output = Reply;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        let mut this = self.project();
        let Some(handler) = this.handler.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        let round = this.watched.round.as_deref();
        if let Some(round) = round {
            round.watch(cx);
        }
        let reply = match handler.poll(cx) {
            Poll::Ready(Ok(given)) => this.what.reply(given),
            Poll::Ready(Err(panic)) => panicked(this.what.name(), &panic).into(),
            Poll::Pending => match round.and_then(AnyRound::reply) {
                Some(asking) => asking,
                None => return Poll::Pending,
            },
        };
        if let Some(round) = round {
            round.end(this.what.name());
        }
        this.handler.set(None);
        *this.watched = Watched::default();
        Poll::Ready(reply)
    }
}

#[cold]
fn panicked(what: &str, panic: &Panicked) -> Fault {
    tracing::error!(handler = what, panic = panic.text(), "handler panicked");
    Fault::internal(format!("the handler of {what} failed"))
}

/// Runs a filter that the author wrote; `None` when it panics.
pub(crate) fn catch<T>(what: &str, filter: impl FnOnce() -> T) -> Option<T> {
    let caught = mcp_core::catch_panic_sync(filter);
    let told = caught.map_err(|panic| {
        tracing::error!(of = what, panic = panic.text(), "filter panicked");
    });
    told.ok()
}
