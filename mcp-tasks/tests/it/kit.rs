//! A server with tools that become tasks, and a client without rules of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp::core::{
    Call, ClientContext, Exchange, Extensions, Fault, Input, InputState, NotificationSender,
    Principal, Reply, ResultBody, Service,
};
use mcp::prelude::*;
use mcp::tasks::{Task, TaskMode, TaskStatus, Tasks};
use mcp::types::meta::keys;
use mcp::types::{CallToolParams, ClientCapabilities, RawObject};
use serde_json::{Value, json};
use tokio::time::sleep;

/// Counts handlers that run.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<AtomicUsize>);

impl Running {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn enter(&self) -> Entered {
        self.0.fetch_add(1, Ordering::Relaxed);
        Entered(self.0.clone())
    }
}

struct Entered(Arc<AtomicUsize>);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Elicit)]
pub(crate) struct Name {
    pub(crate) name: String,
}

pub(crate) const AFTER: TaskMode = TaskMode::After(Duration::from_millis(100));

/// Returns a server with these tools: `slow` works for the number of milliseconds in `ms`, `fail` returns
/// an error, `fault` a protocol error, `panic` panics, `large` returns the number of bytes in `ms`, `hasty` reports three
/// times at once.
pub(crate) fn server(tasks: Tasks, mode: TaskMode) -> (Server, Running) {
    let running = Running::default();
    let slow = |State(running): State<Running>, Args(args): Args<Value>, progress: Progress| async move {
        let _entered = running.enter();
        let ms = args["ms"].as_u64().unwrap_or(0);
        sleep(Duration::from_millis(ms / 2)).await;
        progress.report(1.0, 2.0, "half").await;
        sleep(Duration::from_millis(ms - ms / 2)).await;
        format!("done after {ms} ms")
    };
    let large = |Args(args): Args<Value>| async move {
        sleep(Duration::from_secs(1)).await;
        "x".repeat(args["ms"].as_u64().unwrap_or(0) as usize)
    };
    let hasty = async |progress: Progress| {
        for (done, step) in [(1.0, "first"), (2.0, "second"), (3.0, "last")] {
            progress.report(done, 3.0, step).await;
            sleep(Duration::from_millis(1)).await;
        }
        "done"
    };
    let fail = || async {
        sleep(Duration::from_secs(1)).await;
        Err::<String, _>(ToolError::new("no paper"))
    };
    let fault = || async {
        sleep(Duration::from_secs(1)).await;
        Err::<String, _>(ToolError::fault(Fault::bad_params("no such printer")))
    };
    let panics = |Args(args): Args<Value>| async move {
        sleep(Duration::from_secs(1)).await;
        assert!(args["ms"] == 7, "hunter2");
    };
    let server = Server::new("studio", "1.0.0")
        .state(running.clone())
        .tool(tool("slow").handler(slow).task(mode))
        .tool(tool("large").handler(large).task(mode))
        .tool(tool("hasty").handler(hasty).task(mode))
        .tool(tool("fail").handler(fail).task(mode))
        .tool(tool("fault").handler(fault).task(mode))
        .tool(tool("panic").handler(panics).task(mode))
        .tasks(tasks);
    server.check().unwrap();
    (server, running)
}

fn tool(name: &str) -> Tool {
    Tool::new(name).input_schema(mcp::types::JsonObject::from_iter([(
        "type".to_owned(),
        json!("object"),
    )]))
}

/// A client of a service, with or without the extension.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) declares: bool,
    pub(crate) principal: Option<Principal>,
    pub(crate) input: Option<InputState>,
}

pub(crate) const CALLER: Caller = Caller {
    declares: true,
    principal: None,
    input: None,
};

impl Caller {
    pub(crate) fn named(name: &str) -> Self {
        Self {
            principal: Some(Principal::new("issuer", name)),
            ..CALLER
        }
    }

    pub(crate) fn extensions(&self) -> Extensions {
        let mut extensions = Extensions::default();
        if let Some(principal) = &self.principal {
            extensions.insert(principal.clone());
        }
        extensions
    }

    pub(crate) fn facts(&self) -> Arc<ClientContext> {
        let mut declared = ClientCapabilities::default().with_elicitation();
        if self.declares {
            declared = declared.with_extension(keys::TASKS_EXTENSION, &json!({}));
        }
        let mut facts = ClientContext::new(ProtocolVersion::LATEST);
        facts.capabilities = declared;
        Arc::new(facts)
    }

    pub(crate) async fn send(&self, server: &impl Service, call: Call) -> Reply {
        let mut exchange = Exchange::new(call, self.facts());
        exchange.notifications = NotificationSender::default();
        exchange.extensions = self.extensions();
        if let Some(input) = &self.input {
            exchange.input = Input::from(input.clone());
        }
        server.call(exchange).await
    }

    pub(crate) async fn call(&self, server: &impl Service, tool: &str, args: Value) -> Reply {
        let args = RawObject::from_value(&args).unwrap();
        let call = Call::CallTool(CallToolParams::new(tool, Some(args)));
        self.send(server, call).await
    }

    /// Calls a tool, which has to become a task.
    pub(crate) async fn start(&self, server: &impl Service, tool: &str, args: Value) -> Task {
        match self.call(server, tool, args).await {
            Reply::Extended { result_type, body } => {
                assert_eq!(&*result_type, "task");
                body.parse().unwrap()
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn request(
        &self,
        server: &impl Service,
        method: &str,
        params: Value,
    ) -> Result<RawObject, Fault> {
        let call = Call::Other {
            method: method.into(),
            params: Some(RawObject::from_value(&params).unwrap()),
        };
        match self.send(server, call).await {
            Reply::Complete {
                body: ResultBody::Other(body),
                ..
            } => Ok(body),
            Reply::Fault(fault) => Err(fault),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn get(&self, server: &impl Service, id: &str) -> Result<Task, Fault> {
        let body = self
            .request(server, "tasks/get", json!({"taskId": id}))
            .await?;
        Ok(body.parse().unwrap())
    }

    pub(crate) async fn cancel(&self, server: &impl Service, id: &str) -> Result<(), Fault> {
        let params = json!({"taskId": id});
        let ack = self.request(server, "tasks/cancel", params).await?;
        assert_eq!(ack.as_str(), "{}");
        Ok(())
    }

    pub(crate) async fn update(
        &self,
        server: &impl Service,
        id: &str,
        responses: Value,
    ) -> Result<(), Fault> {
        let params = json!({"taskId": id, "inputResponses": responses});
        let ack = self.request(server, "tasks/update", params).await?;
        assert_eq!(ack.as_str(), "{}");
        Ok(())
    }

    /// Polls until the task has ended.
    pub(crate) async fn end(&self, server: &impl Service, id: &str) -> Task {
        loop {
            let task = self.get(server, id).await.unwrap();
            if task.status.is_terminal() {
                return task;
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Polls until the task asks.
    pub(crate) async fn question(&self, server: &impl Service, id: &str) -> Task {
        for _ in 0..1000 {
            let task = self.get(server, id).await.unwrap();
            if task.status == TaskStatus::InputRequired {
                return task;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("the task does not ask");
    }
}

/// Returns the text of a direct result.
pub(crate) fn text(reply: Reply) -> String {
    match reply {
        Reply::Complete {
            body: ResultBody::CallTool(result),
            ..
        } => result.text(),
        other => panic!("{other:?}"),
    }
}

/// Returns the result of a completed task.
pub(crate) fn result(task: &Task) -> CallToolResult {
    assert_eq!(task.status, TaskStatus::Completed, "{task:?}");
    task.result.as_ref().unwrap().parse().unwrap()
}
