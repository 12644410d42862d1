//! Graceful shutdown: one handle for servers, endpoints and their streams.

use std::sync::Arc;

#[cfg(feature = "serve")]
use mcp_core::BoxFuture;
use tokio::sync::watch;

/// Handle that shuts servers down in two phases: [`drain`](Self::drain), then
/// [`close`](Self::close).
///
/// All clones control the same shutdown. [`Serve`](crate::Serve) creates a handle and applies it to its
/// endpoints. With another web server, pass a handle to
/// [`StreamableHttp::shutdown_with`](crate::server::StreamableHttp::shutdown_with), so that the streams
/// of the endpoint end when that web server drains.
///
/// # Examples
///
/// ```
/// use mcp::StreamableHttp;
/// use mcp::core::Service;
/// use mcp::http::Shutdown;
///
/// fn endpoint(service: impl Service, shutdown: &Shutdown) -> StreamableHttp {
///     StreamableHttp::new(service).shutdown_with(shutdown.clone())
/// }
/// ```
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
    /// Creates a handle.
    #[must_use]
    pub fn new() -> Self {
        Self {
            phase: Arc::new(watch::Sender::new(Phase::Open)),
        }
    }

    /// Starts the shutdown: running calls finish, no new connections are accepted, and endless streams
    /// (subscriptions, GET streams) are closed.
    pub fn drain(&self) {
        self.enter(Phase::Draining);
    }

    /// Completes the shutdown: calls that still run are cancelled and answered with an error.
    pub fn close(&self) {
        self.enter(Phase::Closed);
    }

    /// Returns true after [`Shutdown::drain`] or [`Shutdown::close`].
    #[cfg(feature = "serve")]
    pub(crate) fn is_draining(&self) -> bool {
        *self.phase.borrow() != Phase::Open
    }

    /// Waits for [`Shutdown::drain`] or [`Shutdown::close`].
    pub async fn draining(&self) {
        // `wait_for` fails only after the sender has been dropped, and `self` holds the sender.
        let _ = self
            .subscribe()
            .wait_for(|phase| *phase != Phase::Open)
            .await;
    }

    /// Waits for [`Shutdown::close`].
    pub(crate) async fn closed(&self) {
        // See `draining`.
        let _ = self
            .subscribe()
            .wait_for(|phase| *phase == Phase::Closed)
            .await;
    }

    fn subscribe(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    fn enter(&self, phase: Phase) {
        self.phase.send_if_modified(|current| {
            let is_later = phase > *current;
            if is_later {
                *current = phase;
            }
            is_later
        });
    }
}

/// Waits for a signal to terminate the process: Ctrl-C, or SIGTERM on Unix.
///
/// If a signal's handler cannot be installed, that signal is ignored.
#[cfg(feature = "serve")]
pub fn termination() -> BoxFuture<'static, ()> {
    Box::pin(async {
        tokio::select! {
            () = interrupt() => {}
            () = terminate() => {}
        }
    })
}

#[cfg(feature = "serve")]
async fn interrupt() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(all(feature = "serve", unix))]
async fn terminate() {
    use tokio::signal::unix::{SignalKind, signal};

    match signal(SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(all(feature = "serve", not(unix)))]
async fn terminate() {
    std::future::pending().await
}
