//! [`serve_http`] and [`Serve`].

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::{BoxFuture, Gate};
use mcp_server::{IntoServer, SetupError};
use mcp_transport_http::server::{CardService, Sessions};
use mcp_transport_http::{HealthChecks, StreamableHttp, termination};
use mcp_types::ext::server_card::{InvalidCard, ServerCard};

use super::address::Address;
use crate::error::Result;

/// Serves `server` over Streamable HTTP at the path `/mcp` of `address`.
///
/// The future completes after ctrl-c or SIGTERM. Running calls then have ten seconds to finish. An event
/// of `tracing` (level INFO) tells the URL of the server.
///
/// Only clients on this machine are served: the address must be a loopback address, and `Host` and
/// `Origin` of a request must name this machine. Use [`Serve`] to serve other machines, and for other
/// settings. To add the endpoint to a web application, see [`StreamableHttp`].
///
/// # Errors
///
/// Returns an error when [`Server::check`](crate::Server::check) finds a mistake, when the address is
/// not a loopback address or cannot be bound, or when the listener fails.
///
/// # Examples
///
/// ```no_run
/// use mcp::prelude::*;
///
/// # async fn run() -> mcp::Result<()> {
/// let server = Server::new("clock", "1.0.0")
///     .tool(Tool::new("now").describe("The time").handler(|| "half past"));
/// mcp::serve_http(server, "127.0.0.1:8000").await
/// # }
/// ```
pub async fn serve_http(server: impl IntoServe, address: impl Address) -> Result<()> {
    server.into_serve().run(address).await
}

/// A server that [`serve_http`] serves: a [`Server`](crate::Server), a value whose `impl` block has
/// `#[mcp::server]`, a server with authorization, or [`Serve`] with its settings.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a server",
    note = "put `#[mcp::server]` on its `impl` block, or build a `Server` by hand"
)]
pub trait IntoServe {
    /// Converts the value into a server with settings.
    fn into_serve(self) -> Serve;
}

impl<S: IntoServer> IntoServe for S {
    fn into_serve(self) -> Serve {
        Serve::new(self)
    }
}

impl IntoServe for Serve {
    fn into_serve(self) -> Serve {
        self
    }
}

/// A server over Streamable HTTP, with settings. [`run`](Self::run) serves it, as [`serve_http`] does with
/// the default settings.
///
/// For settings that are not here, change the endpoint with [`endpoint`](Self::endpoint). To serve other
/// paths as well, use a web framework ([guide](crate::guide::http)).
///
/// # Examples
///
/// ```no_run
/// use mcp::prelude::*;
///
/// # async fn run() -> mcp::Result<()> {
/// let server = Server::new("clock", "1.0.0")
///     .tool(Tool::new("now").describe("The time").handler(|| "half past"));
/// mcp::Serve::new(server)
///     .allowed_hosts(["mcp.example.com"])
///     .allowed_origins(["https://app.example.com"])
///     .run("0.0.0.0:8000")
///     .await
/// # }
/// ```
#[must_use = "a server does nothing until `run` is awaited"]
pub struct Serve {
    endpoint: StreamableHttp,
    checked: Result<(), SetupError>,
    /// `None`: the path of the public URL, or `/mcp`.
    path: Option<Arc<str>>,
    #[cfg(feature = "auth")]
    auth: Option<mcp_auth::ResourceServer>,
    card: Option<ServerCard>,
    /// The settings without a value have the default of [`mcp_transport_http::Serve`].
    max_connections: Option<usize>,
    drain_delay: Option<Duration>,
    drain_timeout: Option<Duration>,
    health: Option<HealthChecks>,
    stop: BoxFuture<'static, ()>,
}

impl Serve {
    /// Creates a server with the default settings: for clients on this machine, at the path `/mcp`.
    pub fn new(server: impl IntoServer) -> Self {
        let server = server.into_server();
        Self {
            checked: server.check(),
            endpoint: StreamableHttp::new(server),
            path: None,
            #[cfg(feature = "auth")]
            auth: None,
            card: None,
            max_connections: None,
            drain_delay: None,
            drain_timeout: None,
            health: None,
            stop: termination(),
        }
    }

    /// Sets the host names of this server, see [`StreamableHttp::allowed_hosts`]. Required to serve
    /// other machines.
    pub fn allowed_hosts<I: IntoIterator<Item: AsRef<str>>>(self, hosts: I) -> Self {
        self.endpoint(|endpoint| endpoint.allowed_hosts(hosts))
    }

    /// Sets the origins of web pages that may call this server, see
    /// [`StreamableHttp::allowed_origins`].
    pub fn allowed_origins<I: IntoIterator<Item: AsRef<str>>>(self, origins: I) -> Self {
        self.endpoint(|endpoint| endpoint.allowed_origins(origins))
    }

    /// Sets the maximum size of a request body in bytes, 4 MiB by default.
    pub fn body_limit(self, bytes: usize) -> Self {
        self.endpoint(|endpoint| endpoint.body_limit(bytes))
    }

    /// Sets the support for clients of the revisions with sessions, [`Sessions::in_memory`] by default.
    pub fn sessions(self, sessions: Sessions) -> Self {
        self.endpoint(|endpoint| endpoint.sessions(sessions))
    }

    /// Sets a gate that permits or refuses each call, see [`StreamableHttp::gate`].
    pub fn gate(self, gate: impl Gate) -> Self {
        self.endpoint(|endpoint| endpoint.gate(gate))
    }

    /// Changes any setting of the endpoint.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use mcp::prelude::*;
    ///
    /// let server = Server::new("clock", "1.0.0");
    /// let serve = mcp::Serve::new(server)
    ///     .endpoint(|endpoint| endpoint.ping_interval(Duration::from_secs(5)));
    /// ```
    pub fn endpoint(mut self, change: impl FnOnce(StreamableHttp) -> StreamableHttp) -> Self {
        self.endpoint = change(self.endpoint);
        self
    }

    /// Sets the path of the endpoint. Default: that of the public URL of [`authorize`](Self::authorize), or
    /// `/mcp`.
    pub fn path(mut self, path: impl Into<Arc<str>>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Demands access tokens, and publishes the metadata of the authorization.
    ///
    /// The host of the public URL is the allowed host, unless it is this machine, and its path that of the
    /// endpoint. Call [`allowed_hosts`](Self::allowed_hosts) or [`path`](Self::path), before or afterwards,
    /// where a proxy changes them.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::auth::ResourceServer;
    /// use mcp::prelude::*;
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let auth = ResourceServer::new("https://mcp.example.com/mcp")
    ///     .issuer("https://login.example.com");
    /// mcp::Serve::new(Server::new("files", "1.0.0"))
    ///     .authorize(auth)
    ///     .body_limit(1 << 20)
    ///     .run("0.0.0.0:8000")
    ///     .await
    /// # }
    /// ```
    #[cfg(feature = "auth")]
    pub fn authorize(mut self, auth: mcp_auth::ResourceServer) -> Self {
        self.auth = Some(auth.owns_origin());
        self
    }

    /// Publishes a card of the server at `<path>/server-card`, and in the catalog of the domain at
    /// `/.well-known/ai-catalog.json`. Everybody may read them, also if the server demands access tokens.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::prelude::*;
    /// use mcp::types::ext::server_card::{CardRemote, ServerCard};
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let card = ServerCard::new("com.example/docs", "1.0.0", "Documents of the company")
    ///     .remote(CardRemote::streamable_http("https://mcp.example.com/mcp"));
    /// mcp::Serve::new(Server::new("docs", "1.0.0"))
    ///     .card(card)
    ///     .allowed_hosts(["mcp.example.com"])
    ///     .run("0.0.0.0:8000")
    ///     .await
    /// # }
    /// ```
    pub fn card(mut self, card: ServerCard) -> Self {
        self.card = Some(card);
        self
    }

    /// Sets the maximum number of connections, 10,000 by default. Further connections wait.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = Some(connections);
        self
    }

    /// Answers `GET /health` and `GET /ready`, see
    /// [`http::Serve::health_checks`](mcp_transport_http::Serve::health_checks).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use mcp::http::HealthChecks;
    /// use mcp::prelude::*;
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// mcp::Serve::new(Server::new("clock", "1.0.0"))
    ///     .health_checks(HealthChecks::new())
    ///     .drain_delay(Duration::from_secs(5))
    ///     .run("127.0.0.1:8000")
    ///     .await
    /// # }
    /// ```
    pub fn health_checks(mut self, health: HealthChecks) -> Self {
        self.health = Some(health);
        self
    }

    /// Sets the time for which a server that shuts down still accepts connections, 0 by default. Load
    /// balancers that check `/ready` stop sending requests in this time.
    pub fn drain_delay(mut self, time: Duration) -> Self {
        self.drain_delay = Some(time);
        self
    }

    /// Sets the maximum time for running calls to finish during a shutdown, 10 s by default.
    pub fn drain_timeout(mut self, time: Duration) -> Self {
        self.drain_timeout = Some(time);
        self
    }

    /// Shuts the server down when `stop` completes, instead of after ctrl-c or SIGTERM.
    pub fn shutdown_on(mut self, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        self.stop = Box::pin(stop);
        self
    }

    /// Serves at `address` until the shutdown.
    ///
    /// # Errors
    ///
    /// Returns an error when [`Server::check`](crate::Server::check) finds a mistake, when the address
    /// cannot be bound, when the [card](Self::card) is invalid, when other machines can reach it and [`allowed_hosts`](Self::allowed_hosts) was
    /// not called, when a setting of the authorization is invalid, when a route needs scopes without
    /// authorization, or when the listener fails.
    pub async fn run(mut self, address: impl Address) -> Result<()> {
        std::mem::replace(&mut self.checked, Ok(()))?;
        #[cfg(feature = "auth")]
        self.apply_public_url();
        let path = self.path.get_or_insert_with(|| "/mcp".into());
        let card = self.card.take();
        let cards = card.map(|card| CardService::new(&card, path));
        let cards = cards.transpose().map_err(invalid_card)?;
        let endpoint = self.endpoint.clone();
        #[cfg(feature = "auth")]
        if let Some(auth) = self.auth.take() {
            let protection = auth.build()?;
            let listener = address.listen().await?;
            let service = protection.protect(endpoint);
            let mut serve = mcp_transport_http::Serve::new(listener, service);
            for path in protection.metadata_paths() {
                serve = serve.also_at(path);
            }
            return Ok(self.configure(serve, cards).await?);
        }
        let listener = address.listen().await?;
        let serve = mcp_transport_http::Serve::new(listener, endpoint);
        Ok(self.configure(serve, cards).await?)
    }

    /// Sets the host and the path of the public URL, unless the program has set others.
    #[cfg(feature = "auth")]
    fn apply_public_url(&mut self) {
        let Some(auth) = &self.auth else {
            return;
        };
        if self.endpoint.is_local_only()
            && let Some(host) = auth.public_host()
        {
            self.endpoint = self.endpoint.clone().allowed_hosts([host]);
        }
        if self.path.is_none() {
            self.path = auth.path().map(Into::into);
        }
    }

    /// Sets the settings of the HTTP server.
    fn configure<S>(
        self,
        serve: mcp_transport_http::Serve<S>,
        cards: Option<CardService>,
    ) -> mcp_transport_http::Serve<S> {
        let mut serve = serve.shutdown_on(self.stop);
        if let Some(path) = self.path {
            serve = serve.path(path);
        }
        if let Some(cards) = cards {
            serve = serve.cards(cards);
        }
        if let Some(connections) = self.max_connections {
            serve = serve.max_connections(connections);
        }
        if let Some(health) = self.health {
            serve = serve.health_checks(health);
        }
        if let Some(time) = self.drain_delay {
            serve = serve.drain_delay(time);
        }
        if let Some(time) = self.drain_timeout {
            serve = serve.drain_timeout(time);
        }
        serve
    }
}

fn invalid_card(error: InvalidCard) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

impl fmt::Debug for Serve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("endpoint", &self.endpoint)
            .field("path", &self.path)
            .field("max_connections", &self.max_connections)
            .field("drain_delay", &self.drain_delay)
            .field("drain_timeout", &self.drain_timeout)
            .finish_non_exhaustive()
    }
}
