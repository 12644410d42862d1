//! A small HTTP server around one MCP endpoint, for programs that have no web server yet.
//!
//! It accepts connections itself, so that what the protocol needs is right without being asked
//! for: no delay of small packets (an event stream is many of them), a bound on connections,
//! slow and idle ones closed, and an end that lets running calls finish.

mod connection;
mod connections;

use std::convert::Infallible;
use std::future::{Future, IntoFuture};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use mcp_core::BoxFuture;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::sync::Semaphore;
use tower_service::Service;

use crate::server::StreamableHttp;
use crate::{Shutdown, task};
use connections::{Connections, Limits};

/// A server that has not started yet; `.await` starts it and ends when it is told to.
///
/// A request's head may have 100 headers and some 400 KiB; a larger one is refused with 431.
///
/// ```no_run
/// use mcp_transport_http::{Serve, termination};
/// # async fn run<S, B>(endpoint: S) -> std::io::Result<()>
/// # where
/// #     S: tower_service::Service<http::Request<hyper::body::Incoming>,
/// #             Response = http::Response<B>, Error = std::convert::Infallible,
/// #             Future: Send> + Clone + Send + 'static,
/// #     B: http_body::Body<Data = bytes::Bytes, Error: std::error::Error + Send + Sync> + Send + 'static,
/// # {
/// Serve::bind("127.0.0.1:8000", endpoint).await?.shutdown_on(termination()).await
/// # }
/// ```
#[must_use = "a server does nothing until it is awaited"]
pub struct Serve<S> {
    listener: TcpListener,
    service: S,
    path: Arc<str>,
    limits: Limits,
    max_connections: usize,
    drain_timeout: Duration,
    shutdown: Shutdown,
    stop: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl<S> std::fmt::Debug for Serve<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve")
            .field("listener", &self.listener)
            .field("path", &self.path)
            .field("limits", &self.limits)
            .field("max_connections", &self.max_connections)
            .field("drain_timeout", &self.drain_timeout)
            .finish_non_exhaustive()
    }
}

impl<S> Serve<S> {
    /// Serves `service` to the connections of `listener`, at the path `/mcp`.
    pub fn new(listener: TcpListener, service: S) -> Self {
        Self {
            listener,
            service,
            path: "/mcp".into(),
            limits: Limits {
                head_timeout: Duration::from_secs(30),
                idle_timeout: Duration::from_secs(120),
            },
            max_connections: 10_000,
            drain_timeout: Duration::from_secs(10),
            shutdown: Shutdown::new(),
            stop: Box::pin(std::future::pending()),
        }
    }

    /// Like [`Serve::new`] with a listener of its own. Port 0 takes any free port; see
    /// [`Serve::local_addr`].
    ///
    /// # Errors
    ///
    /// When the address cannot be had.
    pub async fn bind(addr: impl ToSocketAddrs, service: S) -> io::Result<Self> {
        Ok(Self::new(TcpListener::bind(addr).await?, service))
    }

    /// The address that connections come to.
    ///
    /// # Errors
    ///
    /// When the operating system does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The one path that is served, `/mcp` by default. Other paths are answered with 404.
    pub fn path(mut self, path: impl Into<Arc<str>>) -> Self {
        self.path = path.into();
        self
    }

    /// How many connections are served at once, 10,000 by default. More of them wait in the
    /// listener's queue; none is turned away.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// How long the head of a request may take, 30 s by default. Kept to within twice the time.
    pub fn head_timeout(mut self, time: Duration) -> Self {
        self.limits.head_timeout = time;
        self
    }

    /// How long a connection may stay open without a request, or without taking any of an answer
    /// that is there for it, 120 s by default. Kept to within [`Serve::head_timeout`].
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.limits.idle_timeout = time;
        self
    }

    /// How long running calls may go on after the server was told to stop, 10 s by default.
    pub fn drain_timeout(mut self, time: Duration) -> Self {
        self.drain_timeout = time;
        self
    }

    /// Stops the server when `stop` is ready: no more connections are accepted, running calls
    /// finish, endless streams end; what remains after [`Serve::drain_timeout`] is ended.
    pub fn shutdown_on(mut self, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        self.stop = Box::pin(stop);
        self
    }

    /// Uses a handle that others hold as well: [`Shutdown::drain`] on it stops the server, just
    /// as [`Serve::shutdown_on`] does.
    pub fn shutdown_with(mut self, shutdown: Shutdown) -> Self {
        self.shutdown = shutdown;
        self
    }
}

/// After the deadline of a drain, time for the last frames of streams to reach the wire.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Pause after an `accept` that failed for want of something, such as file descriptors.
const BREATH: Duration = Duration::from_millis(100);

impl<S, B> Serve<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    async fn serve(mut self) -> io::Result<()> {
        // Connections live in tasks of their own; whoever drops this future ends them too.
        let closer = CloseOnDrop(self.shutdown.clone());
        let connections = Arc::<Connections>::default();
        task::spawn(Arc::clone(&connections).tend(self.limits, self.shutdown.clone()));
        let slots = Arc::new(Semaphore::new(self.max_connections));
        self.accept_until_told_to_stop(&slots, &connections).await;
        drop(self.listener);
        self.shutdown.drain();
        let everybody_left = async {
            let all = u32::try_from(self.max_connections).unwrap_or(u32::MAX);
            let _ = slots.acquire_many(all).await;
        };
        tokio::pin!(everybody_left);
        if tokio::time::timeout(self.drain_timeout, &mut everybody_left)
            .await
            .is_err()
        {
            drop(closer);
            let _ = tokio::time::timeout(LAST_WORDS * 2, everybody_left).await;
        }
        Ok(())
    }

    async fn accept_until_told_to_stop(
        &mut self,
        slots: &Arc<Semaphore>,
        connections: &Arc<Connections>,
    ) {
        let handle = self.shutdown.clone();
        let told_elsewhere = handle.draining();
        tokio::pin!(told_elsewhere);
        loop {
            let accepted = async {
                // The slot comes first: a connection that cannot be served yet is not accepted.
                let slot = Arc::clone(slots).acquire_owned().await.ok()?;
                match self.listener.accept().await {
                    Ok((stream, _)) => Some((slot, stream)),
                    Err(error) if is_about_one_connection(&error) => None,
                    Err(_) => {
                        tokio::time::sleep(BREATH).await;
                        None
                    }
                }
            };
            let accepted = tokio::select! {
                biased;
                () = &mut self.stop => return,
                () = &mut told_elsewhere => return,
                accepted = accepted => accepted,
            };
            if let Some((slot, stream)) = accepted {
                // Without this the second packet of a stream waits for the client's late
                // acknowledgement of the first. Failing to set it makes the connection slower, not
                // wrong.
                let _ = stream.set_nodelay(true);
                let connection = connection::serve(
                    stream,
                    self.service.clone(),
                    Arc::clone(&self.path),
                    connections.enter(),
                    slot,
                );
                task::spawn(self.shutdown.clone().serving(connection));
            }
        }
    }
}

impl Serve<StreamableHttp> {
    /// Starts the server, as `.await` does, and is compiled with this crate: a program that serves
    /// one endpoint and nothing else is built faster.
    pub fn run(self) -> BoxFuture<'static, io::Result<()>> {
        self.into_future()
    }
}

impl<S, B> IntoFuture for Serve<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Output = io::Result<()>;
    type IntoFuture = BoxFuture<'static, io::Result<()>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.serve())
    }
}

struct CloseOnDrop(Shutdown);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Errors of `accept` that say nothing about the listener: the next connection may be fine.
fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}
