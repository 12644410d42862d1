//! Support for generated code: the clients of `mcp gen rust`, and the servers of `mcp gen rust-server`. See
//! the guide: [`typed_clients`](crate::guide::typed_clients).

#[cfg(feature = "client")]
mod call;
#[cfg(feature = "server")]
mod server;

pub use mcp_types::uri_template::expand;
pub use serde;
/// Any JSON.
pub use serde_json::Value;

#[cfg(feature = "client")]
pub use call::TypedCall;
#[cfg(feature = "server")]
pub use server::CatalogServer;

/// The arguments of tools and prompts without arguments. All members are ignored.
#[derive(Debug, Clone, Copy, Default, serde::Deserialize)]
#[non_exhaustive]
pub struct NoArguments {}
