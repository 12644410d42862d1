//! Helpers that call a server without a transport.

use std::sync::Arc;

use futures::executor::block_on;
use mcp_core::{Call, ClientContext, Exchange, Fault, Reply, ResultBody, Service};
use mcp_server::{IntoServer, Server};
use mcp_types::{
    CallToolParams, CallToolResult, CompleteParams, Completion, CompletionReference,
    GetPromptParams, GetPromptResult, Page, Prompt, ProtocolVersion, RawObject, ReadResourceParams,
    Resource, ResourceTemplate, Tool,
};
use serde_json::Value;

/// Creates a server and checks it.
pub(crate) fn server(value: impl IntoServer) -> Server {
    let server = Server::of(value);
    server.check().unwrap();
    server
}

pub(crate) fn exchange(call: Call) -> Exchange {
    Exchange::new(call, Arc::new(ClientContext::new(ProtocolVersion::LATEST)))
}

/// Calls a tool with JSON arguments and an exchange from `exchange`.
pub(crate) fn call_with(
    server: &Server,
    tool: &str,
    exchange: impl Fn(Call) -> Exchange,
    arguments: &str,
) -> Reply {
    let arguments = RawObject::from_text(arguments).unwrap();
    let call = Call::CallTool(CallToolParams::new(tool, Some(arguments)));
    block_on(server.call(exchange(call)))
}

/// Returns the result of a tool.
pub(crate) fn call(server: &Server, tool: &str, arguments: &str) -> CallToolResult {
    match call_with(server, tool, exchange, arguments) {
        Reply::Complete {
            body: ResultBody::CallTool(result),
            ..
        } => result,
        other => panic!("no result: {other:?}"),
    }
}

/// Returns the text of a tool's result.
pub(crate) fn call_text(server: &Server, tool: &str, arguments: &str) -> String {
    let result = call(server, tool, arguments);
    assert!(!result.is_error(), "{}", result.text());
    result.text()
}

/// Returns the text of a tool's failed result.
pub(crate) fn call_error(server: &Server, tool: &str, arguments: &str) -> String {
    let result = call(server, tool, arguments);
    assert!(result.is_error(), "{}", result.text());
    result.text()
}

/// Returns the first page of a server's tools.
pub(crate) fn tools(server: &Server) -> Vec<Tool> {
    match block_on(server.call(exchange(Call::ListTools(Page::default())))) {
        Reply::Complete {
            body: ResultBody::ListTools(list),
            ..
        } => list.tools.clone(),
        other => panic!("no list: {other:?}"),
    }
}

/// Returns the tools of all pages.
pub(crate) fn all_tools(server: &Server) -> Vec<Tool> {
    let (mut all, mut page) = (Vec::new(), Page::default());
    loop {
        let Reply::Complete {
            body: ResultBody::ListTools(list),
            ..
        } = reply(server, Call::ListTools(page))
        else {
            panic!("no list")
        };
        all.extend(list.tools.iter().cloned());
        match list.next_cursor.clone() {
            Some(next) => page = Page::from(next),
            None => return all,
        }
    }
}

/// Returns the tool `name` from the first page of the list.
pub(crate) fn tool(server: &Server, name: &str) -> Tool {
    let mut tools = tools(server).into_iter();
    tools.find(|tool| tool.name == name).unwrap()
}

/// Returns the input schema of a tool.
pub(crate) fn input(server: &Server, name: &str) -> Value {
    Value::Object((*tool(server, name).input_schema).clone())
}

pub(crate) fn reply(server: &Server, call: Call) -> Reply {
    block_on(server.call(exchange(call)))
}

/// Returns the fault of a reply.
pub(crate) fn fault(reply: Reply) -> Fault {
    match reply {
        Reply::Fault(fault) => fault,
        other => panic!("no fault: {other:?}"),
    }
}

pub(crate) fn read_reply(server: &Server, uri: &str) -> Reply {
    reply(server, Call::ReadResource(ReadResourceParams::from(uri)))
}

/// Returns the contents of a resource as JSON.
pub(crate) fn read(server: &Server, uri: &str) -> Value {
    match read_reply(server, uri) {
        Reply::Complete {
            body: ResultBody::ReadResource(result),
            ..
        } => serde_json::to_value(result.contents).unwrap(),
        other => panic!("no contents: {other:?}"),
    }
}

/// Returns the text of a resource.
pub(crate) fn read_text(server: &Server, uri: &str) -> String {
    let contents = read(server, uri);
    contents[0]["text"].as_str().unwrap().to_owned()
}

pub(crate) fn get_reply(server: &Server, prompt: &str, arguments: &str) -> Reply {
    let arguments = RawObject::from_text(arguments).unwrap();
    reply(
        server,
        Call::GetPrompt(GetPromptParams::new(prompt, Some(arguments))),
    )
}

/// Returns the messages of a prompt.
pub(crate) fn get(server: &Server, prompt: &str, arguments: &str) -> GetPromptResult {
    match get_reply(server, prompt, arguments) {
        Reply::Complete {
            body: ResultBody::GetPrompt(result),
            ..
        } => result,
        other => panic!("no messages: {other:?}"),
    }
}

/// Returns the text of a prompt's messages, one line each.
pub(crate) fn get_text(server: &Server, prompt: &str, arguments: &str) -> String {
    let lines = get(server, prompt, arguments)
        .messages
        .into_iter()
        .map(|message| {
            let text = message.content.as_text().unwrap_or("(no text)").to_owned();
            format!("{}: {text}", message.role)
        });
    lines.collect::<Vec<_>>().join("\n")
}

pub(crate) fn resources(server: &Server) -> Vec<Resource> {
    match reply(server, Call::ListResources(Page::default())) {
        Reply::Complete {
            body: ResultBody::ListResources(list),
            ..
        } => list.resources.clone(),
        other => panic!("no list: {other:?}"),
    }
}

pub(crate) fn templates(server: &Server) -> Vec<ResourceTemplate> {
    match reply(server, Call::ListResourceTemplates(Page::default())) {
        Reply::Complete {
            body: ResultBody::ListResourceTemplates(list),
            ..
        } => list.resource_templates.clone(),
        other => panic!("no list: {other:?}"),
    }
}

pub(crate) fn prompts(server: &Server) -> Vec<Prompt> {
    match reply(server, Call::ListPrompts(Page::default())) {
        Reply::Complete {
            body: ResultBody::ListPrompts(list),
            ..
        } => list.prompts.clone(),
        other => panic!("no list: {other:?}"),
    }
}

pub(crate) fn complete_reply(server: &Server, params: CompleteParams) -> Reply {
    reply(server, Call::Complete(params.into()))
}

/// Returns the suggestions for an argument.
pub(crate) fn complete(
    server: &Server,
    reference: CompletionReference,
    argument: &str,
    typed: &str,
) -> Completion {
    match complete_reply(server, CompleteParams::new(reference, argument, typed)) {
        Reply::Complete {
            body: ResultBody::Complete(result),
            ..
        } => result.completion,
        other => panic!("no suggestions: {other:?}"),
    }
}
