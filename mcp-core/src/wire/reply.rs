//! Encoded replies, their addressee, and replies that cannot be decoded.

use std::sync::Arc;

use bytes::Bytes;
use mcp_types::{Method, ProtocolVersion, RequestId};

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

/// An encoded reply in up to three parts. A cached list is the shared part, which is not copied.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct EncodedReply {
    /// The first part, or the whole message.
    pub head: Vec<u8>,
    /// The part that other replies share. Empty when there is none.
    pub shared: Bytes,
    /// The part after the shared one.
    pub tail: Vec<u8>,
}

impl EncodedReply {
    /// Appends bytes to the last part.
    pub fn push(&mut self, bytes: &[u8]) {
        self.open_part().extend_from_slice(bytes);
    }

    /// Returns the last part.
    pub(super) fn open_part(&mut self) -> &mut Vec<u8> {
        if self.shared.is_empty() {
            &mut self.head
        } else {
            &mut self.tail
        }
    }

    /// Closes the message after its result. A cached list
    /// ([`Listing`](crate::Listing)) closes its message itself.
    pub(super) fn close_message(&mut self) {
        let ends_with_list = !self.shared.is_empty() && self.tail.is_empty();
        if !ends_with_list {
            self.push(b"}");
        }
    }

    /// Joins the parts.
    pub fn into_bytes(mut self) -> Bytes {
        self.head.extend_from_slice(&self.shared);
        self.head.extend_from_slice(&self.tail);
        self.head.into()
    }
}

/// A result that does not fit its request's method.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The result does not have the shape that the method prescribes.
    #[error("the result of {method} is malformed: {reason}")]
    Malformed {
        /// The method.
        method: Box<str>,
        /// The error, with the path to the value that does not fit.
        reason: String,
    },
    /// This library does not know the `resultType`.
    #[error("the result of {method} is of the unknown kind {result_type:?}")]
    UnknownKind {
        /// The method.
        method: Box<str>,
        /// The `resultType`.
        result_type: Box<str>,
        /// The result as JSON.
        raw: Box<str>,
    },
}

impl DecodeError {
    pub(crate) fn malformed(method: Option<Method>, reason: impl ToString) -> Self {
        let method = method
            .map_or("an extension's method", Method::as_str)
            .into();
        Self::Malformed {
            method,
            reason: reason.to_string(),
        }
    }
}
