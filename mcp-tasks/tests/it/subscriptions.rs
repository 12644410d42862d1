//! `notifications/tasks`.

use std::time::Duration;

use futures_util::StreamExt;
use mcp::core::{ServerNotification, Service};
use mcp::tasks::{Task, TaskMode, TaskStatus, Tasks};
use serde_json::json;
use tokio::time::timeout;

use crate::kit::{Caller, server};

#[tokio::test(start_paused = true)]
async fn subscriber_receives_states_for_its_own_tasks_only() {
    let (server, _) = server(Tasks::in_memory(), TaskMode::Always);
    let ada = Caller::named("ada");
    let id = ada
        .start(&server, "slow", json!({"ms": 1000}))
        .await
        .task_id;
    let tasks = server.task_engine().unwrap();
    let subscribe = |caller: &Caller| {
        let ids = vec![id.clone(), id.clone(), "unknown".to_owned()];
        tasks.subscribe(ids, &caller.facts(), &caller.extensions())
    };
    let foreign = subscribe(&Caller::named("eve")).await.unwrap();
    assert!(foreign.granted.is_empty());
    let mut changes = subscribe(&ada).await.unwrap();
    assert_eq!(changes.granted, [id.as_str()]);
    let mut states = Vec::new();
    while let Ok(Some(change)) =
        timeout(Duration::from_secs(10), changes.notifications.next()).await
    {
        let ServerNotification::Other { method, params } = change else {
            panic!("{change:?}");
        };
        assert_eq!(&*method, "notifications/tasks");
        let task: Task = params.unwrap().parse().unwrap();
        assert_eq!(task.task_id, id);
        states.push((task.status, task.status_message, task.result.is_some()));
    }
    let half = Some("half".to_owned());
    assert_eq!(
        states,
        [
            (TaskStatus::Working, half.clone(), false),
            (TaskStatus::Completed, half, true)
        ]
    );
}
