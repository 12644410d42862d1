//! A panic in a handler is an error of its call, not the end of the server.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use mcp_core::Fault;

/// Runs user code; its panic becomes a fault. The text of the panic goes to the log alone: it may
/// hold anything.
///
/// What the code had borrowed from others (state) may be half changed, as after any other failure:
/// locks show it by poisoning.
pub(crate) async fn catch_panic<T>(
    what: &str,
    future: impl Future<Output = T>,
) -> Result<T, Fault> {
    let mut future = pin!(future);
    let caught = poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        },
    );
    caught.await.map_err(|panic| {
        tracing::error!(handler = what, panic = text(&*panic), "handler panicked");
        Fault::internal(format!("the handler of {what} failed"))
    })
}

fn text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no text)")
}
