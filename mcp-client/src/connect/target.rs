//! [`Target`]: the server that a client connects to.

#[cfg(feature = "http")]
mod http;
#[cfg(feature = "stdio")]
mod stdio;

use std::future::Future;

use mcp_core::{Channel, InProcessChannel, Service};

use super::builder::ClientBuilder;
use super::open::open;
use crate::client::Client;
use crate::error::Error;

#[cfg(feature = "stdio")]
pub use stdio::Io;

/// A connection target: the server that a client connects to.
///
/// | type | server | feature |
/// |---|---|---|
/// | `&str`, `String`, `Url` | a Streamable HTTP endpoint at this URL | `http` |
/// | `HttpChannel` | an HTTP endpoint, with custom headers and limits | `http` |
/// | `Command` of the standard library or of tokio, `ServerCommand` | a child process | `stdio` |
/// | `Io` | the peer of a pair of byte streams | `stdio` |
/// | [`ServerSpec`](crate::group::ServerSpec) | an entry of an `mcp.json` | `http`, `stdio` |
/// | [`InProcess`] | a server in this process | |
/// | [`Over`] | the peer of any [`Channel`] | |
///
/// Program, arguments, environment variables and working directory of a `Command` are used; its
/// other settings are ignored. The child process gets the command's variables and a few variables
/// of this process, such as `PATH` and `HOME`.
///
/// Implement the trait for another kind of server by connecting to a target of this table.
///
/// # Examples
///
/// ```
/// use mcp::client::{Client, ClientBuilder, Error, Target};
///
/// /// The server of a tenant.
/// #[derive(Clone)]
/// struct Tenant(u32);
///
/// impl Target for Tenant {
///     async fn connect(self, builder: ClientBuilder) -> Result<Client, Error> {
///         let builder = builder.header("x-tenant", self.0.to_string());
///         builder.connect("https://mcp.example.com/mcp").await
///     }
/// }
///
/// # async fn run() -> Result<(), Error> {
/// let client = Client::connect(Tenant(7)).await?;
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a connection target",
    label = "expected a URL, a command, a pair of streams, or a server in this process",
    note = "URLs need the feature `http`, commands and `Io` the feature `stdio`; \
            `InProcess` takes a `Server`, and `Over` a channel"
)]
pub trait Target: Send {
    /// Connects to this server with the settings of `builder`.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the server cannot be reached, when it supports no protocol version of
    /// the client, or when a setting is invalid.
    fn connect(self, builder: ClientBuilder) -> impl Future<Output = Result<Client, Error>> + Send;
}

impl Client {
    /// Connects to a server with the default settings.
    ///
    /// The client negotiates the protocol version and reads the server's information and
    /// capabilities. See [`Target`] for the accepted values.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the server cannot be reached, or when it supports no protocol version
    /// of this client ([`Error::supported_versions`] returns those of the server).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::prelude::*;
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let client = Client::connect("http://127.0.0.1:8000/mcp").await?;
    /// for tool in client.list_tools().await? {
    ///     println!("{}: {}", tool.name, tool.description.as_deref().unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(target: impl Target) -> Result<Self, Error> {
        Self::builder().connect(target).await
    }
}

impl ClientBuilder {
    /// Connects to a server with this builder's settings.
    ///
    /// The client negotiates the protocol version and reads the server's information and
    /// capabilities. See [`Target`] for the accepted values.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the server cannot be reached, when it supports no protocol version of
    /// this client ([`Error::supported_versions`] returns those of the server), or when a setting is
    /// invalid: a root that is not a `file://` URI, a header, an extension.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::prelude::*;
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let client = Client::builder()
    ///     .identity("my-agent", "1.0.0")
    ///     .connect("http://127.0.0.1:8000/mcp")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(self, target: impl Target) -> Result<Client, Error> {
        target.connect(self).await
    }
}

/// The peer of any channel. A wrapper, because a channel can be a URL or a command as well.
///
/// # Examples
///
/// ```no_run
/// use mcp::Over;
/// use mcp::prelude::*;
///
/// # async fn run() -> mcp::Result<()> {
/// let (reader, writer) = tokio::io::split(tokio::io::empty());
/// let channel = mcp::stdio::PipeChannel::new(reader, writer);
/// let client = Client::connect(Over(channel)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "the channel is the whole type")]
pub struct Over<C>(pub C);

impl<C: Channel> Target for Over<C> {
    async fn connect(self, builder: ClientBuilder) -> Result<Client, Error> {
        open(builder, self.0).await
    }
}

/// A server in this process: a `Server`, an `Arc` of one, or any other [`Service`]. Calls run on the
/// caller's task; no socket and no task is created.
///
/// A value with `#[mcp::server]` becomes a `Server` with `Server::of`.
///
/// # Errors
///
/// Connecting fails when [`Service::check`] reports a mistake of the server.
///
/// # Examples
///
/// ```
/// use mcp::InProcess;
/// use mcp::prelude::*;
///
/// # async fn run() -> mcp::Result<()> {
/// let server = Server::new("clock", "1.0.0")
///     .tool(Tool::new("now").description("The time").handler(|| "half past"));
/// let client = Client::connect(InProcess(server)).await?;
/// assert_eq!(client.list_tools().await?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "the server is the whole type")]
pub struct InProcess<S>(pub S);

impl<S: Service> Target for InProcess<S> {
    async fn connect(self, builder: ClientBuilder) -> Result<Client, Error> {
        self.0.check().map_err(Error::other)?;
        open(builder, InProcessChannel::new(self.0)).await
    }
}
