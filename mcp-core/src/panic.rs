//! Panics of user code, caught so that they end one call and not the task that runs it.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

/// A caught panic of user code. Its message may contain secrets: write it to the log only.
pub struct Panicked(Box<dyn Any + Send>);

impl Panicked {
    fn text(&self) -> &str {
        let text = self.0.downcast_ref::<&str>().copied();
        text.or_else(|| self.0.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("(no text)")
    }
}

/// Writes the panic message.
impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Debug for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panicked").field(&self.text()).finish()
    }
}

/// Runs a future of user code and catches its panic.
///
/// State that the future shares with other code may be left half changed, as after any other
/// failure.
///
/// # Errors
///
/// Returns [`Panicked`] when the future panics.
pub fn catch_panic<F: Future>(future: F) -> CatchPanic<F> {
    CatchPanic { future }
}

pin_project! {
    /// The future of [`catch_panic`].
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

/// Runs synchronous user code and catches its panic. See [`catch_panic`].
///
/// # Errors
///
/// Returns [`Panicked`] when the code panics.
pub fn catch_panic_sync<T>(code: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(code)).map_err(Panicked)
}
