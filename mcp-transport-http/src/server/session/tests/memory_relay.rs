//! A relay between the servers of a test.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use mcp_core::store::{
    MemorySessionStore, RelayEvent, RelayMessage, RelayTarget, SessionRecord, SessionRelay,
    SessionStore, StoreError,
};
use parking_lot::Mutex;
use tokio::sync::mpsc;

/// A relay between endpoints of one process.
#[derive(Debug, Clone, Default)]
pub(super) struct MemoryRelay {
    nodes: Arc<Mutex<Nodes>>,
    last: Arc<AtomicU32>,
    last_number: Arc<AtomicU64>,
    fault: Arc<Mutex<Option<RelayFault>>>,
}

/// A fault of messages to one node.
#[derive(Debug, Clone, Copy)]
pub(super) enum RelayFault {
    /// The node is cut off.
    Lost,
    /// The relay is not available.
    Fails,
}

type Nodes = Vec<(u32, mpsc::UnboundedSender<RelayMessage>)>;

impl MemoryRelay {
    /// Adds a node. It leaves when it is dropped.
    pub(super) fn join(&self) -> impl SessionRelay + use<> {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, inbox) = mpsc::unbounded_channel();
        self.nodes.lock().push((number, sender));
        MemoryNode {
            number,
            inbox: inbox.into(),
            nodes: self.nodes.clone(),
            last_number: self.last_number.clone(),
            fault: self.fault.clone(),
        }
    }

    pub(super) fn set_fault(&self, fault: Option<RelayFault>) {
        *self.fault.lock() = fault;
    }
}

#[derive(Debug)]
struct MemoryNode {
    number: u32,
    inbox: tokio::sync::Mutex<mpsc::UnboundedReceiver<RelayMessage>>,
    nodes: Arc<Mutex<Nodes>>,
    last_number: Arc<AtomicU64>,
    fault: Arc<Mutex<Option<RelayFault>>>,
}

#[async_trait]
impl SessionRelay for MemoryNode {
    fn node(&self) -> u32 {
        self.number
    }

    async fn send(&self, target: RelayTarget, message: RelayMessage) -> Result<usize, StoreError> {
        match *self.fault.lock() {
            Some(RelayFault::Lost) if target != RelayTarget::Others => return Ok(0),
            Some(RelayFault::Fails) => return Err(StoreError::new("away")),
            _ => {}
        }
        let nodes = self.nodes.lock();
        let targets = nodes.iter().filter(|(number, _)| match target {
            RelayTarget::Node(node) => *number == node,
            _ => *number != self.number,
        });
        Ok(targets
            .filter(|(_, inbox)| inbox.send(message.clone()).is_ok())
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
        let received = self.inbox.lock().await.recv().await;
        received.unwrap()
    }
}

impl Drop for MemoryNode {
    fn drop(&mut self) {
        self.nodes
            .lock()
            .retain(|(number, _)| *number != self.number);
    }
}

/// A store of sessions, with a relay between its nodes if they have one.
#[derive(Clone)]
pub(super) struct RelayedStore {
    pub(super) sessions: Arc<MemorySessionStore>,
    pub(super) relay: Option<MemoryRelay>,
}

#[async_trait]
impl SessionStore for RelayedStore {
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        self.sessions.load(id).await
    }

    async fn insert(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.sessions.insert(id, record, ttl).await
    }

    async fn replace(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.sessions.replace(id, record, ttl).await
    }

    async fn touch(&self, id: &str, ttl: Duration) -> Result<bool, StoreError> {
        self.sessions.touch(id, ttl).await
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.sessions.remove(id).await
    }

    fn relay(&self) -> Option<Arc<dyn SessionRelay>> {
        Some(Arc::new(self.relay.as_ref()?.join()))
    }
}

#[tokio::test]
async fn message_reaches_its_target_only() {
    let relay = MemoryRelay::default();
    let (a, b, c) = (relay.join(), relay.join(), relay.join());
    let message = RelayMessage {
        session: "s".to_owned(),
        event: RelayEvent::Changed,
    };
    let send = async |target| a.send(target, message.clone()).await.unwrap();
    assert_eq!(send(RelayTarget::Others).await, 2);
    assert_eq!(send(RelayTarget::Node(b.node())).await, 1);
    let received =
        |node: &dyn SessionRelay| std::iter::from_fn(|| node.receive().now_or_never()).count();
    assert_eq!([received(&a), received(&b), received(&c)], [0, 2, 1]);
    let gone = c.node();
    assert!(a.is_alive(gone).await.unwrap());
    drop(c);
    assert!(!a.is_alive(gone).await.unwrap());
    assert_eq!(send(RelayTarget::Node(gone)).await, 0);
}
