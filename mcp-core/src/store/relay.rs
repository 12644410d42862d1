//! Messages between the nodes that share sessions.

use async_trait::async_trait;
use mcp_types::RequestId;
use serde::{Deserialize, Serialize};

use super::StoreError;

/// A connection of one endpoint with the other nodes that serve its sessions.
///
/// A client message may reach another node than the one that waits for it. The relay carries it
/// there. A session on one node only uses no relay.
///
/// The transport limits the time of [`send`](Self::send), and a panic counts as a failure.
#[async_trait]
pub trait SessionRelay: Send + Sync + 'static {
    /// Returns the number of this node, less than 2^20 and different from those of the other nodes. The
    /// ids of its requests to clients start with it, so that each node knows where a response belongs.
    fn node(&self) -> u32;

    /// Sends a message to other nodes. Returns the number of nodes that it reached: one [`Node`](RelayTarget::Node)
    /// is reached when it has acknowledged the message, because a connection to a node that hangs or is cut off looks
    /// open. A message may arrive twice.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the message was not sent.
    async fn send(&self, target: RelayTarget, message: RelayMessage) -> Result<usize, StoreError>;

    /// Returns a number that is larger than each one that any node received before. The GET stream with
    /// the largest number is the one of its session: the others end.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when there is no number. The stream opens without one.
    async fn next_number(&self) -> Result<u64, StoreError>;

    /// Returns whether a node is running. A node that ends or is cut off counts as running for at most 4
    /// seconds more.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when that is not known.
    async fn is_alive(&self, node: u32) -> Result<bool, StoreError>;

    /// Waits for the next message of another node. One task of the endpoint calls it.
    async fn receive(&self) -> RelayMessage;
}

/// The receivers of a [`RelayMessage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelayTarget {
    /// All other nodes.
    Others,
    /// One node, by its number.
    Node(u32),
}

/// A message between nodes about one session. It is ignored by nodes that do not have the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "its receivers have both values")]
pub struct RelayMessage {
    /// The session id.
    pub session: String,
    /// The content.
    pub event: RelayEvent,
}

/// The content of a [`RelayMessage`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum RelayEvent {
    /// A client response, as a JSON-RPC message.
    Response(String),
    /// The client has cancelled a call.
    Cancelled(RequestId),
    /// The record in the session store has changed.
    Changed,
    /// The session has ended.
    Ended,
    /// The client has opened the GET stream on the sending node. The stream of the receiving node ends
    /// if its number is smaller ([`SessionRelay::next_number`]).
    StreamOpened(u64),
}
