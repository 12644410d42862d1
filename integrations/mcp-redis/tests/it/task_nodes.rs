//! Servers that share their tasks.

use std::sync::Arc;
use std::time::Duration;

use mcp::core::{
    Call, ClientContext, Exchange, Fault, NotificationSender, Reply, ResultBody, Service,
};
use mcp::prelude::*;
use mcp::tasks::{Task, TaskMode, TaskStatus, Tasks};
use mcp::types::meta::keys;
use mcp::types::{CallToolParams, ClientCapabilities, RawObject};
use mcp_redis::Redis;
use redis::cmd;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::server::{RedisServer, eventually};

#[derive(Elicit)]
struct Name {
    name: String,
}

/// Returns a node with tools that ask, and that run for an hour.
fn node(redis: &Redis) -> Server {
    let ask = |ask: Ask| async move {
        let name = ask.form::<Name>("name", "Name?").await?.accepted();
        Ok::<_, ToolError>(name.map(|given| given.name).unwrap_or_default())
    };
    let slow = || async {
        sleep(Duration::from_secs(3600)).await;
        "done"
    };
    Server::new("nodes", "1.0.0")
        .tool(Tool::new("ask").handler(ask).task(TaskMode::Always))
        .tool(Tool::new("slow").handler(slow).task(TaskMode::Always))
        .tasks(Tasks::with_store(redis.tasks()))
}

async fn send(server: &Server, call: Call) -> Reply {
    let declared = ClientCapabilities::default()
        .with_elicitation()
        .with_extension(keys::TASKS_EXTENSION, &json!({}));
    let mut facts = ClientContext::new(ProtocolVersion::LATEST);
    facts.capabilities = declared;
    let mut exchange = Exchange::new(call, Arc::new(facts));
    exchange.notifications = NotificationSender::default();
    server.call(exchange).await
}

/// Calls a tool, which becomes a task. Returns its id.
async fn start(server: &Server, tool: &str) -> String {
    let args = RawObject::from_value(&json!({})).unwrap();
    let call = Call::CallTool(CallToolParams::new(tool, Some(args)));
    match send(server, call).await {
        Reply::Extended { body, .. } => body.parse::<Task>().unwrap().task_id,
        other => panic!("{other:?}"),
    }
}

async fn request(server: &Server, method: &str, params: Value) -> Result<RawObject, Fault> {
    let call = Call::Other {
        method: method.into(),
        params: Some(RawObject::from_value(&params).unwrap()),
    };
    match send(server, call).await {
        Reply::Complete {
            body: ResultBody::Other(body),
            ..
        } => Ok(body),
        Reply::Fault(fault) => Err(fault),
        other => panic!("{other:?}"),
    }
}

async fn get(server: &Server, id: &str) -> Task {
    let task = request(server, "tasks/get", json!({ "taskId": id })).await;
    task.unwrap().parse().unwrap()
}

async fn wait_for(server: &Server, id: &str, status: TaskStatus) -> Task {
    eventually("the status of the task", async || {
        get(server, id).await.status == status
    })
    .await;
    get(server, id).await
}

#[tokio::test]
async fn answer_and_cancellation_at_another_server_reach_the_running_task() {
    let Some(redis) = RedisServer::start().await else {
        return;
    };
    let (here, there) = (redis.connect().await, redis.connect().await);
    let (here, there) = (node(&here), node(&there));
    let id = start(&here, "ask").await;
    wait_for(&there, &id, TaskStatus::InputRequired).await;
    let answers = json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
    let params = json!({ "taskId": id, "inputResponses": answers });
    request(&there, "tasks/update", params).await.unwrap();
    let task = wait_for(&there, &id, TaskStatus::Completed).await;
    let result = task.result.unwrap();
    assert!(result.as_str().contains("Ada"), "{}", result.as_str());
    let id = start(&here, "slow").await;
    let params = json!({ "taskId": id });
    request(&there, "tasks/cancel", params).await.unwrap();
    assert_eq!(get(&here, &id).await.status, TaskStatus::Cancelled);
}

#[test]
fn task_on_a_killed_server_fails_when_its_lease_ends() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).enable_all().build().unwrap()
    };
    let (dies, stays) = (runtime(), runtime());
    let Some(redis) = stays.block_on(RedisServer::start()) else {
        return;
    };
    let id = dies.block_on(async {
        let server = node(&redis.connect().await);
        start(&server, "slow").await
    });
    dies.shutdown_background();
    stays.block_on(async {
        let server = node(&redis.connect().await);
        assert_eq!(get(&server, &id).await.status, TaskStatus::Working);
        let nodes: Vec<String> = redis
            .command(cmd("KEYS").arg("test:v1:{tasks}:node:*"))
            .await;
        assert_eq!(nodes.len(), 1);
        let lease: i64 = redis.command(cmd("PTTL").arg(&nodes[0])).await;
        assert!((1..=30_000).contains(&lease), "{lease}");
        // The lease ends at once instead of after 30 s.
        let _: bool = redis.command(cmd("PEXPIRE").arg(&nodes[0]).arg(1)).await;
        let task = wait_for(&server, &id, TaskStatus::Failed).await;
        assert!(task.error.unwrap().message.contains("has ended"));
    });
}

#[tokio::test]
async fn tasks_survive_when_redis_restarts() {
    let Some(mut redis) = RedisServer::start_persistent().await else {
        return;
    };
    let connected = redis.connect().await.timeout(Duration::from_secs(10));
    let server = node(&connected);
    let id = start(&server, "ask").await;
    wait_for(&server, &id, TaskStatus::InputRequired).await;
    redis.kill();
    redis.run().await;
    let answers = json!({ "name": { "action": "decline" } });
    let params = json!({ "taskId": id, "inputResponses": answers });
    request(&server, "tasks/update", params).await.unwrap();
    wait_for(&server, &id, TaskStatus::Completed).await;
}
