//! Serving over the standard streams in one line.

use mcp_core::BoxFuture;
use mcp_server::{IntoServer, Server};
use mcp_transport_stdio::StdioServer;

use crate::Result;

/// Serves a server to the program that has started this one, over the standard streams, until that
/// program closes its side: then running calls finish, for ten seconds at the most.
///
/// On Unix nothing that this program prints reaches the client any more: `println!` writes to the
/// standard error. Log there. For limits and other streams build a [`StdioServer`].
///
/// # Errors
///
/// When the server has a mistake ([`Server::check`](crate::Server::check)), or the streams fail.
///
/// # Examples
///
/// ```no_run
/// use mcp::prelude::*;
///
/// #[tokio::main]
/// async fn main() -> mcp::Result<()> {
///     let server = Server::new("clock", "1.0.0")
///         .tool(Tool::new("now").describe("The time").handler(|| "half past"));
///     mcp::serve_stdio(server).await
/// }
/// ```
pub fn serve_stdio(server: impl IntoServer) -> BoxFuture<'static, Result<()>> {
    serve(server.into_server())
}

/// Boxed and of no type of the program: so it is compiled in here, and not with each program.
fn serve(server: Server) -> BoxFuture<'static, Result<()>> {
    Box::pin(async move {
        server.check()?;
        Ok(StdioServer::new(server).serve_stdio().await?)
    })
}
