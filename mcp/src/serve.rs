//! Functions that serve a server with the default settings.

use mcp_server::IntoServer;
#[cfg(feature = "http")]
use mcp_transport_http::{Address, Serve};
#[cfg(feature = "stdio")]
use mcp_transport_stdio::StdioServer;

use crate::error::Result;

/// Serves `server` over Streamable HTTP at the path `/mcp` of `address`.
///
/// The future completes after ctrl-c or SIGTERM. Running calls then have ten seconds to finish. An event
/// of `tracing` (level INFO), or a line on standard error without a subscriber, tells the server's URL.
///
/// Only clients on this machine are served: the address must be a loopback address, and `Host` and
/// `Origin` of a request must name this machine. Use [`http::Serve`](Serve) to serve other machines, to demand
/// access tokens, and for other settings. To add the endpoint to a web application, see
/// [`StreamableHttp`](crate::StreamableHttp).
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
///     .tool(Tool::new("now").description("The time").handler(|| "half past"));
/// mcp::serve_http(server, "127.0.0.1:8000").await
/// # }
/// ```
#[cfg(feature = "http")]
pub async fn serve_http(server: impl IntoServer, address: impl Address) -> Result<()> {
    Ok(Serve::new(server.into_server()).run(address).await?)
}

/// Serves `server` over standard input and output, to the client that started this process.
///
/// The future completes when the client closes standard input. Running calls then have ten seconds
/// to finish. An event of `tracing` (level INFO) tells that the server has started.
///
/// On Unix, `println!` writes to standard error while the server runs, so that printing cannot
/// damage the protocol stream. Write logs to standard error. For other limits or other streams,
/// build a [`StdioServer`].
///
/// # Errors
///
/// Returns an error when [`Server::check`](crate::Server::check) finds a mistake, or when the streams
/// fail.
///
/// # Examples
///
/// ```no_run
/// use mcp::prelude::*;
///
/// #[tokio::main]
/// async fn main() -> mcp::Result<()> {
///     let server = Server::new("clock", "1.0.0")
///         .tool(Tool::new("now").description("The time").handler(|| "half past"));
///     mcp::serve_stdio(server).await
/// }
/// ```
#[cfg(feature = "stdio")]
pub async fn serve_stdio(server: impl IntoServer) -> Result<()> {
    Ok(StdioServer::new(server.into_server()).run().await?)
}
