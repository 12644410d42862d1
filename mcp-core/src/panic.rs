//! A panic of user code is an error of its call, not the end of whoever runs it.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

/// User code panicked. Its text may hold anything: it is for the log alone.
pub struct Panicked(Box<dyn Any + Send>);

impl Panicked {
    /// What it said.
    pub fn text(&self) -> &str {
        let text = self.0.downcast_ref::<&str>().copied();
        text.or_else(|| self.0.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("(no text)")
    }
}

impl fmt::Debug for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panicked").field(&self.text()).finish()
    }
}

/// Runs user code and catches its panic.
///
/// What the code had borrowed from others (state) may be half changed, as after any other failure:
/// locks show it by poisoning.
///
/// # Errors
///
/// When it panicked.
pub fn catch_panic<F: Future>(future: F) -> CatchPanic<F> {
    CatchPanic { future }
}

pin_project! {
    /// A future whose panic is caught. Made by [`catch_panic`].
    // No `async fn`: that would hold the future twice.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct CatchPanic<F> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for CatchPanic<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.project().future;
        match catch_panic_sync(|| future.poll(cx)) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

/// Runs user code that does not wait, and catches its panic; see [`catch_panic`].
///
/// # Errors
///
/// When it panicked.
pub fn catch_panic_sync<T>(code: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(code)).map_err(Panicked)
}
