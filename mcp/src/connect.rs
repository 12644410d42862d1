//! Connecting a client in one line.

use std::future::Future;

use mcp_client::{Client, ClientBuilder};

use crate::{Result, Target};

mod sealed {
    #![expect(unnameable_types, reason = "seals the traits")]

    pub trait Client {}
    pub trait Builder {}
    impl Client for mcp_client::Client {}
    impl Builder for mcp_client::ClientBuilder {}
}

/// Gives [`Client`] its `connect`.
pub trait Connect: sealed::Client {
    /// Connects to a [server](Target) with the defaults: finds out what it speaks and who it is.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, or speaks nothing that this client speaks.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::prelude::*;
    ///
    /// # #[cfg(feature = "http-client")]
    /// # async fn run() -> mcp::Result<()> {
    /// let client = Client::connect("http://127.0.0.1:8000/mcp").await?;
    /// for tool in client.list_all_tools().await? {
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

/// Gives what [`Client::builder`] makes its `connect`.
pub trait ConnectWith: sealed::Builder {
    /// Connects to a [server](Target): finds out what it speaks and who it is.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, or speaks nothing that this client speaks.
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
