//! Clients of a server in the same process.

use std::any::Any;
use std::io;

use mcp::client::{ClientBuilder, Error};
use mcp::core::Service as _;
use mcp::middleware::{Exchange, Next, from_fn};
use mcp::{Client, InProcess, IntoServer, Principal, Server};

/// Connects a client with default settings to a server in the same process.
///
/// # Errors
///
/// Returns an error when [`Server::check`](mcp::Server::check) finds a mistake, and when a route needs
/// scopes: use [`connect_as`] with a caller that has scopes.
pub async fn connect(server: impl IntoServer) -> Result<Client, Error> {
    connect_with(server, Client::builder()).await
}

/// Connects a client whose calls have an identity, as if a layer had authenticated them: a
/// [`Principal`] for tools that take `Identity`, or any other value for `Identity<T>` and
/// `Extension<T>`. The scopes of a principal are checked: a call that needs further ones is refused.
///
/// # Examples
///
/// ```
/// use mcp::Principal;
/// use mcp::prelude::*;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> mcp::Result<()> {
/// let whoami = Tool::new("whoami").handler(|Identity(who): Identity| who.subject.to_string());
/// let server = Server::new("desk", "1.0.0").tool(whoami);
/// let ada = Principal::new("https://issuer.example", "ada");
/// let client = mcp_testing::connect_as(server, ada).await?;
/// assert_eq!(client.call("whoami", json!({})).await?.text(), "ada");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error when [`Server::check`](mcp::Server::check) finds a mistake, and when a route needs
/// scopes and `identity` is not a principal.
pub async fn connect_as<T: Clone + Send + Sync + 'static>(
    server: impl IntoServer,
    identity: T,
) -> Result<Client, Error> {
    let has_caller = (&identity as &dyn Any).is::<Principal>();
    let server = server.into_server();
    check(&server, has_caller)?;
    let layer = from_fn(move |mut exchange: Exchange, next: Next| {
        exchange.extensions.insert(identity.clone());
        async move { next.run(exchange).await }
    });
    Client::connect(InProcess(server.layer(layer))).await
}

/// Connects a client with custom settings, such as handlers for requests of the server.
///
/// # Errors
///
/// Returns an error when [`Server::check`](mcp::Server::check) finds a mistake, when a route needs scopes, or
/// when a setting of `builder` is invalid.
pub async fn connect_with(
    server: impl IntoServer,
    builder: ClientBuilder,
) -> Result<Client, Error> {
    let server = server.into_server();
    check(&server, false)?;
    builder.connect(InProcess(server)).await
}

/// Checks a server before a client connects, as its start over HTTP does.
pub(crate) fn check(server: &Server, has_caller: bool) -> Result<(), Error> {
    server.check().map_err(Error::other)?;
    match server.scoped_item() {
        Some(item) if !has_caller => {
            let error = format!(
                "{item}, and a caller without a token has no scopes; test as a caller with scopes: \
                 `connect_as(server, Principal::new(issuer, subject).scopes([…]))` or \
                 `Pair::principal`"
            );
            let error = io::Error::new(io::ErrorKind::InvalidInput, error);
            Err(Error::other(error))
        }
        _ => Ok(()),
    }
}
