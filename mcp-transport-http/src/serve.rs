//! A small HTTP server around one endpoint, for programs without a web server.
//!
//! | layer | module | contents |
//! |---|---|---|
//! | 1 | `activity` | timeouts of a connection |
//! | 2 | `connection` | one connection |
//! | 3 | this module | the accept loop and the shutdown |

mod activity;
mod connection;

use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use mcp_core::{BoxFuture, ScopedItem};
use mcp_types::Implementation;
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tower_service::Service;

use crate::Shutdown;
use crate::connection_scope::ConnectionScope;
use crate::health::HealthChecks;
use crate::server::{CardService, StreamableHttp};
use activity::ConnectionTimeouts;
use connection::{ConnectionSettings, FINAL_FRAMES_TIMEOUT};

/// A small HTTP server around one endpoint, for programs without a web server. `.await` starts it,
/// and completes when the server has shut down.
///
/// An endpoint without [`allowed_hosts`](StreamableHttp::allowed_hosts) serves only this machine. Starting
/// it with a listener that other machines can reach is an error ([`ServeError::NoAllowedHosts`]). Behind
/// a router or a layer, the endpoint itself rejects the requests of other machines. An endpoint whose
/// tools need scopes does not start without a layer that verifies tokens
/// ([`ServeError::ScopesWithoutTokens`]).
///
/// The server disables Nagle's algorithm, limits the number of connections, closes slow and idle
/// ones, and lets running calls finish when it shuts down. The head of a request may have 100 headers
/// and 64 KiB. A head with more headers, or of twice this size, is rejected with the status 431.
///
/// # Examples
///
/// ```no_run
/// use mcp::http::{Serve, termination};
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
    settings: ConnectionSettings,
    max_connections: usize,
    drain_delay: Duration,
    drain_timeout: Duration,
    stop: BoxFuture<'static, ()>,
}

impl<S> fmt::Debug for Serve<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("listener", &self.listener)
            .field("settings", &self.settings)
            .field("max_connections", &self.max_connections)
            .field("drain_delay", &self.drain_delay)
            .field("drain_timeout", &self.drain_timeout)
            .finish_non_exhaustive()
    }
}

impl<S> Serve<S> {
    /// Creates a server of `service` for the connections of `listener`, at the path `/mcp`.
    pub fn new(listener: TcpListener, service: S) -> Self {
        Self {
            listener,
            service,
            settings: ConnectionSettings {
                path: "/mcp".into(),
                further_paths: Vec::new(),
                health: None,
                cards: None,
                timeouts: ConnectionTimeouts {
                    head: Duration::from_secs(30),
                    idle: Duration::from_secs(120),
                },
                shutdown: Shutdown::new(),
            },
            max_connections: 10_000,
            drain_delay: Duration::ZERO,
            drain_timeout: Duration::from_secs(10),
            stop: Box::pin(std::future::pending()),
        }
    }

    /// Creates a server with a listener at `addr`. Port 0 selects a free port, see
    /// [`local_addr`](Self::local_addr).
    ///
    /// # Errors
    ///
    /// Returns an error when the address is invalid or in use.
    pub async fn bind(addr: impl ToSocketAddrs, service: S) -> io::Result<Self> {
        Ok(Self::new(TcpListener::bind(addr).await?, service))
    }

    /// Returns the address of the listener.
    ///
    /// # Errors
    ///
    /// Returns an error of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Sets the path of the endpoint, `/mcp` by default. The same path with a slash at its end reaches
    /// the endpoint as well. All other paths are answered with 404.
    pub fn path(mut self, path: impl Into<Arc<str>>) -> Self {
        self.settings.path = path.into();
        self
    }

    /// Adds a path whose requests reach the service, too, such as that of the metadata of a protected
    /// server.
    pub fn also_at(mut self, path: impl Into<String>) -> Self {
        self.settings.further_paths.push(path.into());
        self
    }

    /// Answers `GET /health` and `GET /ready`. During the shutdown, `/ready` answers 503.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use mcp::http::{HealthChecks, Serve, termination};
    /// use mcp::prelude::*;
    ///
    /// # async fn run(endpoint: StreamableHttp) -> std::io::Result<()> {
    /// Serve::bind("127.0.0.1:8000", endpoint)
    ///     .await?
    ///     .health_checks(HealthChecks::new())
    ///     .drain_delay(Duration::from_secs(5))
    ///     .shutdown_on(termination())
    ///     .await
    /// # }
    /// ```
    pub fn health_checks(mut self, health: HealthChecks) -> Self {
        self.settings.health = Some(health);
        self
    }

    /// Answers the paths of a server card and of its catalog, unless the service answers them.
    pub fn cards(mut self, cards: CardService) -> Self {
        self.settings.cards = Some(cards);
        self
    }

    /// Sets the maximum number of connections, 10,000 by default. Further connections wait in the
    /// queue of the operating system.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Sets the maximum time to receive the head of a request, 30 s by default. A connection is
    /// closed after this time at the earliest, and after twice this time at the latest.
    pub fn head_timeout(mut self, time: Duration) -> Self {
        self.settings.timeouts.head = time;
        self
    }

    /// Sets the maximum time without a request, and the maximum time in which a client must accept
    /// bytes of a response, 120 s by default. A connection is closed after this time at the
    /// earliest, and [`head_timeout`](Self::head_timeout) later at the latest.
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.settings.timeouts.idle = time;
        self
    }

    /// Sets the time between the start of the shutdown and the end of new connections, 0 by default. In
    /// this time `/ready` answers 503 ([`health_checks`](Self::health_checks)), so that load balancers
    /// stop sending requests here. It should be longer than their interval of checks.
    pub fn drain_delay(mut self, time: Duration) -> Self {
        self.drain_delay = time;
        self
    }

    /// Sets the maximum time for running calls to finish during a shutdown, 10 s by default. Calls
    /// that still run then are cancelled.
    pub fn drain_timeout(mut self, time: Duration) -> Self {
        self.drain_timeout = time;
        self
    }

    /// Shuts the server down when `stop` completes: no more connections are accepted, running calls
    /// finish, and streams without an end of their own end. Calls that still run after
    /// [`drain_timeout`](Self::drain_timeout) are cancelled.
    pub fn shutdown_on(mut self, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        self.stop = Box::pin(stop);
        self
    }

    /// Sets the handle for the shutdown. [`Shutdown::drain`] has the same effect as the future of
    /// [`shutdown_on`](Self::shutdown_on).
    pub fn shutdown_with(mut self, shutdown: Shutdown) -> Self {
        self.settings.shutdown = shutdown;
        self
    }
}

/// Error of [`Serve`]: the listener and the endpoint do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The listener accepts connections of other machines, but the endpoint serves only this machine,
    /// because its hosts are not configured.
    #[error(
        "cannot serve at {0}: other machines can connect, and the names of this server are not set; \
         set them with `allowed_hosts`, or listen at a loopback address such as 127.0.0.1"
    )]
    NoAllowedHosts(SocketAddr),
    /// An item needs scopes, but the endpoint demands no token: nobody could call the item.
    #[error(
        "cannot serve: {0}, and this endpoint demands no token, so nobody has scopes; demand tokens \
         (`authorize`, or `Protection::protect`), or remove the scopes"
    )]
    ScopesWithoutTokens(ScopedItem),
}

impl From<ServeError> for io::Error {
    fn from(error: ServeError) -> Self {
        Self::new(io::ErrorKind::InvalidInput, error)
    }
}

/// Checks that an endpoint which serves only this machine is not reachable by others.
// spec: HTTP-S-04
fn check_exposure(endpoint: &StreamableHttp, address: SocketAddr) -> Result<(), ServeError> {
    let is_loopback = address.ip().to_canonical().is_loopback();
    match endpoint.is_local_only() && !is_loopback {
        true => Err(ServeError::NoAllowedHosts(address)),
        false => Ok(()),
    }
}

/// Checks that an endpoint without a layer around it, which could verify tokens, demands no scopes.
fn check_scopes(endpoint: &StreamableHttp) -> Result<(), ServeError> {
    match endpoint.scoped_item() {
        Some(item) => Err(ServeError::ScopesWithoutTokens(item)),
        None => Ok(()),
    }
}

fn log_start(server: Option<&Implementation>, address: SocketAddr, path: &str) {
    match server {
        Some(server) => {
            let (name, version) = (&server.name, &server.version);
            tracing::info!("serving {name} {version} at http://{address}{path}");
        }
        None => tracing::info!("serving at http://{address}{path}"),
    }
}

/// Pause after an error of `accept`, for example because of too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

impl<S, B> Serve<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    async fn run(self) -> io::Result<()> {
        let address = self.listener.local_addr()?;
        let endpoint = (&self.service as &dyn Any).downcast_ref::<StreamableHttp>();
        if let Some(endpoint) = endpoint {
            check_exposure(endpoint, address)?;
            check_scopes(endpoint)?;
        }
        let server = endpoint.and_then(StreamableHttp::server_info);
        log_start(server.as_ref(), address, &self.settings.path);
        let mut settings = self.settings;
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
        tokio::select! {
            biased;
            () = stop => {}
            () = shutdown.draining() => {}
            never = accept_connections(&self.listener, self.service, &settings, &permits) => {
                match never {}
            }
        }
        drop(self.listener);
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
        Ok(())
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
        Box::pin(self.run())
    }
}

struct CloseOnDrop(Shutdown);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
