//! [`serve_stdio`]: a server on the standard streams.

use std::io;

use mcp_core::Service as _;
use mcp_server::IntoServer;
use mcp_transport_stdio::StdioServer;

use crate::error::Result;

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
///         .tool(Tool::new("now").describe("The time").handler(|| "half past"));
///     mcp::serve_stdio(server).await
/// }
/// ```
pub async fn serve_stdio(server: impl IntoServer) -> Result<()> {
    let server = server.into_server();
    server.check()?;
    let profile = server.profile();
    let (name, version) = (&profile.info().name, &profile.info().version);
    tracing::info!("serving {name} {version} at standard input and output");
    let served = StdioServer::new(server).serve_stdio().await;
    served.map_err(|error| {
        let message = format!("cannot serve at standard input and output: {error}");
        io::Error::new(error.kind(), message).into()
    })
}
