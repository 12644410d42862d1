//! The addressee of a reply.

use std::sync::Arc;

use mcp_types::{ProtocolVersion, RequestId};

use crate::wire::{self, EncodedReply, ReplyContext};
use crate::{Reply, ServerProfile};

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

impl ReplyTarget {
    /// Encodes a reply after the bytes in `head`.
    pub fn encode(&self, reply: Reply, head: Vec<u8>) -> EncodedReply {
        let context = ReplyContext::new(&self.id, &self.profile);
        wire::for_version(self.version).encode_reply(reply, &context, head)
    }
}
