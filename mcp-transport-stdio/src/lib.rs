//! The Model Context Protocol's stdio transport: one message per line, over a process's
//! standard streams, a socket, or any other pair of byte streams; and the same connection over a
//! host's own transport of messages.
//!
//! | item | purpose |
//! |---|---|
//! | [`StdioServer`] | serves both eras over a pipe |
//! | [`PipeChannel`] | calls a server over a pair of byte streams |
//! | [`MessageTransport`] | a message transport, such as a websocket, below a `StdioServer` or a `PipeChannel` |
//! | [`ChildChannel`], [`ServerCommand`] | starts a server as a child process and calls it |
//!
//! The rules of the stdio binding hold for every byte stream: there is no handshake below the first
//! message, a message is a line, and `notifications/cancelled` cancels a request.
//!
//! Modules in layers, lowest first. Each uses only modules above it in the table:
//!
//! | module | contents |
//! |---|---|
//! | `write_queue` | bounded queue of bytes to write |
//! | `lines` | splits a byte stream into lines |
//! | `message_transport` | [`MessageTransport`] |
//! | `pipe` | the reader task and the writer task of a pipe |
//! | `standard` | this process's standard streams, reserved for the protocol |
//! | `channel` | [`PipeChannel`] |
//! | `child` | [`ChildChannel`] |
//! | `serve` | [`StdioServer`] |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio>

#![cfg_attr(docsrs, feature(doc_cfg))]
// spec: TRN-03, TRN-04

#[cfg(feature = "client")]
mod channel;
#[cfg(feature = "client")]
mod child;
#[cfg(any(feature = "client", feature = "server"))]
mod lines;
#[cfg(any(feature = "client", feature = "server"))]
mod message_transport;
#[cfg(any(feature = "client", feature = "server"))]
mod pipe;
#[cfg(feature = "server")]
mod serve;
#[cfg(feature = "server")]
mod standard;
#[cfg(any(feature = "client", feature = "server"))]
mod write_queue;

#[cfg(feature = "client")]
pub use channel::PipeChannel;
#[cfg(feature = "client")]
pub use child::{ChildChannel, ServerCommand, Stderr};
#[cfg(any(feature = "client", feature = "server"))]
pub use message_transport::MessageTransport;
#[cfg(feature = "server")]
pub use serve::StdioServer;
