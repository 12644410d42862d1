//! The accept loop and the shutdown of a server.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use mcp_core::BoxFuture;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tower_service::Service;

use super::connection::{self, ConnectionSettings, FINAL_FRAMES_TIMEOUT};
use super::waker_thread::WakerThread;
use crate::connection_scope::ConnectionScope;
use crate::shutdown::Shutdown;

/// Pause after an error of `accept`, for example because of too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The accept loop of a server with its settings.
pub(super) struct AcceptLoop {
    pub(super) connections: ConnectionSettings,
    pub(super) max_connections: usize,
    pub(super) drain_delay: Duration,
    pub(super) drain_timeout: Duration,
    pub(super) stop: BoxFuture<'static, ()>,
}

impl AcceptLoop {
    /// Serves the connections of a listener until shutdown.
    pub(super) async fn run<S, B>(self, listener: TcpListener, service: S)
    where
        S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut settings = self.connections;
        let shutdown = settings.shutdown.clone();
        let health = settings.health.take();
        settings.health = health.map(|health| health.shutdown_with(shutdown));
        let (settings, stop) = (Arc::new(settings), self.stop);
        let health = settings.health.clone();
        let delay = self.drain_delay;
        let stop = async move {
            stop.await;
            if let Some(health) = health {
                health.stop();
            }
            tokio::time::sleep(delay).await;
        };
        let shutdown = &settings.shutdown;
        // Connections run in tasks of their own: close them when this future is dropped.
        let close = CloseOnDrop(shutdown.clone());
        let permits = Arc::new(Semaphore::new(self.max_connections));
        let _waker = WakerThread::start();
        tokio::select! {
            biased;
            () = stop => {}
            () = shutdown.draining() => {}
            never = accept_connections(&listener, service, &settings, &permits) => {
                match never {}
            }
        }
        drop(listener);
        shutdown.drain();
        let max_connections = u32::try_from(self.max_connections).unwrap_or(u32::MAX);
        let mut all_closed = pin!(permits.acquire_many(max_connections));
        if timeout(self.drain_timeout, all_closed.as_mut())
            .await
            .is_err()
        {
            drop(close);
            // Connections that are still open then are closed by the end of their tasks.
            let _ = timeout(FINAL_FRAMES_TIMEOUT * 2, all_closed).await;
        }
    }
}

/// Accepts connections and spawns a task for each.
async fn accept_connections<S, B>(
    listener: &TcpListener,
    service: S,
    settings: &Arc<ConnectionSettings>,
    permits: &Arc<Semaphore>,
) -> Infallible
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    loop {
        if let Some((stream, permit)) = accept(listener, permits).await {
            let settings = Arc::clone(settings);
            let scope = ConnectionScope {
                shutdown: settings.shutdown.clone(),
                peer: stream.peer_addr().ok(),
            };
            let connection = connection::serve(stream, service.clone(), settings, permit);
            tokio::spawn(scope.run(connection));
        }
    }
}

/// Accepts a connection as soon as there is a permit for it. Returns `None` after an error.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Nagle's algorithm delays the second packet of an event stream until the client has
            // acknowledged the first one. An error makes the connection slower, but not incorrect.
            let _ = stream.set_nodelay(true);
            Some((stream, permit))
        }
        Err(error) if is_connection_error(&error) => None,
        Err(_) => {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

/// Returns true for errors of `accept` that concern one connection. The next one may succeed.
fn is_connection_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

struct CloseOnDrop(Shutdown);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
