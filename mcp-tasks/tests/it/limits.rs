//! Limits and expiry.

use std::sync::Arc;
use std::time::Duration;

use mcp::core::{Fault, Reply};
use mcp::tasks::{MemoryTaskStore, TaskMode, TaskStatus, Tasks};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::kit::{AFTER, CALLER, Caller, server, text};
use crate::nodes::SharedStore;

fn shared_store() -> SharedStore {
    let store = MemoryTaskStore::default().clock(|| Instant::now().into_std());
    SharedStore(Arc::new(store))
}

#[tokio::test(start_paused = true)]
async fn abandoned_tasks_leave_nothing_after_their_ttl() {
    let store = shared_store();
    let ttl = Duration::from_secs(60);
    let tasks = Tasks::with_store(store.clone()).ttl(ttl).max_tasks(10_000);
    let (server, running) = server(tasks, TaskMode::Always);
    for number in 0..10_000_u64 {
        // Half of them still run when they expire.
        let ms = if number % 2 == 0 { 10 } else { 3_600_000 };
        CALLER.start(&server, "slow", json!({"ms": ms})).await;
    }
    let reply = CALLER.call(&server, "slow", json!({"ms": 1})).await;
    assert!(
        matches!(reply, Reply::Fault(Fault::Overloaded { .. })),
        "{reply:?}"
    );
    sleep(Duration::from_secs(30)).await;
    assert_eq!(store.0.count(), 10_000);
    assert_eq!(running.count(), 5000);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(store.0.count(), 0);
    assert_eq!(store.0.bytes(), 0);
    assert_eq!(running.count(), 0);
    // The sweep of the store ends with its last task.
    let metrics = tokio::runtime::Handle::current().metrics();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(metrics.num_alive_tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn principal_at_its_limit_is_refused_and_others_are_not() {
    let tasks = Tasks::in_memory().max_per_principal(2);
    let (server, _) = server(tasks, TaskMode::Always);
    let (ada, eve) = (Caller::named("ada"), Caller::named("eve"));
    for _ in 0..2 {
        ada.start(&server, "slow", json!({"ms": 60_000})).await;
    }
    let reply = ada.call(&server, "slow", json!({"ms": 1})).await;
    let Reply::Fault(Fault::RateLimited { message, .. }) = reply else {
        panic!("{reply:?}");
    };
    assert!(message.contains("you have 2 tasks"), "{message}");
    eve.start(&server, "slow", json!({"ms": 1})).await;
}

#[tokio::test(start_paused = true)]
async fn call_that_cannot_become_a_task_is_answered_directly() {
    let (server, running) = server(Tasks::in_memory().max_tasks(0), AFTER);
    let reply = CALLER.call(&server, "slow", json!({"ms": 5000})).await;
    assert_eq!(text(reply), "done after 5000 ms");
    assert_eq!(running.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn result_that_is_too_large_fails_the_task() {
    let tasks = Tasks::in_memory().max_task_bytes(10_000);
    let (server, _) = server(tasks, TaskMode::Always);
    let task = CALLER.start(&server, "large", json!({"ms": 20_000})).await;
    let end = CALLER.end(&server, &task.task_id).await;
    assert_eq!(end.status, TaskStatus::Failed);
    assert!(end.error.unwrap().message.contains("too large"));
}

#[tokio::test(start_paused = true)]
async fn expired_task_is_unknown_and_its_handler_dropped() {
    let (server, running) = server(Tasks::in_memory().ttl(Duration::from_secs(5)), AFTER);
    let task = CALLER.start(&server, "slow", json!({"ms": 60_000})).await;
    sleep(Duration::from_secs(4)).await;
    CALLER.get(&server, &task.task_id).await.unwrap();
    sleep(Duration::from_secs(2)).await;
    let fault = CALLER.get(&server, &task.task_id).await.unwrap_err();
    assert!(matches!(fault, Fault::BadParams { .. }), "{fault:?}");
    assert_eq!(running.count(), 0);
}
