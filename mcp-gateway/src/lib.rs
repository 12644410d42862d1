//! Programs between clients and servers.
//!
//! A [`Gateway`] is many servers behind one, and translates between the revisions of the protocol.
//!
//! A [`Relay`] connects one client on a pair of pipes with a server behind any
//! [`Channel`](mcp_core::Channel). Messages pass unchanged in both directions, so requests of the
//! server, progress, extensions and members that this library does not know reach the other side.
//!
//! # Modules
//!
//! A module uses only modules above it in this table.
//!
//! | module | content |
//! |---|---|
//! | `patterns` | [`ToolPatterns`] |
//! | `message` | headers and errors of relayed messages |
//! | `tools` | hidden tools, and arguments that headers repeat |
//! | `session` | the legacy session of the server, and its renewal |
//! | `calls` | requests of the client that wait for their responses |
//! | `relay` | the loop |
//! | `gateway` | many servers behind one |
//! | [`openapi`] | HTTP services as servers (feature `openapi`) |
//! | [`config`] | configuration files (feature `config`) |

mod calls;
#[cfg(feature = "config")]
pub mod config;
mod gateway;
mod message;
#[cfg(feature = "openapi")]
pub mod openapi;
mod patterns;
mod relay;
mod session;
mod tools;

pub use gateway::{
    CallCounts, CallLimits, Gateway, GatewayControl, GatewayError, GatewayServer, GatewayStatus,
    LastFailure, OpenGateway, ServerStatus, ToolOptions,
};
pub use patterns::ToolPatterns;
pub use relay::{Relay, RelayError};
