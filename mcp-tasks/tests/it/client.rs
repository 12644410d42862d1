//! The client that follows tasks, and its rules.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use mcp::core::tower::{Next, from_fn};
use mcp::core::{Call, Exchange, Reply};
use mcp::prelude::*;
use mcp::tasks::{TaskMode, TaskStatus, Tasks};
use mcp::types::RawObject;
use mcp::{InProcess, TaskHandle};
use parking_lot::Mutex;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout};

use crate::kit::{AFTER, Name, server};

/// The methods that a server received, with their times.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(String, Instant)>>>);

impl Log {
    fn watch(&self, server: Server) -> Server {
        let log = self.clone();
        server.layer(from_fn(move |exchange: Exchange, next: Next| {
            let method = exchange.call.method_name().to_owned();
            log.0.lock().push((method, Instant::now()));
            async move { next.run(exchange).await }
        }))
    }

    fn count(&self, method: &str) -> usize {
        let log = self.0.lock();
        log.iter().filter(|(name, _)| name == method).count()
    }

    fn times(&self, method: &str) -> Vec<Instant> {
        let log = self.0.lock();
        let times = log.iter().filter(|(name, _)| name == method);
        times.map(|(_, time)| *time).collect()
    }
}

async fn connect(server: Server) -> Client {
    let builder = Client::builder()
        .tasks()
        .on_elicit(|_: ElicitRequest| async {
            ElicitResult::accept(mcp::types::JsonObject::from_iter([(
                "name".to_owned(),
                json!("Ada"),
            )]))
        });
    builder.connect(InProcess(server)).await.unwrap()
}

fn studio(mode: TaskMode) -> (Log, Server) {
    let log = Log::default();
    let tasks = Tasks::in_memory().poll_interval(Duration::from_secs(2));
    let server = log.watch(server(tasks, mode).0);
    (log, server)
}

#[tokio::test(start_paused = true)]
async fn call_follows_its_task_and_polls_no_earlier_than_allowed() {
    let (log, server) = studio(AFTER);
    let client = connect(server).await;
    let start = Instant::now();
    let result = client.call("slow", json!({"ms": 7000})).await.unwrap();
    assert_eq!(result.text(), "done after 7000 ms");
    let mut previous = start;
    let polls = log.times("tasks/get");
    for poll in &polls {
        assert!(*poll - previous >= Duration::from_secs(2));
        previous = *poll;
    }
    assert_eq!(polls.len(), 4);
    assert_eq!(log.count("tasks/cancel"), 0);
}

#[tokio::test(start_paused = true)]
async fn client_without_the_extension_waits_for_the_result() {
    let (log, server) = studio(AFTER);
    let client = Client::connect(InProcess(server)).await.unwrap();
    let result = client.call("slow", json!({"ms": 7000})).await.unwrap();
    assert_eq!(result.text(), "done after 7000 ms");
    assert_eq!(log.count("tasks/get"), 0);
}

#[tokio::test(start_paused = true)]
async fn handlers_answer_input_requests_from_a_task_once() {
    let ask = |ask: Ask| async move {
        let name = ask.form::<Name>("name", "Name?").await?.accepted();
        sleep(Duration::from_secs(5)).await;
        Ok::<_, ToolError>(name.map(|answer| answer.name).unwrap_or_default())
    };
    let log = Log::default();
    let server = Server::new("asking", "1.0.0")
        .tool(Tool::new("ask").handler(ask).task(TaskMode::Always))
        .tasks(Tasks::in_memory());
    let client = connect(log.watch(server)).await;
    assert_eq!(client.call("ask", ()).await.unwrap().text(), "Ada");
    assert_eq!(log.count("tasks/update"), 1);
}

#[tokio::test(start_paused = true)]
async fn call_ends_with_the_result_or_error_from_its_task() {
    let (_, server) = studio(TaskMode::Always);
    let client = connect(server).await;
    let failed = client.call("fail", json!({})).await.unwrap();
    assert_eq!(failed.is_error, Some(true));
    let error = client.call("fault", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("no such printer"), "{error}");
    assert!(error.fault().is_some());
    let task = client
        .call("slow", json!({"ms": 60_000}))
        .start()
        .await
        .unwrap();
    task.cancel().await.unwrap();
    let error = task.result().await.unwrap_err();
    assert!(
        error.to_string().contains("the task was cancelled"),
        "{error}"
    );
}

// spec: TASK-17
#[tokio::test(start_paused = true)]
async fn dropped_call_or_missed_time_limit_cancels_the_task() {
    let (log, server) = studio(TaskMode::Always);
    let client = connect(server).await;
    let call = client.call("slow", json!({"ms": 60_000})).into_future();
    assert!(timeout(Duration::from_secs(5), call).await.is_err());
    sleep(Duration::from_millis(10)).await;
    assert_eq!(log.count("tasks/cancel"), 1);
    let call = client.call("slow", json!({"ms": 60_000}));
    let error = call
        .max_total_timeout(Duration::from_secs(7))
        .await
        .unwrap_err();
    assert!(error.is_timeout(), "{error}");
    sleep(Duration::from_millis(10)).await;
    assert_eq!(log.count("tasks/cancel"), 2);
    let call = client.call("slow", json!({"ms": 60_000}));
    let error = call
        .cancel_on(sleep(Duration::from_secs(3)))
        .await
        .unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    sleep(Duration::from_millis(10)).await;
    assert_eq!(log.count("tasks/cancel"), 3);
}

#[tokio::test(start_paused = true)]
async fn started_task_is_taken_up_by_another_client() {
    let (log, server) = studio(TaskMode::Always);
    let server = Arc::new(server);
    let builder = || Client::builder().tasks();
    let first = builder().connect(InProcess(server.clone())).await.unwrap();
    let task = first
        .call("slow", json!({"ms": 7000}))
        .start()
        .await
        .unwrap();
    let id = task.id().unwrap().to_owned();
    assert_eq!(task.status().await.unwrap(), TaskStatus::Working);
    drop(task);
    first.close().await.unwrap();
    let second = builder().connect(InProcess(server)).await.unwrap();
    let task: TaskHandle = second.task(&id).await.unwrap();
    let updates: Vec<_> = task
        .updates()
        .map(|task| task.unwrap().status)
        .collect()
        .await;
    // Before and after the report of progress, and the end.
    let (working, completed) = (TaskStatus::Working, TaskStatus::Completed);
    assert_eq!(updates, [working.clone(), working, completed]);
    assert_eq!(task.result().await.unwrap().text(), "done after 7000 ms");
    let again = second.task(&id).await.unwrap();
    assert_eq!(again.result().await.unwrap().text(), "done after 7000 ms");
    assert_eq!(log.count("tasks/cancel"), 0);
    let error = second.task("unknown").await.unwrap_err();
    assert!(
        error.to_string().contains("there is no such task"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn direct_answer_to_a_started_call_is_its_result() {
    let (_, server) = studio(AFTER);
    let client = connect(server).await;
    let task = client.call("slow", json!({"ms": 1})).start().await.unwrap();
    assert_eq!(task.id(), None);
    assert_eq!(task.status().await.unwrap(), TaskStatus::Completed);
    assert_eq!(task.updates().count().await, 0);
    assert_eq!(task.result().await.unwrap().text(), "done after 1 ms");
}

// spec: TASK-05
#[tokio::test(start_paused = true)]
async fn task_for_another_method_or_an_undeclared_client_is_refused() {
    let body = r#"{"taskId":"a","status":"working","createdAt":"2026-07-28T12:00:00Z","lastUpdatedAt":"2026-07-28T12:00:00Z","ttlMs":null}"#;
    let body = RawObject::from_text(body).unwrap();
    let always = from_fn(move |exchange: Exchange, next: Next| {
        let body = body.clone();
        async move {
            match exchange.call {
                Call::ReadResource(_) | Call::CallTool(_) => Reply::Extended {
                    result_type: "task".into(),
                    body,
                },
                _ => next.run(exchange).await,
            }
        }
    });
    let build = || {
        let server = Server::new("odd", "1.0.0");
        let tool = Tool::new("a").handler(|| "a");
        server
            .tool(tool)
            .resource(Resource::new("a:b").read(|| "c"))
            .layer(always.clone())
    };
    let client = connect(build()).await;
    let error = client.read_resource("a:b").await.unwrap_err();
    assert!(
        error.to_string().contains("unknown kind \"task\""),
        "{error}"
    );
    let client = Client::connect(InProcess(build())).await.unwrap();
    let error = client.call("a", ()).await.unwrap_err();
    assert!(error.to_string().contains("task"), "{error}");
}

// spec: TASK-21
#[tokio::test]
async fn http_client_names_the_task_in_its_header() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let seen = log.clone();
    let (server, _) = server(
        Tasks::in_memory().poll_interval(Duration::from_millis(1)),
        TaskMode::Always,
    );
    let server = server.layer(from_fn(move |exchange: Exchange, next: Next| {
        let name = exchange.extensions.parts().and_then(|parts| {
            let name = parts.headers.get("mcp-name")?;
            Some(name.to_str().ok()?.to_owned())
        });
        let method = exchange.call.method_name().to_owned();
        seen.lock().push((method, name));
        async move { next.run(exchange).await }
    }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(mcp::http::Serve::new(server).run(listener));
    let client = Client::builder().tasks().connect(url).await.unwrap();
    let task = client
        .call("slow", json!({"ms": 20}))
        .start()
        .await
        .unwrap();
    let id = task.id().unwrap().to_owned();
    task.cancel().await.unwrap();
    assert!(task.result().await.is_err());
    serving.abort();
    let log = log.lock();
    let of_tasks: Vec<_> = log
        .iter()
        .filter(|(method, _)| method.starts_with("tasks/"))
        .collect();
    assert!(of_tasks.len() >= 2);
    for (method, name) in of_tasks {
        assert_eq!(name.as_deref(), Some(&*id), "{method}");
    }
}
