//! An agent: a loop between a model and the tools of two servers. A function with a fixed script, in Anthropic's
//! format, stands in for the model.
//!
//! `cargo run -p examples --bin agent`

#![allow(clippy::print_stdout, reason = "a command line program")]

use std::sync::Arc;

use mcp::prelude::*;
use mcp::toolset::{Answer, Approval, ProposedCall, Provider, ToolSet};
use mcp::{Group, InProcess};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let approval = Approval::by_annotations().ask(|call: ProposedCall| async move {
        println!("approved: {} {}", call.tool.name, call.arguments);
        Answer::Once
    });
    let tools = ToolSet::from(&servers()).approve(approval).deferred();
    let mut messages = vec![json!({"role": "user", "content": "Tell the team the time."})];
    loop {
        let definitions = tools.definitions(Provider::Anthropic).await?;
        let reply = model(&json!({"messages": messages, "tools": definitions}));
        let results = tools.run(Provider::Anthropic, &reply).await?;
        if results.is_empty() {
            println!(
                "{}",
                reply["content"][0]["text"].as_str().unwrap_or_default()
            );
            return Ok(());
        }
        messages.push(json!({"role": "assistant", "content": reply["content"]}));
        messages.push(json!({"role": "user", "content": results}));
    }
}

/// Connects two servers in this process. A real agent calls `Group::load("mcp.json")` instead.
fn servers() -> Group {
    let clock = Tool::new("now")
        .description("Returns the time")
        .handler(|| "half past");
    let post = Tool::new("post").description("Posts a message to the team");
    let post = post.handler(|RawArgs(message): RawArgs| format!("posted: {}", message.as_str()));
    let [clock, chat] = [("clock", clock), ("chat", post)]
        .map(|(name, tool)| Arc::new(Server::new(name, "1.0.0").tool(tool)));
    Group::builder()
        .server("clock", move || Client::connect(InProcess(clock.clone())))
        .server("chat", move || Client::connect(InProcess(chat.clone())))
        .build()
}

/// Replies like a model: first a search for tools, then two calls, then a sentence.
fn model(request: &Value) -> Value {
    let (name, input) = match request["messages"].as_array().map_or(0, Vec::len) {
        1 => (
            "search_tools",
            json!({"queries": ["what time is it", "post a message"]}),
        ),
        3 => ("call_tool", json!({"name": "clock__now"})),
        5 => (
            "call_tool",
            json!({"name": "chat__post", "arguments": {"text": "half past"}}),
        ),
        _ => return json!({"content": [{"type": "text", "text": "The team knows the time."}]}),
    };
    json!({"content": [{"type": "tool_use", "id": "c", "name": name, "input": input}]})
}
