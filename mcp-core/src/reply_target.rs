//! Whom an answer goes to.

use std::sync::Arc;

use mcp_types::RequestId;

use crate::wire::{EncodedReply, ReplyContext, Wire};
use crate::{Reply, ServerProfile};

/// Whom an answer goes to, and from whom.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "transports make it")]
pub struct ReplyTarget {
    /// Of the request that is answered.
    pub id: RequestId,
    /// Of the server that answers.
    pub profile: Arc<ServerProfile>,
    /// Of the revision that the client speaks.
    pub wire: &'static dyn Wire,
}

impl ReplyTarget {
    /// Writes the answer behind `head`.
    pub fn encode(&self, reply: Reply, head: Vec<u8>) -> EncodedReply {
        self.wire
            .encode_reply(reply, &ReplyContext::new(&self.id, &self.profile), head)
    }
}
