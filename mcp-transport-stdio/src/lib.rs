//! Pipes for the Model Context Protocol: one message per line, over the standard streams of a
//! process, a socket, or any other stream of bytes.
//!
//! | you look for | it is in |
//! |---|---|
//! | serving over a pipe, both eras | [`StdioServer`] |
//! | calling a server over a pair of byte streams | [`PipeChannel`] |
//! | a server as a child process | [`ChildChannel`], [`ServerCommand`] |
//! | the standard streams, kept from everybody else | `standard` |
//! | the two tasks that read and write | `pipe` |
//! | what waits to be written | `outbox` |
//!
//! Establishing the connection, framing and cancellation are those of the stdio binding, whatever
//! carries the bytes: there is no handshake below the first message, a message is a line, and
//! `notifications/cancelled` ends a request.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio>
// spec: TRN-03, TRN-04

#[cfg(feature = "client")]
mod channel;
#[cfg(feature = "client")]
mod child;
#[cfg(any(feature = "client", feature = "server"))]
mod outbox;
#[cfg(any(feature = "client", feature = "server"))]
mod pipe;
#[cfg(feature = "server")]
mod serve;
#[cfg(feature = "server")]
mod standard;

#[cfg(feature = "client")]
pub use channel::PipeChannel;
#[cfg(feature = "client")]
pub use child::{ChildChannel, LastWords, ServerCommand, SpawnError, Stderr};
#[cfg(feature = "server")]
pub use serve::StdioServer;
