//! Streamable HTTP, the HTTP binding of the Model Context Protocol.
//!
//! | module | contents | feature |
//! |---|---|---|
//! | [`server`] | the MCP endpoint as a tower service | `server` |
//! | `serve` | `Serve`: a small HTTP server around an endpoint or another tower service | `serve` |
//! | `client` | the client side of the transport | `client` |
//! | [`headers`] | header names, encoded values, headers that mirror the body | |
//! | [`sse`] | server-sent events | |
//!
//! Layers, lowest first: `body_buffer`, `headers`, `public_document`, `sse`, `status` and `shutdown`; `connection_scope`; `peer_addr`; `server` and
//! `client`; `health`; `serve`.
//! Server and client do not use each other.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(feature = "client", feature = "server"))]
mod body_buffer;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
mod connection_scope;
pub mod headers;
#[cfg(feature = "serve")]
mod health;
#[cfg(feature = "server")]
mod peer_addr;
#[cfg(feature = "server")]
#[doc(hidden)]
pub mod public_document;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "server")]
pub mod server;
#[cfg(any(feature = "client", feature = "serve"))]
mod server_card;
#[cfg(feature = "server")]
mod shutdown;
pub mod sse;
#[cfg(feature = "server")]
mod status;

#[cfg(feature = "client")]
pub use client::HttpChannel;
#[cfg(feature = "serve")]
pub use health::HealthChecks;
#[cfg(feature = "server")]
pub use peer_addr::PeerAddr;
#[cfg(feature = "serve")]
pub use serve::{Address, Serve, ServeError};
#[cfg(feature = "server")]
pub use server::StreamableHttp;
#[cfg(feature = "server")]
pub use server::authorization::{Authorization, ProtectedEndpoint};
#[cfg(feature = "server")]
pub use shutdown::Shutdown;
#[cfg(feature = "serve")]
pub use shutdown::termination;
