//! Test kit for Model Context Protocol servers and clients.
//!
//! | you want | look at |
//! |---|---|
//! | a client of a server, with nothing between them | [`connect`] |
//! | the same over a pipe or HTTP, with trouble on the wire, in virtual time | [`Pair`], [`WireFault`] |
//! | the text of what they say | [`Transcript`] |
//! | a test that fails when a tool changes | [`snapshot!`] |
//!
//! ```
//! use mcp::prelude::*;
//! use serde_json::json;
//!
//! # #[derive(Clone)]
//! struct Calculator;
//!
//! #[mcp::server]
//! impl Calculator {
//!     /// Add two numbers.
//!     #[tool]
//!     fn add(&self, a: f64, b: f64) -> f64 {
//!         a + b
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> mcp::Result<()> {
//! let client = mcp_testing::connect(Calculator).await?;
//! assert_eq!(client.call("add", json!({"a": 1, "b": 2})).await?.text(), "3");
//! # Ok(())
//! # }
//! ```

mod catalogue;
mod pair;

use mcp::client::ClientBuilder;
use mcp::{Client, IntoServer, Result};

pub use catalogue::{Catalogue, HasCatalogue, assert_snapshot};
pub use mcp::core::InProcessChannel;
pub use pair::{Connected, Pair, Transcript, WireFault};

/// Connects a client to a server in the same process.
///
/// # Errors
///
/// When the server has a mistake ([`Server::check`](mcp::Server::check)).
pub async fn connect(server: impl IntoServer) -> Result<Client> {
    connect_with(server, Client::builder()).await
}

/// Connects a client with settings of its own: one that answers what the server asks for.
///
/// # Errors
///
/// When the server has a mistake, or the settings have one.
pub async fn connect_with(server: impl IntoServer, builder: ClientBuilder) -> Result<Client> {
    let server = server.into_server();
    server.check()?;
    Ok(builder.over(InProcessChannel::new(server)).await?)
}
