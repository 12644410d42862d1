//! The contract of the task stores, with the store in memory and that in Redis.

use std::time::Duration;

use mcp_core::Principal;
use mcp_core::store::{MemoryTaskStore, TaskLimits, TaskRecord, TaskStore, TaskWrite};
use mcp_types::ext::tasks::Task;
use redis::cmd;
use tokio::time::timeout;

use crate::server::{RedisServer, eventually};

const TTL: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_secs(10);

fn record(id: &str, owner: Option<&str>) -> TaskRecord {
    let owner = owner.map(|name| Principal::new("issuer", name));
    TaskRecord::new(
        Task::new(id, "2026-07-28T12:00:00Z"),
        owner.as_ref(),
        "node",
    )
}

fn next(record: &TaskRecord, message: &str) -> TaskRecord {
    let mut next = record.clone();
    next.revision += 1;
    next.task.status_message = Some(message.to_owned());
    next
}

async fn insert(store: &dyn TaskStore, record: TaskRecord, limits: &TaskLimits) -> TaskWrite {
    store.insert(record, TTL, limits).await.unwrap()
}

async fn task_contract(store: &dyn TaskStore) {
    let limits = TaskLimits::default();
    let first = record("a", Some("ada"));
    assert_eq!(store.load("a").await.unwrap(), None);
    let replaced = store.replace(next(&first, "early"), &limits).await.unwrap();
    assert_eq!(replaced, TaskWrite::Gone);
    assert_eq!(
        insert(store, first.clone(), &limits).await,
        TaskWrite::Stored
    );
    assert_eq!(
        insert(store, first.clone(), &limits).await,
        TaskWrite::Conflict
    );
    assert_eq!(store.load("a").await.unwrap(), Some(first.clone()));
    // One of two writers of the same revision wins.
    let (one, two) = (next(&first, "one"), next(&first, "two"));
    assert_eq!(
        store.replace(one.clone(), &limits).await.unwrap(),
        TaskWrite::Stored
    );
    assert_eq!(
        store.replace(two, &limits).await.unwrap(),
        TaskWrite::Conflict
    );
    assert_eq!(
        store.replace(first, &limits).await.unwrap(),
        TaskWrite::Conflict
    );
    assert_eq!(store.load("a").await.unwrap(), Some(one.clone()));
    store.remove("a").await.unwrap();
    store.remove("a").await.unwrap();
    assert_eq!(store.load("a").await.unwrap(), None);
    // A task that was removed stays removed.
    assert_eq!(
        store.replace(next(&one, "late"), &limits).await.unwrap(),
        TaskWrite::Gone
    );
    let node = Duration::from_millis(50);
    store.keep_node("node", node).await.unwrap();
    assert!(store.has_node("node").await.unwrap());
    eventually("end of the node", async || {
        !store.has_node("node").await.unwrap()
    })
    .await;
}

async fn limit_contract(store: &dyn TaskStore) {
    let mut limits = TaskLimits::default();
    (limits.tasks, limits.tasks_per_principal) = (3, 1);
    let ada = || record("ada", Some("ada"));
    assert_eq!(insert(store, ada(), &limits).await, TaskWrite::Stored);
    let again = record("again", Some("ada"));
    assert_eq!(
        insert(store, again, &limits).await,
        TaskWrite::PrincipalFull
    );
    for id in ["b", "c"] {
        assert_eq!(
            insert(store, record(id, None), &limits).await,
            TaskWrite::Stored
        );
    }
    assert_eq!(
        insert(store, record("d", None), &limits).await,
        TaskWrite::Full
    );
    store.remove("ada").await.unwrap();
    assert_eq!(insert(store, ada(), &limits).await, TaskWrite::Stored);
    // The store has space for what it has, and for no byte more.
    let sizes = [
        record("b", None).size(),
        record("c", None).size(),
        ada().size(),
    ];
    limits.bytes = sizes.iter().sum();
    let long = next(&record("b", None), "a message that needs bytes");
    assert_eq!(
        store.replace(long.clone(), &limits).await.unwrap(),
        TaskWrite::Full
    );
    limits.bytes += long.size();
    assert_eq!(
        store.replace(long.clone(), &limits).await.unwrap(),
        TaskWrite::Stored
    );
    limits.bytes = 1;
    let mut short = long.clone();
    (short.revision, short.task.status_message) = (2, None);
    assert_eq!(
        store.replace(short, &limits).await.unwrap(),
        TaskWrite::Stored
    );
    assert_eq!(
        insert(store, record("e", None), &limits).await,
        TaskWrite::Full
    );
}

async fn expiry_contract(store: &dyn TaskStore) {
    let mut limits = TaskLimits::default();
    (limits.tasks, limits.tasks_per_principal) = (1, 1);
    let soon = Duration::from_millis(30);
    let ada = || record("a", Some("ada"));
    assert_eq!(
        store.insert(ada(), soon, &limits).await.unwrap(),
        TaskWrite::Stored
    );
    // A change does not prolong the life of a task.
    assert_eq!(
        store.replace(next(&ada(), "x"), &limits).await.unwrap(),
        TaskWrite::Stored
    );
    eventually("expiry", async || store.load("a").await.unwrap().is_none()).await;
    // The expired task no longer counts.
    let again = record("b", Some("ada"));
    limits.bytes = again.size();
    assert_eq!(
        store.insert(again, Duration::MAX, &limits).await.unwrap(),
        TaskWrite::Stored
    );
    assert!(store.load("b").await.unwrap().is_some());
}

/// `writer` is another node.
async fn watch_contract(store: &dyn TaskStore, writer: &dyn TaskStore) {
    let limits = TaskLimits::default();
    let first = record("w", None);
    let wait = async |id: &'static str, revision| {
        let changed = timeout(LIMIT, store.changed(id, revision)).await;
        changed.expect("no change within 10 s").unwrap();
    };
    insert(writer, first.clone(), &limits).await;
    let second = next(&first, "two");
    let write = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        writer.replace(second.clone(), &limits).await.unwrap();
    };
    // The wait may end early.
    let seen = async {
        while store.load("w").await.unwrap().unwrap().revision == 0 {
            wait("w", 0).await;
        }
    };
    tokio::join!(seen, write);
    // A change before the wait is not missed.
    wait("w", 0).await;
    wait("unknown", 0).await;
    let gone = async {
        while store.load("w").await.unwrap().is_some() {
            wait("w", 1).await;
        }
    };
    let remove = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        writer.remove("w").await.unwrap();
    };
    tokio::join!(gone, remove);
}

#[tokio::test]
async fn task_stores_meet_the_contract() {
    task_contract(&MemoryTaskStore::default()).await;
    limit_contract(&MemoryTaskStore::default()).await;
    expiry_contract(&MemoryTaskStore::default()).await;
    let memory = MemoryTaskStore::default();
    watch_contract(&memory, &memory).await;
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let redis = server.connect().await;
    task_contract(&redis.tasks()).await;
    limit_contract(&redis.clone().prefix("limits").tasks()).await;
    expiry_contract(&redis.clone().prefix("expiry").tasks()).await;
    let other = server.connect().await;
    watch_contract(&redis.tasks(), &other.tasks()).await;
}

#[tokio::test]
async fn many_tasks_at_two_nodes_share_one_limit_and_leave_nothing() {
    const TASKS: usize = 10_000;
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let (a, b) = (
        server.connect().await.tasks(),
        server.connect().await.tasks(),
    );
    let limits = TaskLimits::default();
    let ttl = Duration::from_secs(30);
    let fill = |store: mcp_redis::RedisTasks, offset: usize| async move {
        for id in (offset..TASKS).step_by(2) {
            let record = record(&format!("t{id}"), Some(&format!("owner {}", id % 200)));
            let stored = store.insert(record, ttl, &limits).await.unwrap();
            assert_eq!(stored, TaskWrite::Stored);
        }
    };
    tokio::join!(fill(a.clone(), 0), fill(b.clone(), 1));
    assert_eq!(
        insert(&a, record("more", None), &limits).await,
        TaskWrite::Full
    );
    let more = record("more", Some("owner 0"));
    assert_eq!(insert(&b, more, &limits).await, TaskWrite::Full);
    let memory: u64 = server
        .command(cmd("MEMORY").arg(&["USAGE", "test:v1:{tasks}:task:t1"]))
        .await;
    // The crate documentation states the size.
    assert!(memory < 600, "{memory} bytes per task");
    for id in (0..TASKS).step_by(2) {
        a.remove(&format!("t{id}")).await.unwrap();
        b.remove(&format!("t{}", id + 1)).await.unwrap();
    }
    let keys: Vec<String> = server.command(cmd("KEYS").arg("*")).await;
    assert!(keys.is_empty(), "{keys:?}");
}

#[tokio::test]
async fn expired_tasks_and_their_totals_leave_redis_by_themselves() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let store = server.connect().await.tasks();
    let limits = TaskLimits::default();
    for (id, millis) in [("a", 100), ("b", 20)] {
        let record = record(id, Some("ada"));
        let ttl = Duration::from_millis(millis);
        store.insert(record, ttl, &limits).await.unwrap();
    }
    eventually("expiry of all keys", async || {
        let keys: Vec<String> = server.command(cmd("KEYS").arg("*")).await;
        keys.is_empty()
    })
    .await;
}

#[tokio::test]
async fn wait_for_a_change_survives_a_broken_subscription() {
    let Some(server) = RedisServer::start().await else {
        return;
    };
    let (a, b) = (
        server.connect().await.tasks(),
        server.connect().await.tasks(),
    );
    let limits = TaskLimits::default();
    let first = record("a", None);
    insert(&a, first.clone(), &limits).await;
    let seen = async {
        while a.load("a").await.unwrap().unwrap().revision == 0 {
            let changed = timeout(LIMIT, a.changed("a", 0)).await;
            changed.expect("the change was missed").unwrap();
        }
    };
    let change = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let _: usize = server
            .command(cmd("CLIENT").arg(&["KILL", "TYPE", "pubsub"]))
            .await;
        // Published while the node has no subscription.
        let stored = b.replace(next(&first, "two"), &limits).await.unwrap();
        assert_eq!(stored, TaskWrite::Stored);
    };
    tokio::join!(seen, change);
}
