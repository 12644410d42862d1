//! [`ProbeMemory`]: the memory of a [group](crate::group) that a server does not survive
//! `server/discover`.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

tokio::task_local! {
    /// The memory of the server that this task starts.
    static CURRENT: ProbeMemory;
}

/// Remembers for a server that is started again and again whether `server/discover` made its process
/// unusable or was left unanswered. Later starts begin with `initialize`.
///
/// A group connects by functions of its program, which create the client themselves. The memory
/// therefore reaches [`ClientBuilder::over`](crate::ClientBuilder::over) as a value of the task.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProbeMemory(Arc<AtomicBool>);

impl ProbeMemory {
    /// Runs a start of the server with this memory.
    pub(crate) async fn scope<F: Future>(&self, start: F) -> F::Output {
        CURRENT.scope(self.clone(), start).await
    }

    /// Returns the memory of the server that this task starts. Outside a group it is empty and
    /// forgotten.
    pub(crate) fn current() -> Self {
        CURRENT.try_with(Clone::clone).unwrap_or_default()
    }

    /// Returns whether the next start begins with `initialize`.
    pub(crate) fn skips_probe(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set_skips_probe(&self, skips: bool) {
        self.0.store(skips, Ordering::Relaxed);
    }
}
