//! Bad input: the specified errors, nothing lost, nothing grown.

use std::sync::Arc;
use std::time::Duration;

use mcp::core::Fault;
use mcp::tasks::{MemoryTaskStore, TaskMode, TaskStatus, Tasks};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::kit::{CALLER, Caller, result, server};
use crate::nodes::SharedStore;

// spec: TASK-18
#[tokio::test(start_paused = true)]
async fn foreign_unknown_and_malformed_ids_have_the_same_error() {
    // spec: TASK-22
    let (server, _) = server(Tasks::in_memory(), TaskMode::Always);
    let ada = Caller::named("ada");
    let id = ada
        .start(&server, "slow", json!({"ms": 60_000}))
        .await
        .task_id;
    let other = ada.start(&server, "slow", json!({"ms": 1})).await.task_id;
    assert_ne!(id, other);
    for id in [&id, &other] {
        assert!(id.len() == 32 && !id.starts_with("00000000"), "{id}");
    }
    let expected = ada.get(&server, "0123").await.unwrap_err();
    assert!(matches!(expected, Fault::BadParams { .. }));
    let long = "x".repeat(1 << 20);
    let ids = [id.as_str(), "", "../etc", "💥", "0'; DROP", &long];
    for caller in [Caller::named("eve"), CALLER] {
        for id in ids {
            assert_eq!(
                caller.get(&server, id).await.unwrap_err(),
                expected,
                "{id:.9}"
            );
            assert_eq!(caller.cancel(&server, id).await.unwrap_err(), expected);
            let updated = caller.update(&server, id, json!({"a": {}})).await;
            assert_eq!(updated.unwrap_err(), expected);
        }
    }
    let task = ada.get(&server, &id).await.unwrap();
    assert_eq!(task.status, TaskStatus::Working);
}

// spec: TASK-18
#[tokio::test(start_paused = true)]
async fn malformed_parameters_and_undeclared_clients_are_refused() {
    let (server, _) = server(Tasks::in_memory(), TaskMode::Always);
    for params in [
        json!({}),
        json!({"taskId": 7}),
        json!({"taskId": null}),
        json!({"taskId": ["a"]}),
    ] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let fault = CALLER.request(&server, method, params.clone()).await;
            let fault = fault.unwrap_err();
            assert!(
                matches!(fault, Fault::BadParams { .. } | Fault::Protocol(_)),
                "{fault:?}"
            );
        }
    }
    for responses in [json!(null), json!([]), json!({"a": 7}), json!("x")] {
        let params = json!({"taskId": "a", "inputResponses": responses});
        let fault = CALLER.request(&server, "tasks/update", params).await;
        assert!(fault.is_err());
    }
    let undeclared = Caller {
        declares: false,
        ..CALLER
    };
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let fault = undeclared.request(&server, method, json!({})).await;
        let fault = fault.unwrap_err();
        assert!(
            matches!(fault, Fault::MissingCapability { .. }),
            "{fault:?}"
        );
    }
    for method in ["tasks/list", "tasks/result"] {
        let fault = CALLER
            .request(&server, method, json!({"taskId": "a"}))
            .await;
        let fault = fault.unwrap_err();
        assert!(matches!(fault, Fault::NoSuchMethod { .. }), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn large_answers_that_nobody_asked_for_are_not_stored() {
    let store = MemoryTaskStore::default().clock(|| Instant::now().into_std());
    let store = SharedStore(Arc::new(store));
    let (server, _) = server(Tasks::with_store(store.clone()), TaskMode::Always);
    let id = CALLER
        .start(&server, "slow", json!({"ms": 60_000}))
        .await
        .task_id;
    sleep(Duration::from_secs(1)).await;
    let before = store.0.bytes();
    let answers = json!({"never": {"action": "accept", "content": {"a": "x".repeat(1 << 20)}}});
    for _ in 0..10 {
        CALLER.update(&server, &id, answers.clone()).await.unwrap();
    }
    assert_eq!(store.0.bytes(), before);
}

// spec: TASK-09
#[tokio::test(start_paused = true)]
async fn thousand_parallel_polls_see_the_task_and_leave_nothing() {
    let (server, _) = server(Tasks::in_memory(), TaskMode::Always);
    let server = Arc::new(server);
    let id = CALLER
        .start(&server, "slow", json!({"ms": 500}))
        .await
        .task_id;
    let polls = (0..1000).map(|number| {
        let (server, id) = (server.clone(), id.clone());
        tokio::spawn(async move {
            sleep(Duration::from_millis(number)).await;
            CALLER.get(&server, &id).await.unwrap().status
        })
    });
    let mut completed = 0;
    for poll in polls.collect::<Vec<_>>() {
        completed += usize::from(poll.await.unwrap() == TaskStatus::Completed);
    }
    assert!((400..=600).contains(&completed), "{completed}");
    assert_eq!(
        result(&CALLER.end(&server, &id).await).text(),
        "done after 500 ms"
    );
}
