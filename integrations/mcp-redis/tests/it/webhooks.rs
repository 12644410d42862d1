//! The stores of webhooks: their contract, with the store in memory and the one in Redis, and the failures
//! of Redis.

use std::time::Duration;

use mcp::events::MemoryWebhookStore;
use mcp_events::{WebhookLimits, WebhookRecord, WebhookStore, WebhookWrite};
use redis::cmd;

use crate::server::{RedisServer, eventually};

const TTL: Duration = Duration::from_secs(60);
const LEASE: Duration = Duration::from_secs(30);

pub(crate) fn record(id: &str, owner: &str) -> WebhookRecord {
    WebhookRecord::new(id, owner, format!("subscription of {id}"), "start")
}

async fn put(store: &dyn WebhookStore, record: WebhookRecord) -> WebhookWrite {
    let limits = WebhookLimits::default();
    store.put(record, TTL, &limits).await.unwrap()
}

async fn claim(store: &dyn WebhookStore, node: &str, limit: usize) -> Vec<String> {
    let mut ids = store.claim(node, LEASE, limit).await.unwrap();
    ids.sort();
    ids
}

async fn store_contract(store: &dyn WebhookStore) {
    assert_eq!(store.load("a").await.unwrap(), None);
    assert!(!store.remove("a").await.unwrap());
    assert!(claim(store, "one", 10).await.is_empty());
    assert_eq!(put(store, record("a", "ada")).await, WebhookWrite::Stored);
    assert_eq!(store.load("a").await.unwrap(), Some(record("a", "ada")));
    // Progress needs the lease, and survives a renewal.
    let advance = async |node: &str, progress: &str| {
        let progress = progress.to_owned();
        store.advance("a", node, progress).await.unwrap()
    };
    assert!(!advance("one", "early").await);
    assert_eq!(claim(store, "one", 10).await, ["a"]);
    assert!(advance("one", "first").await);
    assert!(!advance("two", "foreign").await);
    let mut renewed = record("a", "ada");
    renewed.subscription = "renewed".to_owned();
    assert_eq!(put(store, renewed.clone()).await, WebhookWrite::Stored);
    renewed.progress = "first".to_owned();
    assert_eq!(store.load("a").await.unwrap(), Some(renewed));
    assert!(advance("one", "second").await);
    assert!(store.remove("a").await.unwrap());
    assert!(!advance("one", "late").await);
    assert!(claim(store, "one", 10).await.is_empty());
    // A new subscription with the same id has no lease and its own progress.
    put(store, record("a", "ada")).await;
    assert!(!advance("one", "late").await);
    assert_eq!(store.load("a").await.unwrap(), Some(record("a", "ada")));
    assert!(store.remove("a").await.unwrap());
}

async fn lease_contract(store: &dyn WebhookStore) {
    for id in ["a", "b", "c", "d"] {
        put(store, record(id, "ada")).await;
    }
    let one = claim(store, "one", 3).await;
    assert_eq!(one.len(), 3);
    let two = claim(store, "two", 3).await;
    assert_eq!(two.len(), 1);
    assert!(!one.contains(&two[0]));
    // A node that extends its leases keeps them, whatever the limit.
    assert_eq!(claim(store, "one", 0).await, one);
    assert!(claim(store, "three", 3).await.is_empty());
    // The leases of a node that has died end.
    let soon = Duration::from_millis(50);
    store.claim("one", soon, 0).await.unwrap();
    eventually("the end of the leases", async || {
        claim(store, "two", 10).await.len() == 4
    })
    .await;
    assert!(claim(store, "one", 10).await.is_empty());
    let late = store.advance(&one[0], "one", "late".to_owned());
    assert!(!late.await.unwrap());
}

async fn limit_contract(store: &dyn WebhookStore) {
    let mut limits = WebhookLimits::default();
    (limits.subscriptions, limits.subscriptions_per_owner) = (3, 2);
    let put = async |id: &str, owner: &str, ttl| {
        store.put(record(id, owner), ttl, &limits).await.unwrap()
    };
    assert_eq!(put("a", "ada", TTL).await, WebhookWrite::Stored);
    let soon = Duration::from_millis(50);
    assert_eq!(put("b", "ada", soon).await, WebhookWrite::Stored);
    // Expired subscriptions do not count, and are not delivered.
    eventually("expiry", async || store.load("b").await.unwrap().is_none()).await;
    assert_eq!(claim(store, "one", 10).await, ["a"]);
    assert_eq!(put("b", "ada", TTL).await, WebhookWrite::Stored);
    let space = async |owner: &str| store.check_space(owner, &limits).await.unwrap();
    assert_eq!(space("ada").await, WebhookWrite::OwnerFull);
    assert_eq!(space("bob").await, WebhookWrite::Stored);
    assert_eq!(put("c", "ada", TTL).await, WebhookWrite::OwnerFull);
    assert_eq!(put("c", "bob", TTL).await, WebhookWrite::Stored);
    assert_eq!(put("d", "bob", TTL).await, WebhookWrite::Full);
    assert_eq!(space("eve").await, WebhookWrite::Full);
    // A renewal needs no space.
    assert_eq!(put("a", "ada", TTL).await, WebhookWrite::Stored);
    assert!(store.remove("c").await.unwrap());
    assert_eq!(put("d", "bob", Duration::MAX).await, WebhookWrite::Stored);
    assert!(store.load("d").await.unwrap().is_some());
}

async fn agreement_contract(store: &dyn WebhookStore) {
    let is_verified = async |owner, url| store.is_verified(owner, url).await.unwrap();
    assert!(!is_verified("ada", "https://a.example/").await);
    store
        .set_verified("ada", "https://a.example/")
        .await
        .unwrap();
    store
        .set_verified("ada", "https://a.example/")
        .await
        .unwrap();
    assert!(is_verified("ada", "https://a.example/").await);
    assert!(!is_verified("bob", "https://a.example/").await);
    assert!(!is_verified("ada", "https://a.example/b").await);
    assert!(!is_verified("adahttps", "://a.example/").await);
}

#[tokio::test]
async fn webhook_stores_meet_the_contract() {
    store_contract(&MemoryWebhookStore::new()).await;
    lease_contract(&MemoryWebhookStore::new()).await;
    limit_contract(&MemoryWebhookStore::new()).await;
    agreement_contract(&MemoryWebhookStore::new()).await;
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await;
    let store = |prefix: &str| redis.clone().prefix(prefix).webhooks();
    store_contract(&store("store")).await;
    lease_contract(&store("lease")).await;
    limit_contract(&store("limit")).await;
    agreement_contract(&store("agreement")).await;
}

#[tokio::test]
async fn removed_and_expired_webhooks_leave_nothing_in_redis() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let store = server.connect().await.webhooks();
    let limits = WebhookLimits::default();
    let soon = Duration::from_millis(20);
    for number in 0..20 {
        let record = record(&number.to_string(), "ada");
        store.put(record, soon, &limits).await.unwrap();
    }
    put(&store, record("kept", "ada")).await;
    assert!(store.remove("kept").await.unwrap());
    eventually("the removal of all keys", async || {
        store.claim("one", LEASE, 10).await.unwrap();
        let keys: Vec<String> = server.command(cmd("KEYS").arg("*")).await;
        keys.is_empty()
    })
    .await;
}

#[tokio::test]
async fn full_redis_refuses_webhooks_and_keeps_existing_ones() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let store = server.connect().await.webhooks();
    put(&store, record("a", "ada")).await;
    let _: () = server
        .command(cmd("CONFIG").arg(&["SET", "maxmemory", "1"]))
        .await;
    let limits = WebhookLimits::default();
    let error = store.put(record("b", "ada"), TTL, &limits).await;
    assert!(error.unwrap_err().to_string().contains("OOM"));
    assert!(store.load("a").await.unwrap().is_some());
    assert!(store.remove("a").await.unwrap());
    let _: () = server
        .command(cmd("CONFIG").arg(&["SET", "maxmemory", "0"]))
        .await;
    put(&store, record("b", "ada")).await;
    assert_eq!(claim(&store, "one", 10).await, ["b"]);
}

#[tokio::test]
async fn webhook_store_shows_no_record_in_debug_output() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let store = server.connect().await.webhooks();
    put(&store, record("a", "ada")).await;
    let loaded = store.load("a").await.unwrap();
    let shown = format!("{store:?} {loaded:?}");
    assert!(!shown.contains("subscription of a"), "{shown}");
}
