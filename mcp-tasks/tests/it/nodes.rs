//! Servers that share a store, and a store that outlives its server.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mcp::core::store::StoreError;
use mcp::prelude::*;
use mcp::tasks::{
    MemoryTaskStore, TaskLimits, TaskMode, TaskRecord, TaskStatus, TaskStore, TaskWrite, Tasks,
};
use serde_json::json;
use tokio::time::sleep;

use crate::kit::{CALLER, Name, result, server};

/// A store that several servers share.
#[derive(Clone)]
pub(crate) struct SharedStore(pub(crate) Arc<MemoryTaskStore>);

#[async_trait]
impl TaskStore for SharedStore {
    async fn insert(
        &self,
        record: TaskRecord,
        ttl: Duration,
        limits: &TaskLimits,
    ) -> Result<TaskWrite, StoreError> {
        self.0.insert(record, ttl, limits).await
    }

    async fn load(&self, id: &str) -> Result<Option<TaskRecord>, StoreError> {
        self.0.load(id).await
    }

    async fn replace(
        &self,
        record: TaskRecord,
        limits: &TaskLimits,
    ) -> Result<TaskWrite, StoreError> {
        self.0.replace(record, limits).await
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.0.remove(id).await
    }

    async fn changed(&self, id: &str, revision: u64) -> Result<(), StoreError> {
        self.0.changed(id, revision).await
    }

    async fn keep_node(&self, node: &str, ttl: Duration) -> Result<(), StoreError> {
        self.0.keep_node(node, ttl).await
    }

    async fn has_node(&self, node: &str) -> Result<bool, StoreError> {
        self.0.has_node(node).await
    }

    fn purge(&self) {
        self.0.purge();
    }
}

#[tokio::test(start_paused = true)]
async fn another_node_reads_answers_and_cancels() {
    let store = SharedStore(Arc::new(
        MemoryTaskStore::default().clock(|| tokio::time::Instant::now().into_std()),
    ));
    let node = || {
        let ask = |ask: Ask| async move {
            let name = ask.form::<Name>("name", "Name?").await?.accepted();
            Ok::<_, ToolError>(name.map(|answer| answer.name).unwrap_or_default())
        };
        Server::new("nodes", "1.0.0")
            .tool(Tool::new("ask").handler(ask).task(TaskMode::Always))
            .tasks(Tasks::with_store(store.clone()))
    };
    let (first, second) = (node(), node());
    let id = CALLER.start(&first, "ask", json!({})).await.task_id;
    CALLER.question(&second, &id).await;
    // The mark of the first node is renewed while its task runs.
    sleep(Duration::from_secs(120)).await;
    let task = CALLER.get(&second, &id).await.unwrap();
    assert_eq!(task.status, TaskStatus::InputRequired);
    let answer = json!({"name": {"action": "accept", "content": {"name": "Ada"}}});
    CALLER.update(&second, &id, answer).await.unwrap();
    assert_eq!(result(&CALLER.end(&second, &id).await).text(), "Ada");
    let id = CALLER.start(&first, "ask", json!({})).await.task_id;
    CALLER.cancel(&second, &id).await.unwrap();
    let task = CALLER.get(&first, &id).await.unwrap();
    assert_eq!(task.status, TaskStatus::Cancelled);
}

static SECONDS: AtomicU64 = AtomicU64::new(0);

fn clock() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now) + Duration::from_secs(SECONDS.load(Ordering::Relaxed))
}

#[test]
fn store_reports_a_task_as_failed_when_its_server_has_ended() {
    let store = SharedStore(Arc::new(MemoryTaskStore::default().clock(clock)));
    let build = || server(Tasks::with_store(store.clone()), TaskMode::Always).0;
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().build().unwrap()
    };
    let first = runtime();
    let id = first.block_on(async {
        let task = CALLER
            .start(&build(), "slow", json!({"ms": 3_600_000}))
            .await;
        task.task_id
    });
    // The process ends.
    drop(first);
    let after = build();
    let second = runtime();
    let task = second.block_on(CALLER.get(&after, &id)).unwrap();
    assert_eq!(task.status, TaskStatus::Working);
    SECONDS.store(31, Ordering::Relaxed);
    let task = second.block_on(CALLER.get(&after, &id)).unwrap();
    assert_eq!(task.status, TaskStatus::Failed);
    assert!(task.error.unwrap().message.contains("has ended"));
    assert!(task.status_message.unwrap().contains("has ended"));
}
