//! Messages between the nodes that share sessions.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use mcp_types::{RequestId, Response};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::StoreError;

/// A connection of one endpoint with the other nodes that serve its sessions.
///
/// A message of a client may reach another node than the one that waits for it. The relay carries it
/// there. A session on one node only uses no relay.
///
/// The transport limits the time of [`send`](Self::send), and a panic counts as a failure.
#[async_trait]
pub trait SessionRelay: Send + Sync + 'static {
    /// Returns the number of this node, less than 2^20 and different from those of the other nodes. The
    /// ids of its requests to clients start with it, so that each node knows where a response belongs.
    fn node(&self) -> u32;

    /// Sends a message to other nodes. Returns the number of nodes that it reached.
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
#[non_exhaustive]
pub struct RelayMessage {
    /// The id of the session.
    pub session: String,
    /// The content.
    pub event: RelayEvent,
}

impl RelayMessage {
    /// A message about a session.
    pub fn new(session: impl Into<String>, event: RelayEvent) -> Self {
        let session = session.into();
        Self { session, event }
    }
}

/// The content of a [`RelayMessage`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum RelayEvent {
    /// A response of the client, as a JSON-RPC message.
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

impl RelayEvent {
    /// A response of the client.
    pub fn response(response: &Response<'_>) -> Self {
        // Ids and error objects are always serializable.
        let id = serde_json::to_string(&response.id).unwrap_or_default();
        let (name, value) = match &response.outcome {
            Ok(result) => ("result", Cow::Borrowed(result.as_str())),
            Err(error) => {
                let error = serde_json::to_string(error).unwrap_or_default();
                ("error", Cow::Owned(error))
            }
        };
        Self::Response(format!(r#"{{"jsonrpc":"2.0","id":{id},"{name}":{value}}}"#))
    }
}

/// The received messages of one node: a bounded queue for implementations of [`SessionRelay`].
///
/// The queue has at most 4,096 messages and 16 MiB. Further messages are refused.
#[derive(Debug, Default)]
pub struct RelayInbox(Mutex<InboxState>);

#[derive(Debug, Default)]
struct InboxState {
    messages: VecDeque<RelayMessage>,
    bytes: usize,
    reader: Option<Waker>,
}

impl RelayInbox {
    const MAX_MESSAGES: usize = 4_096;
    const MAX_BYTES: usize = 16 << 20;

    /// Adds a message. Returns false when the queue is full.
    pub fn push(&self, message: RelayMessage) -> bool {
        let mut state = self.0.lock();
        let bytes = state.bytes + message.size();
        if state.messages.len() >= Self::MAX_MESSAGES || bytes > Self::MAX_BYTES {
            return false;
        }
        state.bytes = bytes;
        state.messages.push_back(message);
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
        true
    }

    /// Waits for the next message. Only the task that waited last is woken.
    pub async fn next(&self) -> RelayMessage {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&self, cx: &Context<'_>) -> Poll<RelayMessage> {
        let mut state = self.0.lock();
        match state.messages.pop_front() {
            Some(message) => {
                state.bytes -= message.size();
                Poll::Ready(message)
            }
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl RelayMessage {
    fn size(&self) -> usize {
        let event = match &self.event {
            RelayEvent::Response(json) => json.len(),
            _ => 0,
        };
        self.session.len() + event
    }
}

/// A relay between endpoints of one process, for tests.
#[derive(Debug, Clone, Default)]
pub struct MemoryRelay {
    nodes: Arc<Mutex<Nodes>>,
    last: Arc<AtomicU32>,
    last_number: Arc<AtomicU64>,
}

type Nodes = Vec<(u32, Arc<RelayInbox>)>;

impl MemoryRelay {
    /// Adds a node. It leaves when it is dropped.
    pub fn join(&self) -> impl SessionRelay + use<> {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let inbox = Arc::new(RelayInbox::default());
        self.nodes.lock().push((number, inbox.clone()));
        MemoryNode {
            number,
            inbox,
            nodes: self.nodes.clone(),
            last_number: self.last_number.clone(),
        }
    }
}

#[derive(Debug)]
struct MemoryNode {
    number: u32,
    inbox: Arc<RelayInbox>,
    nodes: Arc<Mutex<Nodes>>,
    last_number: Arc<AtomicU64>,
}

#[async_trait]
impl SessionRelay for MemoryNode {
    fn node(&self) -> u32 {
        self.number
    }

    async fn send(&self, target: RelayTarget, message: RelayMessage) -> Result<usize, StoreError> {
        let nodes = self.nodes.lock();
        let targets = nodes.iter().filter(|(number, _)| match target {
            RelayTarget::Others => *number != self.number,
            RelayTarget::Node(node) => *number == node,
        });
        Ok(targets
            .filter(|(_, inbox)| inbox.push(message.clone()))
            .count())
    }

    async fn is_alive(&self, node: u32) -> Result<bool, StoreError> {
        let nodes = self.nodes.lock();
        Ok(nodes.iter().any(|(number, _)| *number == node))
    }

    async fn next_number(&self) -> Result<u64, StoreError> {
        Ok(self.last_number.fetch_add(1, Ordering::Relaxed) + 1)
    }

    async fn receive(&self) -> RelayMessage {
        self.inbox.next().await
    }
}

impl Drop for MemoryNode {
    fn drop(&mut self) {
        self.nodes
            .lock()
            .retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::executor::block_on;

    use super::{MemoryRelay, RelayEvent, RelayInbox, RelayMessage, RelayTarget, SessionRelay};

    #[test]
    fn message_reaches_its_target_only() {
        let relay = MemoryRelay::default();
        let (a, b, c) = (relay.join(), relay.join(), relay.join());
        let message = RelayMessage::new("s", RelayEvent::Changed);
        let send = |target| block_on(a.send(target, message.clone())).unwrap();
        assert_eq!(send(RelayTarget::Others), 2);
        assert_eq!(send(RelayTarget::Node(b.node())), 1);
        let received =
            |node: &dyn SessionRelay| std::iter::from_fn(|| node.receive().now_or_never()).count();
        assert_eq!([received(&a), received(&b), received(&c)], [0, 2, 1]);
        let gone = c.node();
        assert!(block_on(a.is_alive(gone)).unwrap());
        drop(c);
        assert!(!block_on(a.is_alive(gone)).unwrap());
        assert_eq!(send(RelayTarget::Node(gone)), 0);
    }

    #[test]
    fn full_inbox_refuses_messages() {
        let inbox = RelayInbox::default();
        let large = RelayMessage::new("s", RelayEvent::Response("x".repeat(6 << 20)));
        assert!(inbox.push(large.clone()) && inbox.push(large.clone()));
        assert!(!inbox.push(large.clone()));
        assert!(inbox.next().now_or_never().is_some());
        assert!(inbox.push(large));
        let small = RelayMessage::new("s", RelayEvent::Changed);
        let accepted = (0..10_000).filter(|_| inbox.push(small.clone())).count();
        assert_eq!(accepted, RelayInbox::MAX_MESSAGES - 2);
    }
}
