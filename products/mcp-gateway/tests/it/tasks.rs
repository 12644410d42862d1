//! Tasks of servers behind a gateway.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use mcp::auth::{ResourceServer, StaticTokens};
use mcp::gateway::{CallLimits, Gateway, GatewayServer, ToolMode, ToolOptions};
use mcp::group::Health;
use mcp::http::Serve;
use mcp::prelude::*;
use mcp::tasks::{Task, TaskMode, TaskStatus, Tasks};
use mcp::types::{ProtocolVersion, SubscriptionFilter};
use mcp::{Change, ConnectMode, InProcess, StateKeys};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::kit::{LogLines, Order, serve, server_of};

const LIMIT: Duration = Duration::from_secs(10);
const INTERVAL: Duration = Duration::from_millis(20);

/// A server whose tools are tasks. `render` ends when the semaphore has a permit.
fn studio(gate: &Arc<Semaphore>, mode: TaskMode) -> Server {
    let gate = gate.clone();
    let render = Tool::new("render").handler(move |progress: Progress| {
        let gate = gate.clone();
        async move {
            progress.report(1.0, 2.0, "half").await;
            drop(gate.acquire().await);
            "rendered"
        }
    });
    let order = Tool::new("order").handler(|ask: Ask| async move {
        let order = ask.form::<Order>("order", "How many?").await?;
        let order = order.accepted().ok_or(ToolError::new("no order"))?;
        Ok::<_, ToolError>(format!("{} items", order.count))
    });
    let refuse = Tool::new("refuse");
    let refuse = refuse.handler(|| Err::<String, _>(ToolError::protocol(-1234, "refused")));
    let fail = Tool::new("fail").handler(|| Err::<String, _>(ToolError::new("failed")));
    let routes = [render, order, refuse, fail];
    let server = Server::new("studio", "1.0.0").tool(Tool::new("now").handler(|| "now"));
    let server = routes
        .into_iter()
        .fold(server, |server, route| server.tool(route.task(mode)));
    let tasks = Tasks::in_memory().ttl(Duration::from_secs(123));
    server.tasks(tasks.poll_interval(INTERVAL))
}

async fn open(server: GatewayServer) -> Server {
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    gateway.connect().await.unwrap().server
}

fn builder() -> mcp::ClientBuilder {
    Client::builder()
        .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"count": 3})) })
}

#[tokio::test]
async fn task_passes_with_its_states_input_results_and_failures() {
    let gate = Arc::new(Semaphore::new(0));
    let studio = serve(studio(&gate, TaskMode::Always)).await;
    let server = GatewayServer::new("studio", move |client| client.connect(studio.clone()));
    let url = serve(open(server).await).await;
    let client = builder().tasks().connect(url).await.unwrap();

    let task = client.call("studio__render", ()).start().await.unwrap();
    let created = task.task().unwrap().clone();
    assert_eq!(created.ttl_ms, Some(123_000));
    assert_eq!(created.poll_interval_ms, Some(20));
    assert!(task.id().unwrap().len() > 100, "{created:?}");
    let mut updates = task.updates();
    let mut messages = Vec::new();
    while let Some(Ok(state)) = timeout(LIMIT, updates.next()).await.unwrap() {
        assert_eq!(state.task_id, created.task_id);
        messages.extend(state.status_message);
        if messages.iter().any(|message| message == "half") {
            break;
        }
    }
    gate.add_permits(1);
    let result = timeout(LIMIT, task.result()).await.unwrap().unwrap();
    assert_eq!(result.text(), "rendered");

    let ordered = client.call("studio__order", ()).await.unwrap();
    assert_eq!(ordered.text(), "3 items");
    let failed = client.call("studio__fail", ()).await.unwrap();
    assert_eq!((failed.is_error(), failed.text()), (true, "failed".into()));
    let error = client.call("studio__refuse", ()).await.unwrap_err();
    let Some(mcp::core::Fault::Protocol(error)) = error.fault() else {
        panic!("{error:?}");
    };
    assert_eq!((error.code, &*error.message), (-1234, "refused"));
    // A tool call without a task is answered directly.
    let direct = client.call("studio__now", ()).start().await.unwrap();
    assert_eq!(direct.id(), None);
}

#[tokio::test]
async fn cancelled_task_is_cancelled_at_its_server() {
    let gate = Arc::new(Semaphore::new(0));
    let gateway = open(server_of("studio", studio(&gate, TaskMode::Always))).await;
    let client = builder().tasks().connect(InProcess(gateway)).await.unwrap();
    let task = client.call("studio__render", ()).start().await.unwrap();
    task.cancel().await.unwrap();
    assert_eq!(task.status().await.unwrap(), TaskStatus::Cancelled);
}

#[tokio::test]
async fn client_without_tasks_waits_for_a_tool_that_is_a_task_only() {
    let gate = Arc::new(Semaphore::new(1));
    let gateway = open(server_of("studio", studio(&gate, TaskMode::Required))).await;
    let url = serve(gateway).await;
    for mode in [
        ConnectMode::Legacy,
        ConnectMode::Pin(ProtocolVersion::LATEST),
    ] {
        let client = builder().mode(mode).connect(url.clone()).await.unwrap();
        let rendered = client.call("studio__render", ()).await.unwrap();
        assert_eq!(rendered.text(), "rendered");
        let ordered = client.call("studio__order", ()).await.unwrap();
        assert_eq!(ordered.text(), "3 items");
        let failed = client.call("studio__fail", ()).await.unwrap();
        assert!(failed.is_error());
        let error = client.call("studio__refuse", ()).await.unwrap_err();
        let Some(mcp::core::Fault::Protocol(error)) = error.fault() else {
            panic!("{error:?}");
        };
        assert_eq!(error.code, -1234);
    }
}

#[tokio::test]
async fn task_goes_on_at_another_node_with_the_same_keys() {
    let gate = Arc::new(Semaphore::new(0));
    let studio = Arc::new(studio(&gate, TaskMode::Always));
    let mut clients = Vec::new();
    for secret in ["KrM0ZQpgdAnbqXnrA46gEhQ1uK7JdTQW"; 2] {
        let studio = studio.clone();
        let server = GatewayServer::new("studio", move |client| {
            client.connect(InProcess(studio.clone()))
        });
        let keys = StateKeys::new(secret).unwrap();
        let gateway = open(server).await.request_state_keys(keys);
        clients.push(builder().tasks().connect(InProcess(gateway)).await.unwrap());
    }
    let task = clients[0].call("studio__render", ()).start().await.unwrap();
    let taken = clients[1].task(task.id().unwrap()).await.unwrap();
    gate.add_permits(1);
    let result = timeout(LIMIT, taken.result()).await.unwrap().unwrap();
    assert_eq!(result.text(), "rendered");
}

#[tokio::test]
async fn task_changes_reach_clients_that_subscribe() {
    let gate = Arc::new(Semaphore::new(0));
    let gateway = open(server_of("studio", studio(&gate, TaskMode::Always))).await;
    let url = serve(gateway).await;
    let client = builder().tasks().connect(url).await.unwrap();
    let task = client.call("studio__render", ()).start().await.unwrap();
    let id = task.id().unwrap().to_owned();
    let mut filter = SubscriptionFilter::new();
    filter.task_ids = vec![id.clone(), "unknown".to_owned()];
    let mut changes = client.changes().filter(filter).await.unwrap();
    assert_eq!(changes.granted().task_ids, [&*id]);
    gate.add_permits(1);
    let ended = async {
        loop {
            let change = changes.next().await.unwrap().unwrap();
            let Change::Other { method, params } = change else {
                continue;
            };
            assert_eq!(&*method, "notifications/tasks");
            let task: Task = params.unwrap().parse().unwrap();
            assert_eq!(task.task_id, id);
            if task.status.is_terminal() {
                return task;
            }
        }
    };
    let task = timeout(LIMIT, ended).await.unwrap();
    assert_eq!(task.status, TaskStatus::Completed);
    assert!(task.result.unwrap().as_str().contains("rendered"));
}

#[tokio::test]
async fn task_from_another_caller_or_hidden_tool_looks_unknown() {
    let gate = Arc::new(Semaphore::new(0));
    let admin = ToolOptions::new().visible_to(|caller| caller.has_scope("admin"));
    let server = server_of("studio", studio(&gate, TaskMode::Always)).tool("render", admin);
    let gateway = open(server).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let tokens = StaticTokens::new()
        .token("token-of-ada", "ada", ["admin"])
        .token("other-token-of-ada", "ada", ["files"])
        .token("token-of-bob", "bob", ["admin"]);
    let auth = ResourceServer::new(&url).static_tokens(tokens);
    tokio::spawn(Serve::new(gateway).authorize(auth).run(listener));
    let connect = async |token: &str| {
        let client = builder().tasks().bearer_token(token);
        client.connect(url.clone()).await.unwrap()
    };
    let ada = connect("token-of-ada").await;
    let task = ada.call("studio__render", ()).start().await.unwrap();
    let id = task.id().unwrap();
    let random = ada.task("0123456789abcdef").await.unwrap_err();
    let random = format!("{:?}", random.fault().unwrap());
    assert!(random.contains("no such task"), "{random}");
    for token in ["other-token-of-ada", "token-of-bob"] {
        let other = connect(token).await;
        let refused = other.task(id).await.unwrap_err();
        assert_eq!(format!("{:?}", refused.fault().unwrap()), random);
        let mut filter = SubscriptionFilter::new().tools_changed();
        filter.task_ids = vec![id.to_owned()];
        let changes = other.changes().filter(filter).await.unwrap();
        assert!(changes.granted().task_ids.is_empty());
    }
    assert!(ada.task(id).await.is_ok());
}

#[tokio::test]
async fn task_methods_need_a_client_that_declares_tasks() {
    let gate = Arc::new(Semaphore::new(0));
    let gateway = open(server_of("studio", studio(&gate, TaskMode::Always))).await;
    let client = builder().connect(InProcess(gateway)).await.unwrap();
    let error = client.request("tasks/get", json!({"taskId": "1"})).await;
    let error = error.unwrap_err();
    let fault = error.fault().unwrap();
    assert!(
        matches!(fault, mcp::core::Fault::MissingCapability { .. }),
        "{fault:?}"
    );
}

// All tasks run on the thread of the subscriber.
#[tokio::test]
async fn requests_for_tasks_are_audited_and_their_results_are_limited() {
    let lines = LogLines::default();
    let _guard = lines.record();
    let gate = Arc::new(Semaphore::new(1));
    let limits = CallLimits::new().max_result_bytes(20);
    let server = server_of("studio", studio(&gate, TaskMode::Always)).limits(limits);
    let gateway = open(server).await;
    let client = builder().tasks().connect(InProcess(gateway)).await.unwrap();
    let result = client.call("studio__render", ()).await.unwrap();
    assert!(result.is_error(), "{result:?}");
    assert!(result.text().contains("larger than 20 bytes"), "{result:?}");
    let log = lines.text();
    let audited = |kind: &str| {
        let kind = format!("kind=\"{kind}\" item=\"render\" outcome=\"ok\"");
        log.lines()
            .any(|line| line.contains("audit") && line.contains(&kind))
    };
    assert!(audited("tool") && audited("tasks/get"), "{log}");
}

// All tasks run on the thread of the subscriber.
#[tokio::test]
async fn task_through_call_tool_works_as_in_a_direct_call() {
    let lines = LogLines::default();
    let _guard = lines.record();
    let gate = Arc::new(Semaphore::new(1));
    let server = server_of("studio", studio(&gate, TaskMode::Always));
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let opened = gateway.tool_mode(ToolMode::Search).connect().await.unwrap();
    let call = |name: &str| json!({"name": format!("studio__{name}"), "arguments": {}});
    let client = builder().tasks();
    let client = client
        .connect(InProcess(opened.server.clone()))
        .await
        .unwrap();
    let task = client
        .call("call_tool", call("render"))
        .start()
        .await
        .unwrap();
    assert!(task.id().is_some());
    assert_eq!(task.result().await.unwrap().text(), "rendered");
    let ordered = client.call("call_tool", call("order")).await.unwrap();
    assert_eq!(ordered.text(), "3 items");
    let failed = client.call("call_tool", call("fail")).await.unwrap();
    assert_eq!((failed.is_error(), failed.text()), (true, "failed".into()));
    gate.forget_permits(1);
    let waiting = client
        .call("call_tool", call("render"))
        .start()
        .await
        .unwrap();
    waiting.cancel().await.unwrap();
    assert_eq!(waiting.status().await.unwrap(), TaskStatus::Cancelled);
    // A client without tasks waits for the result.
    gate.add_permits(1);
    let plain = builder().connect(InProcess(opened.server)).await.unwrap();
    let rendered = plain.call("call_tool", call("render")).await.unwrap();
    assert_eq!(rendered.text(), "rendered");

    let log = lines.text();
    let audit = || {
        log.lines()
            .filter(|line| line.contains("mcp_gateway::audit"))
    };
    for part in [
        "kind=\"tool\" item=\"render\" outcome=\"ok\"",
        "kind=\"tool\" item=\"order\"",
        "kind=\"tasks/get\" item=\"render\"",
        "kind=\"tasks/update\" item=\"order\"",
        "kind=\"tasks/cancel\" item=\"render\"",
    ] {
        assert!(
            audit().any(|line| line.contains(part)),
            "no {part} in {log}"
        );
    }
    assert!(!audit().any(|line| line.contains("call_tool")), "{log}");
}

#[tokio::test(start_paused = true)]
async fn server_with_an_open_task_is_not_stopped() {
    let gate = Arc::new(Semaphore::new(0));
    let idle = Duration::from_secs(30);
    let server = server_of("studio", studio(&gate, TaskMode::Always)).idle_timeout(idle);
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let opened = gateway.connect().await.unwrap();
    let client = builder().tasks();
    let client = client.connect(InProcess(opened.server)).await.unwrap();
    let task = client.call("studio__render", ()).start().await.unwrap();
    let health = || opened.group.health()[0].1.clone();
    tokio::time::sleep(idle * 3).await;
    assert_eq!(health(), Health::Running);
    gate.add_permits(1);
    assert_eq!(task.result().await.unwrap().text(), "rendered");
    tokio::time::sleep(idle * 3).await;
    assert_eq!(health(), Health::Idle);
}

#[tokio::test]
async fn unknown_members_in_a_task_pass() {
    use mcp::core::{Exchange, Reply};
    use mcp::middleware::{Next, from_fn};

    let gate = Arc::new(Semaphore::new(0));
    let server = studio(&gate, TaskMode::Always).layer(from_fn(
        |exchange: Exchange, next: Next| async move {
            match next.run(exchange).await {
                Reply::Extended { result_type, body } => {
                    let mut task: Value = body.parse().unwrap();
                    task["x-own"] = json!("kept");
                    Reply::Extended {
                        result_type,
                        body: mcp::types::RawObject::from_value(&task).unwrap(),
                    }
                }
                reply => reply,
            }
        },
    ));
    let gateway = open(server_of("studio", server)).await;
    let client = builder().tasks().connect(InProcess(gateway)).await.unwrap();
    let call = client.call("studio__render", ());
    let Step::Extended { result_type, body } = call.step().await.unwrap() else {
        panic!("no task");
    };
    assert_eq!(&*result_type, "task");
    assert!(body.as_str().contains(r#""x-own":"kept""#), "{body:?}");
}

#[tokio::test]
async fn requests_for_tasks_carry_metadata_from_the_client() {
    use mcp::core::{Call, Exchange};
    use mcp::middleware::{Next, from_fn};
    use mcp::types::Meta;

    let seen: Arc<Mutex<Vec<(String, Meta)>>> = Arc::default();
    let records = seen.clone();
    let record = from_fn(move |exchange: Exchange, next: Next| {
        let meta = exchange.meta.object().map(|meta| meta.parse().unwrap());
        let method = match &exchange.call {
            Call::Other { method, .. } => method.to_string(),
            _ => String::new(),
        };
        records.lock().push((method, meta.unwrap_or_default()));
        async move { next.run(exchange).await }
    });
    let gate = Arc::new(Semaphore::new(0));
    let studio = studio(&gate, TaskMode::Required).layer(record);
    let url = serve(open(server_of("studio", studio)).await).await;
    let client = builder().tasks().connect(&url).await.unwrap();
    let task = client.call("studio__render", ()).start().await.unwrap();
    let id = task.id().unwrap().to_owned();
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (method, mut params) in [
        ("tasks/get", json!({})),
        ("tasks/update", json!({"inputResponses": {}})),
        ("tasks/cancel", json!({})),
    ] {
        params["taskId"] = json!(id);
        let request = client.request(method, params).meta("traceparent", trace);
        // Keys of the protocol are those of the gateway.
        let request = request.meta("com.example/a", 5).meta("progressToken", "p");
        request.await.unwrap();
        let (_, meta) = seen
            .lock()
            .iter()
            .rfind(|(it, _)| it == method)
            .unwrap()
            .clone();
        assert_eq!(
            meta.get::<String>("traceparent").as_deref(),
            Some(trace),
            "{method}"
        );
        assert_eq!(meta.get::<u32>("com.example/a"), Some(5), "{method}");
        assert!(meta.get::<String>("progressToken").is_none(), "{method}");
        let client = meta
            .get::<Value>("io.modelcontextprotocol/clientInfo")
            .unwrap();
        assert_eq!(client["name"], "gateway", "{method}");
    }

    // The gateway follows the task of a client without tasks.
    gate.add_permits(1);
    seen.lock().clear();
    let client = builder().connect(&url).await.unwrap();
    let rendered = client.call("studio__render", ()).meta("traceparent", trace);
    assert_eq!(rendered.await.unwrap().text(), "rendered");
    let polls = seen.lock().clone();
    let mut polls = polls
        .iter()
        .filter(|(method, _)| method == "tasks/get")
        .peekable();
    assert!(polls.peek().is_some());
    assert!(polls.all(|(_, meta)| meta.get::<String>("traceparent").as_deref() == Some(trace)));
}
