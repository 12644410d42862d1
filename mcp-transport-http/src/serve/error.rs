//! [`ServeError`].

use std::error::Error;
use std::io;
use std::net::SocketAddr;

use mcp_core::ScopedItem;

/// Error of [`Serve::run`](crate::Serve::run).
#[derive(Debug, thiserror::Error)]
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
    /// The server has mistakes: the error of [`Service::check`](mcp_core::Service::check), or the
    /// [`InvalidCard`](mcp_types::ext::server_card::InvalidCard) of its card.
    #[error(transparent)]
    Server(Box<dyn Error + Send + Sync>),
    /// A setting of the authorization is invalid.
    #[error(transparent)]
    Authorization(Box<dyn Error + Send + Sync>),
    /// The address is invalid or in use, or the listener fails.
    #[error(transparent)]
    Io(#[from] io::Error),
}
