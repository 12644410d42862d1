//! `server.authorize(auth)`: a server that demands access tokens.

use mcp_auth::ResourceServer;
use mcp_server::IntoServer;

use super::http::{IntoServe, Serve};

/// Adds `authorize` to servers.
pub trait Authorize: IntoServer + Sized {
    /// Demands access tokens when the server is served over HTTP, by [`serve_http`](crate::serve_http) or
    /// with the settings of [`Serve`].
    ///
    /// Handlers receive the caller as `Identity`, and the claims of its token as `Identity<Claims>`.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::auth::{Claims, ResourceServer};
    /// use mcp::prelude::*;
    ///
    /// fn whoami(Identity(claims): Identity<Claims>) -> String {
    ///     claims.subject().to_owned()
    /// }
    ///
    /// # async fn run() -> mcp::Result<()> {
    /// let auth = ResourceServer::new("https://mcp.example.com/mcp")
    ///     .issuer("https://login.example.com");
    /// let server = Server::new("hello", "1.0.0").tool(Tool::new("whoami").handler(whoami));
    /// mcp::serve_http(server.authorize(auth), "0.0.0.0:8000").await
    /// # }
    /// ```
    fn authorize(self, auth: ResourceServer) -> AuthorizedServer;
}

impl<S: IntoServer> Authorize for S {
    fn authorize(self, auth: ResourceServer) -> AuthorizedServer {
        AuthorizedServer(Serve::new(self).authorize(auth))
    }
}

/// A server that demands access tokens, created by [`Authorize::authorize`].
#[derive(Debug)]
#[must_use = "serves nothing until it is passed to `serve_http`"]
pub struct AuthorizedServer(Serve);

impl IntoServe for AuthorizedServer {
    fn into_serve(self) -> Serve {
        self.0
    }
}
