//! From the call to the end of a task.

use std::time::Duration;

use mcp::core::{Fault, Reply};
use mcp::tasks::{TaskMode, TaskStatus, Tasks};
use serde_json::json;
use tokio::time::sleep;

use crate::kit::{AFTER, CALLER, Caller, result, server, text};

#[tokio::test(start_paused = true)]
async fn fast_call_is_answered_directly_and_slow_call_becomes_a_task() {
    let (server, _) = server(Tasks::in_memory(), AFTER);
    let reply = CALLER.call(&server, "slow", json!({"ms": 50})).await;
    assert_eq!(text(reply), "done after 50 ms");
    let task = CALLER.start(&server, "slow", json!({"ms": 5000})).await;
    assert_eq!(task.status, TaskStatus::Working);
    assert_eq!(task.ttl_ms, Some(3_600_000));
    assert_eq!(task.poll_interval_ms, Some(1000));
    assert!(task.created_at.ends_with('Z') && task.created_at == task.last_updated_at);
    let polled = CALLER.get(&server, &task.task_id).await.unwrap();
    assert_eq!(polled.status, TaskStatus::Working);
    let end = CALLER.end(&server, &task.task_id).await;
    assert_eq!(result(&end).text(), "done after 5000 ms");
    let raw = end.result.unwrap();
    assert!(
        raw.as_str().contains(r#""resultType":"complete""#),
        "{raw:?}"
    );
}

// spec: TASK-03
#[tokio::test(start_paused = true)]
async fn mode_decides_for_each_client() {
    // spec: TASK-04
    for (mode, with, without) in [
        (TaskMode::Never, false, true),
        (AFTER, false, true),
        (TaskMode::Always, true, true),
        (TaskMode::Required, true, false),
    ] {
        let (server, _) = server(Tasks::in_memory(), mode);
        let reply = CALLER.call(&server, "slow", json!({"ms": 1})).await;
        assert_eq!(matches!(reply, Reply::Extended { .. }), with, "{mode:?}");
        let undeclared = Caller {
            declares: false,
            ..CALLER
        };
        let reply = undeclared.call(&server, "slow", json!({"ms": 1})).await;
        if without {
            assert_eq!(text(reply), "done after 1 ms")
        } else {
            assert!(
                matches!(&reply, Reply::Fault(Fault::MissingCapability { required })
                    if required.has_extension("io.modelcontextprotocol/tasks")),
                "{reply:?}"
            )
        }
    }
}

#[tokio::test(start_paused = true)]
async fn progress_becomes_the_status_message() {
    let (server, _) = server(Tasks::in_memory(), TaskMode::Always);
    let task = CALLER.start(&server, "slow", json!({"ms": 5000})).await;
    sleep(Duration::from_secs(3)).await;
    let polled = CALLER.get(&server, &task.task_id).await.unwrap();
    assert_eq!(polled.status_message.as_deref(), Some("half"));
    assert_eq!(polled.status, TaskStatus::Working);
}

/// Reports are stored at most four times in a second. The last one is not lost.
#[tokio::test(start_paused = true)]
async fn completed_task_has_the_last_progress() {
    let (server, _) = server(Tasks::in_memory(), TaskMode::Always);
    let task = CALLER.start(&server, "hasty", json!({})).await;
    let end = CALLER.end(&server, &task.task_id).await;
    assert_eq!(end.status, TaskStatus::Completed);
    assert_eq!(end.status_message.as_deref(), Some("last"));
}

// spec: TASK-08, TASK-11
#[tokio::test(start_paused = true)]
async fn failed_tool_completes_and_protocol_error_or_panic_fails() {
    let (server, _) = server(Tasks::in_memory(), TaskMode::Always);
    let task = CALLER.start(&server, "fail", json!({})).await;
    let end = result(&CALLER.end(&server, &task.task_id).await);
    assert_eq!(end.is_error, Some(true));
    assert_eq!(end.text(), "no paper");
    for (tool, code, message) in [("fault", -32602, "no such printer"), ("panic", -32603, "")] {
        let task = CALLER.start(&server, tool, json!({"ms": 1})).await;
        let end = CALLER.end(&server, &task.task_id).await;
        assert_eq!(end.status, TaskStatus::Failed);
        let error = end.error.unwrap();
        assert_eq!(error.code, code);
        assert!(error.message.contains(message), "{error:?}");
        assert!(!error.message.contains("hunter2"));
        assert!(end.status_message.is_some() && end.result.is_none());
    }
}

// spec: TASK-16
#[tokio::test(start_paused = true)]
async fn cancelled_task_drops_its_handler_and_stays_cancelled() {
    let (server, running) = server(Tasks::in_memory(), TaskMode::Always);
    let task = CALLER.start(&server, "slow", json!({"ms": 60_000})).await;
    sleep(Duration::from_millis(1)).await;
    assert_eq!(running.count(), 1);
    CALLER.cancel(&server, &task.task_id).await.unwrap();
    sleep(Duration::from_millis(1)).await;
    assert_eq!(running.count(), 0);
    // A second cancellation has the same acknowledgement.
    CALLER.cancel(&server, &task.task_id).await.unwrap();
    sleep(Duration::from_secs(120)).await;
    let end = CALLER.get(&server, &task.task_id).await.unwrap();
    assert_eq!(end.status, TaskStatus::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn dropped_call_is_cancelled_before_and_continues_after_its_task_exists() {
    let (server, running) = server(Tasks::in_memory(), AFTER);
    let call = CALLER.call(&server, "slow", json!({"ms": 5000}));
    assert!(
        tokio::time::timeout(Duration::from_millis(50), call)
            .await
            .is_err()
    );
    assert_eq!(running.count(), 0);
    let task = CALLER.start(&server, "slow", json!({"ms": 5000})).await;
    assert_eq!(running.count(), 1);
    let end = CALLER.end(&server, &task.task_id).await;
    assert_eq!(result(&end).text(), "done after 5000 ms");
    assert_eq!(running.count(), 0);
}
