//! Questions before and in a task.

use std::time::Duration;

use mcp::core::{Fault, InputState, Reply};
use mcp::prelude::*;
use mcp::tasks::{TaskMode, TaskStatus, Tasks};
use mcp::types::RawObject;
use serde_json::json;
use tokio::time::sleep;

use crate::kit::{AFTER, CALLER, Caller, Name, result};

fn asking(mode: TaskMode) -> Server {
    let two = |ask: Ask| async move {
        let first = ask.form::<Name>("first", "First?");
        let second = ask.form::<Name>("second", "Second?");
        let (first, second) = ask.all((first, second)).await?;
        let name = |answer: Answer<Name>| {
            answer
                .accepted()
                .map(|answer| answer.name)
                .unwrap_or_default()
        };
        Ok::<_, ToolError>(format!("{} {}", name(first), name(second)))
    };
    let then_work = |ask: Ask| async move {
        let name = ask.form::<Name>("name", "Name?").await?.accepted();
        sleep(Duration::from_secs(1)).await;
        let title = ask.form::<Name>("title", "Title?").await?.accepted();
        let text = |answer: Option<Name>| answer.map(|answer| answer.name).unwrap_or_default();
        Ok::<_, ToolError>(format!("{} {}", text(title), text(name)))
    };
    // The question is open when the call becomes a task, because the work delays the reply.
    let beside_work = |ask: Ask| async move {
        let work = ask.once("work", || async {
            sleep(Duration::from_secs(1)).await;
            7
        });
        let question = ask.form::<Name>("name", "Name?");
        let (work, name) = futures_util::join!(work, question);
        let name = name?
            .accepted()
            .map(|answer| answer.name)
            .unwrap_or_default();
        Ok::<_, ToolError>(format!("{name} {}", work?))
    };
    let gives_up = |ask: Ask| async move {
        let question = ask.form::<Name>("name", "Name?");
        let answered = tokio::time::timeout(Duration::from_secs(5), question).await;
        sleep(Duration::from_secs(5)).await;
        answered.is_ok().to_string()
    };
    let twice = |ask: Ask| async move {
        ask.form::<Name>("name", "Name?").await?;
        ask.form::<Name>("name", "Name again?").await?;
        Ok::<_, ToolError>("asked")
    };
    Server::new("asking", "1.0.0")
        .tool(Tool::new("twice").handler(twice).task(mode))
        .tool(Tool::new("two").handler(two).task(mode))
        .tool(Tool::new("then_work").handler(then_work).task(mode))
        .tool(Tool::new("beside_work").handler(beside_work).task(mode))
        .tool(Tool::new("gives_up").handler(gives_up).task(mode))
        .tasks(Tasks::in_memory())
}

fn accept(name: &str) -> serde_json::Value {
    json!({"action": "accept", "content": {"name": name}})
}

// spec: TASK-13
#[tokio::test(start_paused = true)]
async fn partial_answers_leave_the_other_question_open() {
    let server = asking(TaskMode::Always);
    let id = CALLER.start(&server, "two", json!({})).await.task_id;
    let task = CALLER.question(&server, &id).await;
    let keys: Vec<_> = task.input_requests.unwrap().into_keys().collect();
    assert_eq!(keys, ["first", "second"]);
    // Keys that were never asked are ignored.
    let unknown = json!({"other": accept("x")});
    CALLER.update(&server, &id, unknown).await.unwrap();
    let first = json!({"first": accept("Ada"), "other": accept("x")});
    CALLER.update(&server, &id, first).await.unwrap();
    let task = CALLER.get(&server, &id).await.unwrap();
    assert_eq!(task.status, TaskStatus::InputRequired);
    let keys: Vec<_> = task.input_requests.unwrap().into_keys().collect();
    assert_eq!(keys, ["second"]);
    // The first answer counts.
    let again = json!({"first": accept("Eve"), "second": accept("Lovelace")});
    CALLER.update(&server, &id, again).await.unwrap();
    let task = CALLER.get(&server, &id).await.unwrap();
    assert!(task.input_requests.is_none());
    let end = CALLER.end(&server, &id).await;
    assert_eq!(result(&end).text(), "Ada Lovelace");
    CALLER
        .update(&server, &id, json!({"first": accept("x")}))
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn malformed_answer_is_refused_and_nothing_is_accepted() {
    let server = asking(TaskMode::Always);
    let id = CALLER.start(&server, "two", json!({})).await.task_id;
    CALLER.question(&server, &id).await;
    let answers = json!({"first": accept("Ada"), "second": {"action": 7}});
    let fault = CALLER.update(&server, &id, answers).await.unwrap_err();
    assert!(matches!(&fault, Fault::BadParams { .. }), "{fault:?}");
    assert!(
        fault.to_string().contains("inputResponses.second"),
        "{fault}"
    );
    let task = CALLER.get(&server, &id).await.unwrap();
    assert_eq!(task.input_requests.unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn question_before_the_task_is_a_round_and_later_one_is_put_to_the_task() {
    let server = asking(AFTER);
    let Reply::InputRequired(asked) = CALLER.call(&server, "then_work", json!({})).await else {
        panic!("the first question is asked by the reply");
    };
    let mut input = InputState::default();
    input.state = asked.request_state.as_deref().map(Into::into);
    let answers = json!({"name": accept("Lovelace")});
    input.responses = Some(RawObject::from_value(&answers).unwrap());
    let second = Caller {
        input: Some(input),
        ..CALLER
    };
    let id = second.start(&server, "then_work", json!({})).await.task_id;
    let task = CALLER.question(&server, &id).await;
    let keys: Vec<_> = task.input_requests.unwrap().into_keys().collect();
    assert_eq!(keys, ["title"]);
    CALLER
        .update(&server, &id, json!({"title": accept("Lady")}))
        .await
        .unwrap();
    let end = CALLER.end(&server, &id).await;
    assert_eq!(result(&end).text(), "Lady Lovelace");
}

#[tokio::test(start_paused = true)]
async fn question_that_is_open_when_the_call_becomes_a_task_is_put_to_the_task() {
    let server = asking(AFTER);
    let id = CALLER
        .start(&server, "beside_work", json!({}))
        .await
        .task_id;
    CALLER.question(&server, &id).await;
    CALLER
        .update(&server, &id, json!({"name": accept("Ada")}))
        .await
        .unwrap();
    let end = CALLER.end(&server, &id).await;
    assert_eq!(result(&end).text(), "Ada 7");
}

#[tokio::test(start_paused = true)]
async fn key_with_an_answer_cannot_be_asked_again() {
    // spec: TASK-14
    let server = asking(TaskMode::Always);
    let id = CALLER.start(&server, "twice", json!({})).await.task_id;
    CALLER.question(&server, &id).await;
    CALLER
        .update(&server, &id, json!({"name": accept("Ada")}))
        .await
        .unwrap();
    let end = CALLER.end(&server, &id).await;
    assert!(end.input_requests.is_none() && end.result.is_none());
    assert!(end.error.is_some(), "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn withdrawn_question_returns_the_task_to_working() {
    let server = asking(TaskMode::Always);
    let id = CALLER.start(&server, "gives_up", json!({})).await.task_id;
    CALLER.question(&server, &id).await;
    sleep(Duration::from_secs(6)).await;
    let task = CALLER.get(&server, &id).await.unwrap();
    assert_eq!(task.status, TaskStatus::Working);
    assert!(task.input_requests.is_none());
    let end = CALLER.end(&server, &id).await;
    assert_eq!(result(&end).text(), "false");
}
