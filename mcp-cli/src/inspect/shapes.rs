//! Shapes of extension messages. The protocol's schemas do not define them, so they are read as types of this library.

use mcp::types::Method;
use mcp::types::ext::tasks::Task;
use serde::Deserialize as _;
use serde_json::Value;

/// Checks the parameters of an extension's notification.
pub(super) fn params(method: &str, params: &Value) -> Result<(), String> {
    match Method::from_name(method) {
        Some(Method::TaskChanged) => task(params),
        _ => Ok(()),
    }
}

/// Checks the result of a call that became a task.
pub(super) fn task(result: &Value) -> Result<(), String> {
    let task = Task::deserialize(result);
    task.map(drop).map_err(|error| error.to_string())
}
