//! `tasks/get`, `tasks/update` and `tasks/cancel`.

use mcp_core::store::TaskRecord;
use mcp_core::{Fault, Principal, deserialize};
use mcp_types::ext::tasks::{CANCEL, GET, TaskParams, TaskStatus, UPDATE, UpdateTaskParams};
use mcp_types::{InputResponses, RawObject};
use serde::de::DeserializeOwned;

use crate::ids;
use crate::outcome::{Outcome, with_open_questions, with_status};
use crate::shared::Shared;

/// Answers an extension method.
// spec: TASK-23
pub(crate) async fn answer(
    shared: &Shared,
    method: &'static str,
    params: &RawObject,
    principal: Option<&Principal>,
) -> Result<RawObject, Fault> {
    match method {
        GET => {
            let TaskParams { task_id, .. } = read(params)?;
            get(shared, &task_id, principal).await
        }
        UPDATE => {
            let UpdateTaskParams {
                task_id,
                input_responses,
                ..
            } = read(params)?;
            update(shared, &task_id, principal, input_responses).await
        }
        CANCEL => {
            let TaskParams { task_id, .. } = read(params)?;
            cancel(shared, &task_id, principal).await
        }
        _ => Err(Fault::no_such_method(method)),
    }
}

fn read<T: DeserializeOwned>(params: &RawObject) -> Result<T, Fault> {
    let read = deserialize::from_str(params.as_str());
    read.map_err(|error| Fault::bad_params(format!("`params`: {error}")))
}

/// Loads a task of the caller. A task that is unknown, expired or foreign gives the same error.
// spec: TASK-18, TASK-22
async fn find(
    shared: &Shared,
    id: &str,
    principal: Option<&Principal>,
) -> Result<TaskRecord, Fault> {
    let record = if id.len() <= ids::MAX_LEN {
        shared.load(id).await?
    } else {
        None
    };
    record
        .filter(|record| record.owner.matches(principal))
        .ok_or_else(Fault::no_such_task)
}

// spec: TASK-11
async fn get(shared: &Shared, id: &str, principal: Option<&Principal>) -> Result<RawObject, Fault> {
    let mut record = find(shared, id, principal).await?;
    if !record.task.status.is_terminal() && !shared.is_running(&record).await? {
        record = abandon(shared, record).await?;
    }
    let task = RawObject::from_value(&record.task);
    task.map_err(|error| Fault::internal(error.to_string()))
}

/// Fails a task whose node has ended.
async fn abandon(shared: &Shared, record: TaskRecord) -> Result<TaskRecord, Fault> {
    let outcome = Outcome::internal("the server that ran the task has ended");
    let node = record.node.clone();
    let id = record.task.task_id;
    let changed = shared.change(&id, |record| {
        // A task runs on one node only.
        debug_assert_eq!(record.node, node);
        Ok(Shared::finished(record, &outcome))
    });
    let full = Fault::internal("the store of tasks is full");
    changed.await?.record(full)
}

// spec: TASK-13
async fn update(
    shared: &Shared,
    id: &str,
    principal: Option<&Principal>,
    responses: InputResponses,
) -> Result<RawObject, Fault> {
    find(shared, id, principal).await?;
    let changed = shared.change(id, |record| accept(record, &responses));
    let full = Fault::bad_params(
        "`params.inputResponses`: the responses are larger than the server can store; send shorter ones",
    );
    changed.await?.record(full)?;
    Ok(RawObject::default())
}

/// Accepts the responses to open questions. Others are ignored.
///
/// # Errors
///
/// Returns [`Fault::BadParams`] if a response does not fit its question. No response is accepted then.
fn accept(mut record: TaskRecord, responses: &InputResponses) -> Result<TaskRecord, Fault> {
    let mut open = record.task.input_requests.clone().unwrap_or_default();
    let mut is_accepted = false;
    for (key, response) in responses {
        let Some(request) = open.get(key) else {
            continue;
        };
        request.read(response).map_err(|error| {
            Fault::bad_params(format!("`params.inputResponses.{key}`: {error}"))
        })?;
        open.remove(key);
        record.answers.insert(key.clone(), response.clone());
        is_accepted = true;
    }
    if is_accepted {
        record.task = with_open_questions(record.task, open);
    }
    Ok(record)
}

// spec: TASK-16
async fn cancel(
    shared: &Shared,
    id: &str,
    principal: Option<&Principal>,
) -> Result<RawObject, Fault> {
    find(shared, id, principal).await?;
    let changed = shared.change(id, |mut record| {
        record.task = with_status(record.task, TaskStatus::Cancelled);
        record.answers.clear();
        Ok(record)
    });
    let full = Fault::internal("the store of tasks is full");
    changed.await?.record(full)?;
    Ok(RawObject::default())
}
