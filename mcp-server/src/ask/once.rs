//! Work that is done once, however often the handler runs.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::ptr;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::round::{AskError, Key, Round};

thread_local! {
    /// The round whose work is being polled on this thread; null for none.
    static WORKING: Cell<*const Round> = const { Cell::new(ptr::null()) };
}

/// Does the work and records what `result` says of it, unless an earlier round has.
pub(super) async fn run<T, E, F, Fut>(
    round: &Arc<Round>,
    key: Key,
    work: F,
    result: impl FnOnce(Fut::Output) -> Result<T, E>,
) -> Result<T, E>
where
    T: Serialize + DeserializeOwned,
    E: From<AskError>,
    F: FnOnce() -> Fut,
    Fut: Future,
{
    if let Some(done) = round.done(&key)? {
        return Ok(done);
    }
    let _at_work = round.work();
    let mut work = pin!(work());
    let output = poll_fn(|cx| {
        let _polling = Polling::enter(round);
        work.as_mut().poll(cx)
    });
    let value = result(output.await)?;
    round.record(&key, &value)?;
    Ok(value)
}

/// Refuses a question inside of work: the question would wait for the work, which waits for the
/// question.
#[inline]
pub(super) fn check_outside(round: &Arc<Round>, key: &Key) -> Result<(), AskError> {
    if ptr::eq(WORKING.get(), Arc::as_ptr(round)) {
        return Err(AskError::InvalidQuestion {
            key: key.clone(),
            reason: "what `Ask::once` runs cannot ask; ask before or after it".to_owned(),
        });
    }
    Ok(())
}

/// Work is being polled on this thread, as long as this lives.
struct Polling(*const Round);

impl Polling {
    #[inline]
    fn enter(round: &Arc<Round>) -> Self {
        Self(WORKING.replace(Arc::as_ptr(round)))
    }
}

impl Drop for Polling {
    #[inline]
    fn drop(&mut self) {
        WORKING.set(self.0);
    }
}
