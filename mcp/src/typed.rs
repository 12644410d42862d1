//! Support for code that `mcp gen rust` and `mcp gen rust-server` write. See
//! the guide: [`typed_clients`](crate::guide::typed_clients).

pub mod json_text;
#[cfg(feature = "server")]
mod server;

pub use serde;
/// Any JSON.
pub use serde_json::Value;

#[cfg(feature = "client")]
pub use mcp_client::TypedCall;
#[cfg(feature = "server")]
pub use server::CatalogServer;
