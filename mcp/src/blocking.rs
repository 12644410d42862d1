//! Functions that block their thread.

use std::panic::resume_unwind;

use tokio::runtime::Handle;
use tracing::Span;

/// Runs a function with the option `blocking` on a thread for blocking work. Without a tokio runtime it
/// runs here.
pub async fn run_blocking<T: Send + 'static>(function: impl FnOnce() -> T + Send + 'static) -> T {
    let Ok(runtime) = Handle::try_current() else {
        return function();
    };
    let span = Span::current();
    let task = runtime.spawn_blocking(move || span.in_scope(function));
    match task.await {
        Ok(output) => output,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime ends, and with it the call.
            Err(_) => std::future::pending().await,
        },
    }
}
