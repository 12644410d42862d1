//! A panic in a handler is an error of its call, not the end of the server.

use std::future::Future;

use mcp_core::Fault;

/// Runs user code; its panic becomes a fault. The text of the panic goes to the log alone: it may
/// hold anything.
pub(crate) async fn catch_panic<T>(
    what: &str,
    future: impl Future<Output = T>,
) -> Result<T, Fault> {
    let caught = mcp_core::catch_panic(future).await;
    caught.map_err(|panic| {
        tracing::error!(handler = what, panic = panic.text(), "handler panicked");
        Fault::internal(format!("the handler of {what} failed"))
    })
}

/// Runs a filter that the author wrote; `None` when it panics.
pub(crate) fn catch<T>(what: &str, filter: impl FnOnce() -> T) -> Option<T> {
    let caught = mcp_core::catch_panic_now(filter);
    let told = caught.map_err(|panic| {
        tracing::error!(of = what, panic = panic.text(), "filter panicked");
    });
    told.ok()
}
