//! Known security advisories of MCP SDKs, as far as this crate decides them.

use mcp::Principal;
use mcp::core::Fault;
use mcp::tasks::{TaskMode, TaskStatus, Tasks};
use serde_json::json;

use crate::kit::{CALLER, Caller, server};

/// CVE-2026-52870 (GHSA-hvrp-rf83-w775): the methods of tasks did not check who had created the task, so
/// that every client could read and cancel the tasks of others.
#[tokio::test(start_paused = true)]
async fn cve_2026_52870_task_is_unknown_to_another_caller() {
    let (server, running) = server(Tasks::in_memory(), TaskMode::Always);
    let ada = Caller::named("ada");
    let started = ada.start(&server, "slow", json!({ "ms": 60_000 })).await;
    let unknown = ada.get(&server, "unknown").await.unwrap_err();
    let same_name = Caller {
        principal: Some(Principal::new("another issuer", "ada")),
        ..CALLER
    };
    let id = &started.task_id;
    for other in [Caller::named("eve"), same_name, CALLER] {
        assert_eq!(other.get(&server, id).await.unwrap_err(), unknown);
        assert_eq!(other.cancel(&server, id).await.unwrap_err(), unknown);
        let updated = other.update(&server, id, json!({})).await;
        assert_eq!(updated.unwrap_err(), unknown);
        // Methods of older drafts that listed all clients' tasks.
        for method in ["tasks/list", "tasks/result"] {
            let refused = other
                .request(&server, method, json!({ "taskId": id }))
                .await;
            let refused = refused.unwrap_err();
            assert!(matches!(refused, Fault::NoSuchMethod { .. }), "{refused:?}");
        }
    }
    assert_eq!(running.count(), 1);
    let task = ada.get(&server, id).await.unwrap();
    assert_eq!(task.status, TaskStatus::Working);
}
