//! Calls a server without a transport.

use std::sync::Arc;

use futures::executor::block_on;
use mcp_core::{Call, ClientFacts, Exchange, Reply, ResultBody, Service};
use mcp_server::{IntoServer, Server};
use mcp_types::{CallToolParams, CallToolResult, Page, ProtocolVersion, RawObject, Tool};
use serde_json::Value;

/// A server whose set-up was checked.
pub(crate) fn server(of: impl IntoServer) -> Server {
    let server = Server::of(of);
    server.check().unwrap();
    server
}

pub(crate) fn exchange(call: Call) -> Exchange {
    Exchange::new(call, Arc::new(ClientFacts::new(ProtocolVersion::LATEST)))
}

/// Calls a tool with the text of its arguments.
pub(crate) fn call_with(
    server: &Server,
    tool: &str,
    exchange: fn(Call) -> Exchange,
    arguments: &str,
) -> Reply {
    let arguments = RawObject::from_text(arguments).unwrap();
    let call = Call::CallTool(CallToolParams::new(tool, Some(arguments)));
    block_on(server.call(exchange(call)))
}

/// The result of a tool.
pub(crate) fn call(server: &Server, tool: &str, arguments: &str) -> CallToolResult {
    match call_with(server, tool, exchange, arguments) {
        Reply::Complete {
            body: ResultBody::CallTool(result),
            ..
        } => result,
        other => panic!("no result: {other:?}"),
    }
}

/// The text of a tool's result.
pub(crate) fn ask(server: &Server, tool: &str, arguments: &str) -> String {
    let result = call(server, tool, arguments);
    assert!(!result.is_error(), "{}", result.text());
    result.text()
}

/// The text of a tool's failure.
pub(crate) fn refused(server: &Server, tool: &str, arguments: &str) -> String {
    let result = call(server, tool, arguments);
    assert!(result.is_error(), "{}", result.text());
    result.text()
}

/// The tools of a server, as they are listed.
pub(crate) fn tools(server: &Server) -> Vec<Tool> {
    match block_on(server.call(exchange(Call::ListTools(Page::default())))) {
        Reply::Complete {
            body: ResultBody::ListTools(list),
            ..
        } => list.tools.clone(),
        other => panic!("no list: {other:?}"),
    }
}

/// A tool as it is listed.
pub(crate) fn tool(server: &Server, name: &str) -> Tool {
    let mut tools = tools(server).into_iter();
    tools.find(|tool| tool.name == name).unwrap()
}

/// The input schema of a tool.
pub(crate) fn input(server: &Server, name: &str) -> Value {
    Value::Object((*tool(server, name).input_schema).clone())
}
