//! Unstable: programs between clients and servers.
//!
//! A [`Gateway`] is many servers behind one, and translates between the protocol's revisions.
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
//! | `relay` | messages of one client, passed on unchanged: `message` has their headers and errors, `session` the server's legacy session, `calls` the requests that wait, `tools` hidden tools and arguments that headers repeat |
//! | `gateway` | many servers behind one |
//! | [`openapi`] | HTTP services as servers |
//! | [`config`] | configuration files |

pub mod config;
mod gateway;
pub mod openapi;
mod patterns;
mod relay;

pub use gateway::{
    CallCounts, CallLimits, ConnectedGateway, Gateway, GatewayControl, GatewayError, GatewayServer,
    GatewayStatus, LastFailure, MemoryUsedStates, ServerStatus, ToolMode, ToolOptions,
};
pub use patterns::ToolPatterns;
pub use relay::{Relay, RelayError};
