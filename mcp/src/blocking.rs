//! Functions that block their thread.
//!
//! They run on the threads of a runtime that is never dropped instead of the caller's runtime: dropping a runtime
//! waits for its blocking threads, so a process with an endless function would outlive its client. Nobody joins
//! these threads; they end with the process.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, LazyLock, Mutex};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tracing::Span;

/// At most 512 threads. Further functions wait: each belongs to a running call, whose number the transports limit.
static POOL: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    let mut pool = Builder::new_current_thread();
    pool.thread_name("mcp-blocking").build()
});

/// Runs a function with the option `blocking` on a thread for blocking work. Without a tokio runtime it
/// runs here. A call that is cancelled before its function has a thread does not run it.
pub async fn run_blocking<T: Send + 'static>(function: impl FnOnce() -> T + Send + 'static) -> T {
    let (Ok(runtime), Ok(pool)) = (Handle::try_current(), &*POOL) else {
        return function();
    };
    let span = Span::current();
    let (sender, receiver) = oneshot::channel();
    let job = move || {
        if sender.is_closed() {
            return;
        }
        let _runtime = runtime.enter();
        let output = catch_unwind(AssertUnwindSafe(|| span.in_scope(function)));
        // An error means that the call was cancelled meanwhile.
        let _ = sender.send(output);
    };
    let job = Arc::new(Mutex::new(Some(job)));
    let run = move || {
        let job = job.lock().ok().and_then(|mut job| job.take());
        if let Some(job) = job {
            job();
        }
    };
    // The pool panics if it has no thread and the operating system gives none.
    let spawned = catch_unwind(AssertUnwindSafe(|| pool.spawn_blocking(run.clone())));
    if spawned.is_err() {
        tracing::warn!("cannot start a thread for a blocking function: it runs here");
        run();
    }
    match receiver.await {
        Ok(Ok(output)) => output,
        Ok(Err(panic)) => resume_unwind(panic),
        // Not reachable: each job sends its output.
        Err(_) => std::future::pending().await,
    }
}
