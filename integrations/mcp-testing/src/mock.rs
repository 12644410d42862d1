//! [`mock`]: a server from a snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use mcp::catalog::Snapshot;
use mcp::client::{Client, ClientBuilder, Error, Target};
use mcp::typed::CatalogServer;
use mcp::types::{GetPromptResult, ReadResourceResult};
use mcp::{
    CallContext, CallToolResult, InProcess, IntoServer, NotFound, ResourceContents, Server,
    ToolError, user,
};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::samples::samples;

/// Most calls that a mock keeps.
const MAX_CALLS: usize = 10_000;

/// Creates a server with a snapshot's catalog, for tests of clients and agents.
///
/// Tools answer with an example of their output schema, or with a text. [`Mock::answer`] sets a
/// recorded answer. Prompts and resources answer with their name or URI.
///
/// # Examples
///
/// ```
/// use mcp::CallToolResult;
/// use mcp::catalog::Snapshot;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let snapshot: Snapshot = r#"{"tools": [{"name": "weather", "inputSchema": {
///     "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]
/// }}]}"#.parse()?;
/// let mock = mcp_testing::mock(snapshot)
///     .answer("weather", CallToolResult::from_text("sunny"));
/// let client = mcp_testing::connect(mock.clone()).await?;
/// assert_eq!(client.call("weather", json!({"city": "Rome"})).await?.text(), "sunny");
/// assert_eq!(mock.calls(), [("weather".to_owned(), json!({"city": "Rome"}))]);
/// # Ok(())
/// # }
/// ```
pub fn mock(snapshot: Snapshot) -> Mock {
    Mock {
        snapshot,
        state: State::default(),
    }
}

/// A server from a snapshot. Created by [`mock`]. It is a connection target, also in a group. Clones share the calls
/// that they receive.
#[derive(Debug, Clone)]
pub struct Mock {
    snapshot: Snapshot,
    state: State,
}

#[derive(Debug, Clone, Default)]
struct State {
    /// By tool.
    answers: HashMap<String, CallToolResult>,
    calls: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Mock {
    /// Sets a tool's answer, for all arguments. For answers that depend on arguments, use a [`Server`] with a handler.
    #[must_use]
    pub fn answer(mut self, tool: impl Into<String>, result: CallToolResult) -> Self {
        self.state.answers.insert(tool.into(), result);
        self
    }

    /// Returns the tool names and arguments of the first 10,000 calls, in order.
    pub fn calls(&self) -> Vec<(String, Value)> {
        self.state.calls.lock().clone()
    }
}

impl State {
    /// Returns the recorded answer, or an example.
    fn answer(&self, tool: &Value, arguments: &Value) -> Result<CallToolResult, ToolError> {
        let name = text(tool, "name");
        let mut calls = self.calls.lock();
        if calls.len() < MAX_CALLS {
            calls.push((name.to_owned(), arguments.clone()));
        }
        drop(calls);
        if let Some(answer) = self.answers.get(name) {
            return Ok(answer.clone());
        }
        let schema = tool.get("outputSchema").and_then(Value::as_object);
        match schema.and_then(|schema| samples(schema, 0).next()) {
            Some(example) => Ok(CallToolResult::from_json(&example)?),
            None => Ok(CallToolResult::from_text(format!("example of {name}"))),
        }
    }
}

impl IntoServer for Mock {
    fn into_server(self) -> Server {
        let document = self.snapshot.as_value();
        let json = self.snapshot.to_json();
        let mut server = CatalogServer::new("mock", "1.0.0", &json, self.state);
        for tool in list(document, "tools") {
            let name = text(tool, "name").to_owned();
            let tool = Arc::new(tool.clone());
            let handler =
                move |state: Arc<State>, arguments: Map<String, Value>, _: CallContext| {
                    let result = state.answer(&tool, &Value::Object(arguments));
                    async move { result }
                };
            server = server.tool(&name, handler);
        }
        for prompt in list(document, "prompts") {
            let name = text(prompt, "name").to_owned();
            let answer = format!("example of {name}");
            server = server.prompt(&name, move |_: Arc<State>, _: Value, _| {
                let answer = answer.clone();
                async move { Ok(GetPromptResult::new([user(answer)])) }
            });
        }
        for resource in list(document, "resources") {
            server = server.resource(text(resource, "uri"), |_: Arc<State>, _: Value, call| {
                read(call)
            });
        }
        for template in list(document, "resourceTemplates") {
            let uri = text(template, "uriTemplate");
            server = server.template(uri, |_: Arc<State>, _: Value, call| read(call));
        }
        server.finish()
    }
}

impl Target for Mock {
    async fn connect(self, builder: ClientBuilder) -> Result<Client, Error> {
        builder.connect(InProcess(self.into_server())).await
    }
}

async fn read(call: CallContext) -> Result<ReadResourceResult, mcp::ResourceError> {
    let uri = call.item().ok_or(NotFound)?;
    let contents =
        json!({"uri": uri, "mimeType": "text/plain", "text": format!("example of {uri}")});
    let contents: ResourceContents = serde_json::from_value(contents)?;
    Ok(ReadResourceResult::from(vec![contents]))
}

fn list<'a>(document: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    let items = document.get(name).and_then(Value::as_array);
    items.into_iter().flatten()
}

fn text<'a>(item: &'a Value, key: &str) -> &'a str {
    item.get(key).and_then(Value::as_str).unwrap_or_default()
}
