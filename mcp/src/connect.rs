//! `Client::connect` and `ClientBuilder::connect`.

use std::future::Future;

use mcp_client::{Client, ClientBuilder};

use crate::error::Result;
use crate::target::Target;

mod sealed {
    #![expect(unnameable_types, reason = "seals the traits")]

    pub trait Client {}
    pub trait ClientBuilder {}
    impl Client for mcp_client::Client {}
    impl ClientBuilder for mcp_client::ClientBuilder {}
}

/// Adds `connect` to [`Client`].
pub trait Connect: sealed::Client {
    /// Connects to a server with the default settings.
    ///
    /// The client negotiates the protocol version and reads the server's information and
    /// capabilities. See [`Target`] for the accepted values.
    ///
    /// # Errors
    ///
    /// Returns an error when the server cannot be reached, or when it supports no protocol version
    /// of this client.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::prelude::*;
    ///
    /// # #[cfg(feature = "http-client")]
    /// # async fn run() -> mcp::Result<()> {
    /// let client = Client::connect("http://127.0.0.1:8000/mcp").await?;
    /// for tool in client.list_tools().await? {
    ///     println!("{}: {}", tool.name, tool.description());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    fn connect(target: impl Target) -> impl Future<Output = Result<Client>> + Send;
}

impl Connect for Client {
    async fn connect(target: impl Target) -> Result<Self> {
        Self::builder().connect(target).await
    }
}

/// Adds `connect` to [`ClientBuilder`].
pub trait ConnectWith: sealed::ClientBuilder {
    /// Connects to a server with the settings of this builder.
    ///
    /// The client negotiates the protocol version and reads the server's information and
    /// capabilities. See [`Target`] for the accepted values.
    ///
    /// # Errors
    ///
    /// Returns an error when the server cannot be reached, when it supports no protocol version of
    /// this client, or when a setting is invalid.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::prelude::*;
    ///
    /// # #[cfg(feature = "http-client")]
    /// # async fn run() -> mcp::Result<()> {
    /// let client = Client::builder()
    ///     .identity("my-agent", "1.0.0")
    ///     .connect("http://127.0.0.1:8000/mcp")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    fn connect(self, target: impl Target) -> impl Future<Output = Result<Client>> + Send;
}

impl ConnectWith for ClientBuilder {
    async fn connect(self, target: impl Target) -> Result<Client> {
        target.connect(self).await
    }
}
