//! Streamable HTTP, the HTTP binding of the Model Context Protocol.
//!
//! | module | what it is |
//! |---|---|
//! | [`headers`] | header names, the Base64 sentinel for values, mirrored headers |
//! | [`sse`] | server-sent events: framing for the server, decoding for the client |
//! | [`server`] | the MCP endpoint as a tower service |

pub mod headers;
#[cfg(feature = "server")]
pub mod server;
pub mod sse;

#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "server")]
mod shutdown;

#[cfg(feature = "serve")]
pub use serve::Serve;
#[cfg(feature = "server")]
pub use shutdown::Shutdown;
#[cfg(feature = "serve")]
pub use shutdown::termination;
