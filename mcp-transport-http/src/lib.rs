//! Streamable HTTP, the HTTP binding of the Model Context Protocol.
//!
//! | you look for | it is in |
//! |---|---|
//! | the MCP endpoint as a tower service | [`server`] (feature `server`) |
//! | a whole HTTP server around it | `Serve` (feature `serve`) |
//! | a client's way to a server | `client` (feature `client`) |
//! | header names, encoded values, mirrored headers | [`headers`] |
//! | server-sent events | [`sse`] |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

#[cfg(feature = "client")]
pub mod client;
pub mod headers;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "server")]
mod shutdown;
pub mod sse;
#[cfg(feature = "server")]
mod status;
#[cfg(feature = "server")]
mod task;

#[cfg(feature = "client")]
pub use client::HttpChannel;
#[cfg(feature = "serve")]
pub use serve::Serve;
#[cfg(feature = "server")]
pub use server::StreamableHttp;
#[cfg(feature = "server")]
pub use shutdown::Shutdown;
#[cfg(feature = "serve")]
pub use shutdown::termination;
