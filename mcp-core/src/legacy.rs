//! The legacy era (2024-11-05 to 2025-11-25), whose requests depend on a session.
//!
//! `initialize` opens a [`Session`]. The session turns the requests of its client into
//! [`InboundRequest`](crate::InboundRequest)s, with the state that a modern request carries itself. A client without a
//! session is served by [`read_stateless`].
//!
//! | module | content |
//! |---|---|
//! | `handshake` | `initialize` |
//! | `session` | a session, its subscriptions, and its requests to the client |
//! | `pending` | requests that wait for a response |
//! | `stateless` | clients without a session |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>

mod handshake;
mod pending;
mod session;
mod stateless;

pub use handshake::decode_initialize;
pub use session::{HandledNotification, HandledRequest, Session, SessionLimits};
pub use stateless::{DEFAULT_VERSION, read_stateless};

pub use crate::wire::batch::read as read_batch;
