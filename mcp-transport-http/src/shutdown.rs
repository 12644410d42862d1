//! One handle that ends everything in order.

use std::sync::Arc;

#[cfg(feature = "serve")]
use mcp_core::BoxFuture;
use tokio::sync::watch;

/// Tells servers to stop: first to finish what is running, then to end what is left.
///
/// Clones are the same handle. [`Serve`](crate::Serve) makes one by itself; a
/// [`StreamableHttp`](crate::server::StreamableHttp) inside of another web server is given one,
/// so that long streams end when that server drains.
#[derive(Clone, Debug)]
pub struct Shutdown {
    phase: Arc<watch::Sender<Phase>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    #[default]
    Open,
    Draining,
    Closed,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::new()
    }
}

impl Shutdown {
    /// A handle that nobody has used yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            phase: Arc::new(watch::Sender::new(Phase::Open)),
        }
    }

    /// Begins the end: what runs is finished, nothing new is begun, and streams that would go on
    /// for ever end.
    pub fn drain(&self) {
        self.enter(Phase::Draining);
    }

    /// Ends what is still running.
    pub fn close(&self) {
        self.enter(Phase::Closed);
    }

    /// Waits for [`Shutdown::drain`] (or [`Shutdown::close`]).
    pub async fn draining(&self) {
        self.reached(Phase::Draining).await;
    }

    /// Waits for [`Shutdown::close`].
    pub async fn closed(&self) {
        self.reached(Phase::Closed).await;
    }

    fn enter(&self, phase: Phase) {
        self.phase.send_if_modified(|now| {
            let later = phase > *now;
            if later {
                *now = phase;
            }
            later
        });
    }

    /// Works for the server that this handle ends.
    #[cfg(feature = "serve")]
    pub(crate) fn serving<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        SERVER.scope(self, work)
    }

    /// The handle of the server that is at work here.
    pub(crate) fn of_server() -> Option<Self> {
        SERVER.try_with(Self::clone).ok()
    }

    async fn reached(&self, phase: Phase) {
        // An error would mean that the sender is gone, and `self` holds it.
        let _ = self.phase.subscribe().wait_for(|now| *now >= phase).await;
    }
}

tokio::task_local! {
    /// Of connections. What is told to their tasks gets through routers and layers, and costs
    /// requests nothing.
    static SERVER: Shutdown;
}

/// Waits until the process is asked to end: by ctrl-c, or on Unix by SIGTERM.
///
/// A signal that cannot be listened to is never received.
#[cfg(feature = "serve")]
pub fn termination() -> BoxFuture<'static, ()> {
    Box::pin(terminated())
}

#[cfg(feature = "serve")]
async fn terminated() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
