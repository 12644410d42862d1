//! The legacy era (2024-11-05 to 2025-11-25), whose requests depend on a session.
//!
//! `initialize` opens a [`Session`]. The session turns the requests of its client into
//! [`InboundRequest`]s, with the state that a modern request carries itself. A client without a
//! session is served by [`read_stateless`].
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>

mod back_channel;
mod handshake;
mod record;
mod session;
mod stateless;

use std::sync::Arc;

use mcp_types::LoggingLevel;

pub use back_channel::{MessageSink, PendingResponse};
pub use record::SessionRecord;
pub use session::{HandledNotification, HandledRequest, Session, SessionLimits};
pub use stateless::{DEFAULT_VERSION, read_stateless};

use crate::wire::DecodedRequest;
use crate::{Call, ClientFacts, InboundRequest, Input};

/// The level of log messages for a client that has not set one.
// spec: LOG-03
const DEFAULT_LEVEL: LoggingLevel = LoggingLevel::Info;

/// Combines a decoded call with the state of its session.
fn inbound_call(
    call: Call,
    decoded: DecodedRequest,
    facts: Arc<ClientFacts>,
    input: Input,
) -> Box<InboundRequest> {
    Box::new(InboundRequest {
        request: call.into(),
        facts,
        input,
        meta: decoded.meta,
        progress_token: decoded.progress_token,
        listen_hooks: None,
    })
}
