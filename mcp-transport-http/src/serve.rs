//! A small HTTP server, for programs without a web server.
//!
//! | layer | module | contents |
//! |---|---|---|
//! | 1 | `activity`, `address`, `error`, `waker_thread` | timeouts of a connection, addresses to listen at, errors, blocked workers |
//! | 2 | `connection` | one connection |
//! | 3 | `accept` | the accept loop and the shutdown |
//! | 4 | this module | the settings |

mod accept;
mod activity;
mod address;
mod connection;
mod error;
mod waker_thread;

use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::io::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use mcp_core::BoxFuture;
use mcp_types::escape_line;
use mcp_types::ext::server_card::ServerCard;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower_service::Service;

use crate::health::HealthChecks;
use crate::server::authorization::Authorization;
use crate::server::{CardService, StreamableHttp};
use crate::shutdown::{Shutdown, termination};
use accept::AcceptLoop;
use activity::ConnectionTimeouts;
use connection::ConnectionSettings;

pub use address::Address;
pub use error::ServeError;

/// A small HTTP server for programs without a web server: serves an MCP server, or any tower service.
/// [`run`](Self::run) starts it, and completes when the server has shut down.
///
/// By default it serves clients on this machine, at the path `/mcp`, until ctrl-c or SIGTERM. An endpoint
/// without [`allowed_hosts`](Self::allowed_hosts) serves only this machine: running it at an address that
/// other machines can reach is an error ([`ServeError::NoAllowedHosts`]). Behind a router or a layer, the
/// endpoint itself rejects the requests of other machines. An endpoint whose tools need scopes does not start
/// without [`authorize`](Self::authorize) or a layer that verifies tokens
/// ([`ServeError::ScopesWithoutTokens`]).
///
/// The server disables Nagle's algorithm, limits the number of connections, closes slow and idle
/// ones, and lets running calls finish when it shuts down. The head of a request may have 100 headers
/// and 64 KiB. A head with more headers, or of twice this size, is rejected with the status 431. To serve
/// other paths as well, use a web framework ([guide](https://docs.rs/omnimcp/latest/mcp/guide/http)).
///
/// # Examples
///
/// ```no_run
/// use mcp::http::Serve;
/// use mcp::prelude::*;
///
/// # async fn run() -> mcp::Result<()> {
/// let server = Server::new("clock", "1.0.0")
///     .tool(Tool::new("now").description("The time").handler(|| "half past"));
/// Serve::new(server)
///     .allowed_hosts(["mcp.example.com"])
///     .allowed_origins(["https://app.example.com"])
///     .run("0.0.0.0:8000")
///     .await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a server does nothing until `run` is awaited"]
pub struct Serve<S = StreamableHttp> {
    service: S,
    protection: Option<Protection<S>>,
    /// `None`: the public URL's path, or `/mcp`.
    path: Option<Arc<str>>,
    card: Option<ServerCard>,
    accept: AcceptLoop,
}

/// An authorization that was set: the defaults that come from its public URL, and the server behind it.
struct Protection<S> {
    host: Option<String>,
    path: Option<String>,
    run: RunProtected<S>,
}

type RunProtected<S> = Box<
    dyn FnOnce(S, AcceptLoop, TcpListener) -> BoxFuture<'static, Result<(), ServeError>> + Send,
>;

impl Serve {
    /// Creates a server of `service`, such as a `Server`, for clients on this machine, at the path `/mcp`. For
    /// further settings of the endpoint use [`Serve::service`].
    pub fn new(service: impl mcp_core::Service) -> Self {
        Self::service(StreamableHttp::new(service))
    }

    /// Sets this server's host names, see [`StreamableHttp::allowed_hosts`]. Required to serve
    /// other machines.
    pub fn allowed_hosts<I: IntoIterator<Item: AsRef<str>>>(mut self, hosts: I) -> Self {
        self.service = self.service.allowed_hosts(hosts);
        self
    }

    /// Sets the origins of web pages that may call this server, see
    /// [`StreamableHttp::allowed_origins`].
    pub fn allowed_origins<I: IntoIterator<Item: AsRef<str>>>(mut self, origins: I) -> Self {
        self.service = self.service.allowed_origins(origins);
        self
    }

    /// Demands access tokens, and publishes the authorization's metadata.
    ///
    /// The public URL's host is the allowed host, unless it is this machine, and its path that of the
    /// endpoint. Call [`allowed_hosts`](Self::allowed_hosts) or [`path`](Self::path), before or afterwards,
    /// where a proxy changes them.
    ///
    /// Handlers receive the caller as `Identity`, and the claims of its token as `Identity<Claims>`.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::auth::ResourceServer;
    /// use mcp::http::Serve;
    /// use mcp::prelude::*;
    ///
    /// fn whoami(Identity(who): Identity) -> String {
    ///     who.subject.clone()
    /// }
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let auth = ResourceServer::new("https://mcp.example.com/mcp")
    ///     .issuer("https://login.example.com");
    /// let server = Server::new("hello", "1.0.0").tool(Tool::new("whoami").handler(whoami));
    /// Serve::new(server).authorize(auth).run("0.0.0.0:8000").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn authorize<A, B>(mut self, authorization: A) -> Self
    where
        A: Authorization,
        A::Service: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        A::Service: Clone + Send + 'static,
        <A::Service as Service<Request<Incoming>>>::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.protection = Some(Protection {
            host: authorization.host(),
            path: authorization.path(),
            run: Box::new(|endpoint, mut accept, listener| {
                Box::pin(async move {
                    let protected = authorization.protect(endpoint);
                    let protected = protected.map_err(ServeError::Authorization)?;
                    accept.connections.further_paths = protected.paths;
                    accept.run(listener, protected.service).await;
                    Ok(())
                })
            }),
        });
        self
    }
}

impl<S> Serve<S> {
    /// Creates a server of any tower service: an endpoint with settings of its own, or one inside layers.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use mcp::http::Serve;
    /// use mcp::prelude::*;
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let endpoint = StreamableHttp::new(Server::new("clock", "1.0.0"))
    ///     .ping_interval(Duration::from_secs(5));
    /// Serve::service(endpoint).run("127.0.0.1:8000").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn service(service: S) -> Self {
        Self {
            service,
            protection: None,
            path: None,
            card: None,
            accept: AcceptLoop {
                connections: ConnectionSettings {
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
                stop: termination(),
            },
        }
    }

    /// Sets the endpoint's path. Default: that of the public URL of [`authorize`](Serve::authorize), or
    /// `/mcp`. The same path with a slash at its end reaches the endpoint as well. All other paths are answered
    /// with 404.
    pub fn path(mut self, path: impl Into<Arc<str>>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Publishes a card of the server at `<path>/server-card`, and in the catalog of the domain at
    /// `/.well-known/ai-catalog.json`. Everybody may read them, also if the server demands access tokens.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::http::Serve;
    /// use mcp::prelude::*;
    /// use mcp::types::ext::server_card::{CardRemote, ServerCard};
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let card = ServerCard::new("com.example/docs", "1.0.0", "Documents of the company")
    ///     .remote(CardRemote::streamable_http("https://mcp.example.com/mcp"));
    /// Serve::new(Server::new("docs", "1.0.0"))
    ///     .card(card)
    ///     .allowed_hosts(["mcp.example.com"])
    ///     .run("0.0.0.0:8000")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn card(mut self, card: ServerCard) -> Self {
        self.card = Some(card);
        self
    }

    /// Answers `GET /health` and `GET /ready`. During the shutdown, `/ready` answers 503.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use mcp::http::{HealthChecks, Serve};
    /// use mcp::prelude::*;
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// Serve::new(Server::new("clock", "1.0.0"))
    ///     .health_checks(HealthChecks::new())
    ///     .drain_delay(Duration::from_secs(5))
    ///     .run("127.0.0.1:8000")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn health_checks(mut self, health: HealthChecks) -> Self {
        self.accept.connections.health = Some(health);
        self
    }

    /// Sets the maximum number of connections, 10,000 by default. Further connections wait in the
    /// operating system's queue.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.accept.max_connections = connections.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Sets the maximum time to receive a request's head, 30 s by default. A slower connection is closed
    /// after this time, or up to a fifth later.
    pub fn head_timeout(mut self, time: Duration) -> Self {
        self.accept.connections.timeouts.head = time;
        self
    }

    /// Sets the maximum time without a request, and the maximum time in which a client must accept
    /// bytes of a response, 120 s by default. An idle connection is closed after this time, or up to a
    /// fifth later. Behind a load balancer, set a longer time than the load balancer keeps idle
    /// connections ([guide](https://docs.rs/omnimcp/latest/mcp/guide/deployment/index.html#behind-a-proxy)).
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.accept.connections.timeouts.idle = time;
        self
    }

    /// Sets the time between the start of the shutdown and the end of new connections, 0 by default. In
    /// this time `/ready` answers 503 ([`health_checks`](Self::health_checks)), so that load balancers
    /// stop sending requests here. It should be longer than their interval of checks.
    pub fn drain_delay(mut self, time: Duration) -> Self {
        self.accept.drain_delay = time;
        self
    }

    /// Sets the maximum time for running calls to finish during a shutdown, 10 s by default. Calls
    /// that still run then are cancelled.
    pub fn drain_timeout(mut self, time: Duration) -> Self {
        self.accept.drain_timeout = time;
        self
    }

    /// Shuts the server down when `stop` completes, instead of after ctrl-c or SIGTERM
    /// ([`termination`]): no more connections are accepted, running calls finish, and streams without an end of
    /// their own end. Calls that still run after [`drain_timeout`](Self::drain_timeout) are cancelled.
    pub fn shutdown_on(mut self, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        self.accept.stop = Box::pin(stop);
        self
    }

    /// Sets the handle for the shutdown. [`Shutdown::drain`] has the same effect as the future of
    /// [`shutdown_on`](Self::shutdown_on).
    pub fn shutdown_with(mut self, shutdown: Shutdown) -> Self {
        self.accept.connections.shutdown = shutdown;
        self
    }
}

impl<S, B> Serve<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    /// Serves at `address` until the shutdown. An event of `tracing` (level INFO) tells the server's URL. Without a
    /// subscriber, a line on standard error does so, where `mcp dev` finds it.
    ///
    /// # Errors
    ///
    /// Returns a [`ServeError`] when the server has mistakes, when a setting is invalid, when the address
    /// cannot be bound, when other machines can reach it and [`allowed_hosts`](Serve::allowed_hosts) was not
    /// called, or when an item needs scopes without [`authorize`](Serve::authorize).
    pub async fn run(mut self, address: impl Address) -> Result<(), ServeError> {
        let (host, public_path, run_protected) = match self.protection.take() {
            Some(Protection { host, path, run }) => (host, path, Some(run)),
            None => (None, None, None),
        };
        if let Some(endpoint) = endpoint(&mut self.service) {
            if let Some(service) = endpoint.shared_service() {
                service.check().map_err(ServeError::Server)?;
            }
            if let Some(host) = host
                && endpoint.is_local_only()
            {
                *endpoint = endpoint.clone().allowed_hosts([host]);
            }
        }
        let mut accept = self.accept;
        if let Some(path) = self.path.or_else(|| public_path.map(Into::into)) {
            accept.connections.path = path;
        }
        if let Some(card) = &self.card {
            let cards = CardService::new(card, &accept.connections.path);
            let cards = cards.map_err(|error| ServeError::Server(error.into()))?;
            accept.connections.cards = Some(cards);
        }
        let listener = address.listen().await?;
        let address = listener.local_addr()?;
        let served = endpoint(&mut self.service);
        if let (None, Some(endpoint)) = (&run_protected, &served) {
            check_exposure(endpoint, address)?;
            check_scopes(endpoint)?;
        }
        log_start(served.as_deref(), address, &accept.connections.path);
        if let Some(run) = run_protected {
            return run(self.service, accept, listener).await;
        }
        accept.run(listener, self.service).await;
        Ok(())
    }
}

/// Returns the endpoint when it is served without a layer or a router around it.
fn endpoint<S: 'static>(service: &mut S) -> Option<&mut StreamableHttp> {
    (service as &mut dyn Any).downcast_mut()
}

/// Checks that an endpoint which serves only this machine is not reachable by others.
// spec: HTTP-S-04, HTTP-S-05
fn check_exposure(endpoint: &StreamableHttp, address: SocketAddr) -> Result<(), ServeError> {
    let is_loopback = address.ip().to_canonical().is_loopback();
    if endpoint.is_local_only() && !is_loopback {
        return Err(ServeError::NoAllowedHosts(address));
    }
    Ok(())
}

/// Checks that an endpoint without a layer around it, which could verify tokens, demands no scopes.
fn check_scopes(endpoint: &StreamableHttp) -> Result<(), ServeError> {
    let item = endpoint
        .shared_service()
        .and_then(|service| service.scoped_item());
    item.map_or(Ok(()), |item| Err(ServeError::ScopesWithoutTokens(item)))
}

/// Tells the server's URL: by an event, or by a line for the person or program that has started it.
fn log_start(endpoint: Option<&StreamableHttp>, address: SocketAddr, path: &str) {
    let service = endpoint.and_then(StreamableHttp::shared_service);
    let name = service.map(|service| {
        let profile = service.profile();
        let info = profile.info();
        format!(" {} {}", info.name, info.version)
    });
    let name = name.unwrap_or_default();
    let line = format_args!("serving{name} at http://{address}{path}");
    tracing::info!("{}", mcp_types::escaped(line));
    if !tracing::dispatcher::has_been_set() {
        let line = start_line(&name, address, path);
        // Without a reader of the line, the server still starts.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// Returns the line of a server. Programs on this machine reach an address of all interfaces by a loopback address.
fn start_line(name: &str, mut address: SocketAddr, path: &str) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    let url = format!("http://{address}{path}");
    let line = format!("serving{name} at {url}; see it with `mcp inspect {url}`");
    format!("{}\n", escape_line(&line))
}

impl<S> fmt::Debug for Serve<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("path", &self.path)
            .field("connections", &self.accept.connections)
            .field("max_connections", &self.accept.max_connections)
            .field("drain_delay", &self.accept.drain_delay)
            .field("drain_timeout", &self.accept.drain_timeout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::start_line;

    #[test]
    fn line_has_name_address_and_command() {
        for (address, url) in [
            ("127.0.0.1:8000", "http://127.0.0.1:8000/mcp"),
            ("0.0.0.0:80", "http://127.0.0.1:80/mcp"),
            ("[::]:80", "http://[::1]:80/mcp"),
        ] {
            let line = start_line(" shop\n 1.0.0", address.parse().unwrap(), "/mcp");
            let expected =
                format!("serving shop\\n 1.0.0 at {url}; see it with `mcp inspect {url}`\n");
            assert_eq!(line, expected);
        }
    }
}
