//! Settings of a server behind the gateway.
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `claims` | extensions that the gateway does not know |
//! | `credentials` | callers, and server tokens for them |
//! | `tool` | [`ToolOptions`](tool::ToolOptions) |
//! | `server` | [`GatewayServer`](server::GatewayServer) |

pub(crate) mod claims;
pub(crate) mod credentials;
pub(crate) mod server;
pub(crate) mod tool;
