//! The current task's connection: its client, and its server's shutdown.
//!
//! A task-local variable reaches the endpoint through routers and layers. Unlike a request extension, it
//! costs nothing per request and is not visible to handlers.

use std::net::SocketAddr;

use crate::shutdown::Shutdown;

/// The connection that [`Serve`](crate::Serve) serves in the current task.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionScope {
    /// The server's handle.
    pub(crate) shutdown: Shutdown,
    /// The client's address. `None` when the operating system does not know it.
    pub(crate) peer: Option<SocketAddr>,
}

tokio::task_local! {
    static CURRENT: ConnectionScope;
}

impl ConnectionScope {
    /// Runs `connection` with this scope as the current one.
    #[cfg(feature = "serve")]
    pub(crate) fn run<F: Future>(self, connection: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, connection)
    }
}

/// Returns the shutdown handle of the [`Serve`](crate::Serve) that runs the current task.
pub(crate) fn shutdown() -> Option<Shutdown> {
    CURRENT.try_with(|current| current.shutdown.clone()).ok()
}

/// Returns the client's address, if a [`Serve`](crate::Serve) runs the current task.
pub(crate) fn peer() -> Option<SocketAddr> {
    CURRENT.try_with(|current| current.peer).ok().flatten()
}
