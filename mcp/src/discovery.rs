//! `Client::discover_domain`: servers that a domain publishes.

use std::future::Future;

use mcp_client::Client;
use mcp_transport_http::client::{DiscoveredServer, DiscoveryError};
use mcp_types::ext::server_card::ServerCard;

/// Adds `discover_domain` and `fetch_card` to [`Client`].
pub trait DiscoverServers {
    /// Reads the catalog of a domain (`/.well-known/ai-catalog.json`), and the server cards in it. Experimental:
    /// the format is a draft.
    ///
    /// Requests use `https`, except for loopback addresses, and only the host of the domain; redirects are not
    /// followed. Sizes, number and time are limited, see
    /// [`discover_domain`](crate::http::client::discover_domain).
    ///
    /// A card is advice: let the user decide whether to connect to a URL in it, and compare its name with the
    /// server after connecting.
    ///
    /// # Errors
    ///
    /// Returns a [`DiscoveryError`] when the domain is invalid, or when its catalog cannot be read. A card that
    /// cannot be read is an error in its [`DiscoveredServer`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::prelude::*;
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// for server in Client::discover_domain("example.com").await? {
    ///     println!("{server}");
    ///     for remote in server.card?.remotes {
    ///         println!("  {}", remote.url);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    fn discover_domain(
        domain: &str,
    ) -> impl Future<Output = Result<Vec<DiscoveredServer>, DiscoveryError>> + Send;

    /// Reads one server card from its URL, such as `https://mcp.example.com/mcp/server-card`.
    ///
    /// # Errors
    ///
    /// Returns a [`DiscoveryError`] when the URL is neither `https` nor a loopback address, or when the card
    /// cannot be read or is invalid.
    fn fetch_card(url: &str) -> impl Future<Output = Result<ServerCard, DiscoveryError>> + Send;
}

impl DiscoverServers for Client {
    async fn discover_domain(domain: &str) -> Result<Vec<DiscoveredServer>, DiscoveryError> {
        mcp_transport_http::client::discover_domain(domain).await
    }

    async fn fetch_card(url: &str) -> Result<ServerCard, DiscoveryError> {
        mcp_transport_http::client::fetch_card(url).await
    }
}
