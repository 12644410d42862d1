//! The addressee of a reply.

use std::sync::Arc;

use mcp_types::{ProtocolVersion, RequestId};

use crate::connection::ServerProfile;

/// The addressee of a reply: the request, the server that replies, and the revision.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "transports construct it")]
pub struct ReplyTarget {
    /// The request id.
    pub id: RequestId,
    /// The server that replies.
    pub profile: Arc<ServerProfile>,
    /// The request's revision.
    pub version: ProtocolVersion,
}
