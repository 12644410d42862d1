//! Nodes that share the deliveries of webhooks, and lose their store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mcp::core::store::StoreError;
use mcp::events::{
    EventQuery, Events, MemoryEventLog, MemoryWebhookStore, WebhookLimits, WebhookRecord,
    WebhookSecret, WebhookStore, WebhookTarget, WebhookWrite, Webhooks,
};
use tokio::time::sleep;

use crate::kit::{Endpoint, Order, body, client_of, events_with, header, server_for};

/// A store that fails for one node.
#[derive(Clone)]
struct FaultyStore {
    store: MemoryWebhookStore,
    /// Leases cannot be extended.
    is_cut: Arc<AtomicBool>,
    /// The next progress is not stored.
    loses_progress: Arc<AtomicBool>,
}

#[async_trait]
impl WebhookStore for FaultyStore {
    async fn put(
        &self,
        record: WebhookRecord,
        ttl: Duration,
        limits: &WebhookLimits,
    ) -> Result<WebhookWrite, StoreError> {
        self.store.put(record, ttl, limits).await
    }

    async fn check_space(
        &self,
        owner: &str,
        limits: &WebhookLimits,
    ) -> Result<WebhookWrite, StoreError> {
        self.store.check_space(owner, limits).await
    }

    async fn load(&self, id: &str) -> Result<Option<WebhookRecord>, StoreError> {
        self.store.load(id).await
    }

    async fn remove(&self, id: &str) -> Result<bool, StoreError> {
        self.store.remove(id).await
    }

    async fn claim(
        &self,
        node: &str,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        if self.is_cut.load(Ordering::Relaxed) {
            // Longer than the limit of an operation.
            sleep(Duration::from_secs(60)).await;
        }
        self.store.claim(node, lease, limit).await
    }

    async fn advance(&self, id: &str, node: &str, progress: String) -> Result<bool, StoreError> {
        if self.loses_progress.swap(false, Ordering::Relaxed) {
            return Err(StoreError::new("the connection broke"));
        }
        self.store.advance(id, node, progress).await
    }

    async fn set_verified(&self, owner: &str, url: &str) -> Result<(), StoreError> {
        self.store.set_verified(owner, url).await
    }

    async fn is_verified(&self, owner: &str, url: &str) -> Result<bool, StoreError> {
        self.store.is_verified(owner, url).await
    }
}

/// Nodes with one log, one store, and webhooks of their own.
struct Cluster {
    log: Arc<MemoryEventLog>,
    store: MemoryWebhookStore,
}

impl Cluster {
    fn new() -> Self {
        Self {
            log: Arc::new(MemoryEventLog::new()),
            store: MemoryWebhookStore::new(),
        }
    }

    /// A node, its webhook, and its store.
    fn node(&self) -> (Events, Endpoint, FaultyStore) {
        let endpoint = Endpoint::default();
        let store = FaultyStore {
            store: self.store.clone(),
            is_cut: Arc::default(),
            loses_progress: Arc::default(),
        };
        let webhooks = Webhooks::new(endpoint.clone()).store(store.clone());
        let events = events_with(self.log.clone()).webhooks(webhooks);
        (events, endpoint, store)
    }
}

fn query() -> EventQuery {
    EventQuery::new("order.placed").argument("number", 0)
}

#[tokio::test(start_paused = true)]
async fn node_that_cannot_extend_its_leases_stops_before_another_one_delivers() {
    let cluster = Cluster::new();
    let (here, endpoint, store) = cluster.node();
    let client = client_of(server_for(&here, "ada")).await;
    let secret = WebhookSecret::generate().unwrap();
    let target = WebhookTarget::new("https://agent.example/hooks", secret);
    client.subscribe(query(), &target).await.unwrap();
    endpoint.next().await;
    here.publish(&Order { number: 1 }).await.unwrap();
    assert_eq!(body(&endpoint.next().await)["data"]["number"], 1);
    let (there, other, _) = cluster.node();
    let _second = server_for(&there, "ada");
    store.is_cut.store(true, Ordering::Relaxed);
    sleep(Duration::from_secs(45)).await;
    for number in 2..=4 {
        there.publish(&Order { number }).await.unwrap();
        assert_eq!(body(&other.next().await)["data"]["number"], number);
    }
    assert_eq!(endpoint.count(), 0);
    // The first node gets no subscription back while the other one delivers.
    store.is_cut.store(false, Ordering::Relaxed);
    sleep(Duration::from_secs(120)).await;
    here.publish(&Order { number: 5 }).await.unwrap();
    assert_eq!(body(&other.next().await)["data"]["number"], 5);
    assert_eq!(endpoint.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn event_whose_delivery_was_not_recorded_is_posted_again_with_its_id() {
    let (here, endpoint, store) = Cluster::new().node();
    let client = client_of(server_for(&here, "ada")).await;
    let secret = WebhookSecret::generate().unwrap();
    let target = WebhookTarget::new("https://agent.example/hooks", secret);
    client.subscribe(query(), &target).await.unwrap();
    endpoint.next().await;
    store.loses_progress.store(true, Ordering::Relaxed);
    here.publish(&Order { number: 1 }).await.unwrap();
    let first = endpoint.next().await;
    let second = endpoint.next().await;
    assert_eq!(header(&first, "webhook-id"), header(&second, "webhook-id"));
    here.publish(&Order { number: 2 }).await.unwrap();
    assert_eq!(body(&endpoint.next().await)["data"]["number"], 2);
    sleep(Duration::from_secs(600)).await;
    assert_eq!(endpoint.count(), 0);
}
