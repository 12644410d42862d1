//! Settings of a server behind the gateway, and of its tools.
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `claims` | extensions that the gateway does not know, and their methods |
//! | `credentials` | tokens of callers for the server |
//! | `tool` | [`ToolOptions`](tool::ToolOptions) |
//! | `server` | [`GatewayServer`](server::GatewayServer) |

pub(crate) mod claims;
pub(crate) mod credentials;
pub(crate) mod server;
pub(crate) mod tool;
