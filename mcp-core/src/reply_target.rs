//! The addressee of a reply.

use std::sync::Arc;

use mcp_types::RequestId;

use crate::wire::{EncodedReply, ReplyContext, Wire};
use crate::{Reply, ServerProfile};

/// The addressee of a reply: the request, the server that replies, and the wire of the client.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "transports construct it")]
pub struct ReplyTarget {
    /// The id of the request.
    pub id: RequestId,
    /// The server that replies.
    pub profile: Arc<ServerProfile>,
    /// The wire of the request's revision.
    pub wire: &'static dyn Wire,
}

impl ReplyTarget {
    /// Encodes a reply after the bytes in `head`.
    pub fn encode(&self, reply: Reply, head: Vec<u8>) -> EncodedReply {
        let context = ReplyContext::new(&self.id, &self.profile);
        self.wire.encode_reply(reply, &context, head)
    }
}
