//! Handler execution: panics, the end of the call, questions to the client.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::future::Either;
use mcp_core::{BoxFuture, CatchPanic, Fault, Panicked, Reply, catch_panic};
use pin_project_lite::pin_project;

use super::context::CallContext;
use super::guard::CallGuard;
use super::spec::RouteSpec;
use crate::input_round::InputRound;
use crate::rejection::Rejection;

/// The target of a call: converts the handler output into a reply.
pub(crate) trait CallTarget<Output> {
    /// Name or URI, for the log and for errors.
    fn name(&self) -> &str;

    /// `masks_errors` hides the messages of errors that the handler returned by `?`.
    fn reply(&self, output: Output, masks_errors: bool) -> Reply;

    /// Returns whether a second run of the handler has no further effects.
    fn is_repeatable(&self) -> bool {
        true
    }
}

impl RouteSpec {
    /// Returns a function that runs a handler of this route, after the extractors that await, until it returns, or
    /// until the reply has to ask the client; then the handler is dropped. Only calls with such extractors box
    /// another future.
    ///
    /// A panic becomes an internal fault without the panic's message, which may contain secrets and goes
    /// to the log only. Shared state that the handler was changing may be inconsistent afterwards; the
    /// locks of the standard library show this by poisoning.
    pub(crate) fn runner<T, F, Fut, O, E>(
        &mut self,
        handler: F,
        reject: fn(Rejection) -> E,
    ) -> impl Fn(CallContext, T) -> BoxFuture<'static, Reply> + Send + Sync + 'static
    where
        T: CallTarget<Result<O, E>> + Send + 'static,
        F: Fn(CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, E>> + Send + 'static,
        O: 'static,
        E: 'static,
    {
        let (needs, preparations) = (self.needs, std::mem::take(&mut self.preparations));
        let (handler, schema) = (Arc::new(handler), self.input_schema.clone());
        let prepare_and_run = move |call: CallContext| {
            if preparations.is_empty() {
                return Either::Left(handler(call));
            }
            let (preparing, handler) = (preparations.clone().run(call), handler.clone());
            let running: BoxFuture<'static, _> = Box::pin(async move {
                let call = preparing.await.map_err(reject)?;
                handler(call).await
            });
            Either::Right(running)
        };
        move |mut call: CallContext, target| -> BoxFuture<'static, Reply> {
            let masks_errors = call.masks_errors();
            call.set_input_schema(schema.as_ref());
            match call.start_handler(needs) {
                Ok(guard) => Box::pin(RunningHandler {
                    handler: Some(catch_panic(prepare_and_run(call))),
                    target,
                    guard,
                    masks_errors,
                }),
                Err(fault) => Box::pin(ready(fault.into())),
            }
        }
    }
}

pin_project! {
    /// Future of [`RouteSpec::runner`].
    // A hand-written future: an `async fn` would store the handler's future twice, which makes a call of
    // the smallest handler 605 instead of 533 bytes large (`tests/budget.rs`).
    struct RunningHandler<T, F> {
        #[pin]
        handler: Option<CatchPanic<F>>,
        target: T,
        guard: CallGuard,
        masks_errors: bool,
    }
}

impl<T: CallTarget<F::Output>, F: Future> Future for RunningHandler<T, F> {
    type Output = Reply;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        let mut this = self.project();
        let Some(handler) = this.handler.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        let round = this.guard.input_round.as_deref();
        if let Some(round) = round {
            round.set_waker(cx);
        }
        let reply = match poll_handler(handler, cx, this.target.name()) {
            Poll::Ready(Ok(output)) => this.target.reply(output, *this.masks_errors),
            Poll::Ready(Err(panic)) => panic_fault(this.target.name(), &panic).into(),
            // spec: MRTR-01
            Poll::Pending => match round.and_then(InputRound::take_reply) {
                Some(questions) => questions,
                None => return Poll::Pending,
            },
        };
        if let Some(round) = round {
            round.warn_about_dropped_questions(this.target.name());
            if !this.target.is_repeatable() {
                round.warn_about_repeated_effects(this.target.name());
            }
        }
        this.handler.set(None);
        *this.guard = CallGuard::default();
        Poll::Ready(reply)
    }
}

/// The time of one poll from which debug builds warn.
const LONG_POLL: Duration = Duration::from_millis(100);

/// Polls a handler. Debug builds warn when it blocks its thread.
fn poll_handler<F: Future>(
    handler: Pin<&mut F>,
    cx: &mut Context<'_>,
    name: &str,
) -> Poll<F::Output> {
    // WebAssembly has no clock here.
    if !cfg!(debug_assertions) || cfg!(target_family = "wasm") {
        return handler.poll(cx);
    }
    let start = Instant::now();
    let polled = handler.poll(cx);
    let elapsed = start.elapsed();
    if elapsed >= LONG_POLL {
        tracing::warn!(
            handler = name,
            ?elapsed,
            "the handler blocked its thread, and other calls waited; use `#[tool(blocking)]`, or \
             `tokio::task::spawn_blocking` in the handler"
        );
    }
    polled
}

fn panic_fault(name: &str, panic: &Panicked) -> Fault {
    tracing::error!(handler = name, panic = %mcp_types::escaped(&panic), "handler panicked");
    Fault::internal(format!("the handler of {name} failed"))
}
