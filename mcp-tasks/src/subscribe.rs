//! `notifications/tasks` on subscriptions.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use mcp_core::store::TaskRecord;
use mcp_core::{Fault, Principal, ServerNotification, TaskChanges};
use mcp_types::RawObject;
use mcp_types::ext::tasks::CHANGED;

use crate::ids;
use crate::shared::Shared;

/// Subscribes to a caller's tasks. Unknown and foreign tasks are not granted.
// spec: TASK-19, TASK-22
pub(crate) async fn subscribe(
    shared: Arc<Shared>,
    ids: Vec<String>,
    principal: Option<Principal>,
) -> Result<TaskChanges, Fault> {
    let ids: BTreeSet<String> = ids.into_iter().collect();
    let mut granted = Vec::new();
    let mut streams = Vec::new();
    for id in ids.into_iter().filter(|id| id.len() <= ids::MAX_LEN) {
        let record = shared.load(&id).await?;
        if let Some(record) = record.filter(|record| record.owner.matches(principal.as_ref())) {
            streams.push(changes(shared.clone(), record));
            granted.push(id);
        }
    }
    Ok(TaskChanges {
        granted,
        notifications: stream::select_all(streams).boxed(),
    })
}

/// Returns the changes of one task. Changes that come while the client does not read are merged.
fn changes(shared: Arc<Shared>, record: TaskRecord) -> BoxStream<'static, ServerNotification> {
    let is_over = record.task.status.is_terminal();
    let state = (!is_over).then_some((record.task.task_id, record.revision));
    let changes = stream::unfold(state, move |state| {
        let shared = shared.clone();
        async move {
            let (id, revision) = state?;
            let record = next(&shared, &id, revision).await?;
            let params = RawObject::from_value(&record.task).ok()?;
            let notification = ServerNotification::Other {
                // spec: TASK-20
                method: CHANGED.into(),
                params: Some(params),
            };
            let is_over = record.task.status.is_terminal();
            let state = (!is_over).then_some((id, record.revision));
            Some((notification, state))
        }
    });
    changes.boxed()
}

/// Waits for a task's next revision. `None` when the task is gone or the store fails.
async fn next(shared: &Shared, id: &str, revision: u64) -> Option<TaskRecord> {
    loop {
        if let Err(error) = shared.store.changed(id, revision).await {
            tracing::error!(error = %mcp_types::escaped(&error), "the store of tasks failed");
            return None;
        }
        let record = shared.load(id).await.ok()??;
        if record.revision != revision {
            return Some(record);
        }
    }
}
