//! The rows of the table for the clients of a gateway and for tool sets.

use std::sync::Arc;

use mcp::InProcess;
use mcp::gateway::{ConnectedGateway, Gateway, GatewayServer};
use mcp::toolset::{Provider, ToolSet};
use mcp_client::group::Group;
use mcp_client::{Client, ConnectMode, Over};
use mcp_types::ProtocolVersion;
use serde_json::{Value, json};

use super::quirks::{Call, QUIRKS, Quirk, Sent};
use super::{raw, used, with_omissions};
use crate::script::{Script, Step, say};

/// A server whose answers to the row's method are those of the row.
fn server(quirk: &Quirk) -> Arc<Script> {
    let answers = quirk.sent.iter().map(|sent| match sent {
        Sent::Result(result) => vec![raw(result)],
        Sent::Message(message) => vec![say(*message)],
    });
    Script::of_method(quirk.call.method(), answers)
}

/// Connects a client to a gateway in front of a server, whose name there is `s`.
pub(super) async fn behind_gateway(script: Arc<Script>) -> (Client, Group) {
    let server = GatewayServer::new("s", move |client| {
        let mode = ConnectMode::Pin(ProtocolVersion::LATEST);
        client.mode(mode).connect(Over(script.channel()))
    });
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let ConnectedGateway { server, group, .. } = gateway.connect().await.unwrap();
    let client = Client::connect(InProcess(server)).await.unwrap();
    (client, group)
}

async fn by_gateway(quirk: &Quirk) -> String {
    let (client, group) = behind_gateway(server(quirk)).await;
    let text = used(&client, quirk.call, "s__a").await;
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", quirk.name));
    let shared = group.client("s").await.unwrap();
    with_omissions(text, shared.omissions())
}

/// Returns the names of the tools that a model is offered.
pub(super) async fn offered(set: &ToolSet) -> Vec<String> {
    let definitions = set.definitions(Provider::Anthropic).await.unwrap();
    let definitions = definitions.as_array().unwrap().iter();
    let names = definitions.map(|tool| tool["name"].as_str().unwrap().to_owned());
    names.collect()
}

/// Calls the tool `a`, and returns the result that the model reads.
pub(super) async fn answered(set: &ToolSet) -> Value {
    let call = json!({"type": "tool_use", "id": "c1", "name": "a", "input": {}});
    let reply = json!({"content": [call]});
    let mut results = set.run(Provider::Anthropic, &reply).await.unwrap();
    results.remove(0)
}

async fn by_tool_set(quirk: &Quirk) -> String {
    let client = server(quirk).client().await;
    let set = ToolSet::from(&client);
    if let Call::Tools = quirk.call {
        let text = offered(&set).await.join(", ");
        return with_omissions(text, client.omissions());
    }
    let result = answered(&set).await;
    let blocks = match &result["content"] {
        Value::Array(blocks) => blocks.clone(),
        text => vec![json!({"text": text})],
    };
    let texts = blocks
        .iter()
        .map(|block| block["text"].as_str().unwrap_or_default());
    let failed = if result["is_error"] == true {
        "failed: "
    } else {
        ""
    };
    format!("{failed}{}", texts.collect::<Vec<_>>().join(" | "))
}

#[tokio::test]
async fn each_row_has_its_outcome_behind_a_gateway_and_in_a_tool_set() {
    let mut differences = Vec::new();
    for quirk in QUIRKS {
        let expected = quirk.gateway.or(quirk.group).unwrap_or(quirk.client);
        let outcome = by_gateway(quirk).await;
        if outcome != expected {
            differences.push(format!("{}, gateway: {outcome}", quirk.name));
        }
        if matches!(quirk.call, Call::Tools | Call::Tool) {
            let expected = quirk.tool_set.unwrap_or(quirk.client);
            let outcome = by_tool_set(quirk).await;
            if outcome != expected {
                differences.push(format!("{}, tool set: {outcome}", quirk.name));
            }
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
}

/// A server with this page of tools, or this result of the tool `a`.
fn answering(method: &'static str, text: &str) -> Arc<Script> {
    let answer: Vec<Step> = vec![raw(text)];
    Script::of_method(method, [answer])
}

/// Checks that a gateway and a tool set have these items and another one at most.
pub(super) async fn check_list(list: &str, page: &str, items: [&str; 2], place: &str) {
    let method = match list {
        "tools" => "tools/list",
        "prompts" => "prompts/list",
        "resources" => "resources/list",
        _ => "resources/templates/list",
    };
    let (client, _group) = behind_gateway(answering(method, page)).await;
    let names = super::generated::names(&client, list).await;
    let has = |names: &[String], wanted: &str| names.iter().any(|name| name == wanted);
    for item in items {
        let name = match list {
            "tools" | "prompts" => format!("s__{item}"),
            _ => item.to_owned(),
        };
        assert!(has(&names, &name), "gateway, {list}: {place}: {names:?}");
    }
    if list == "tools" {
        let client = answering(method, page).client().await;
        let names = offered(&ToolSet::from(&client)).await;
        for item in items {
            assert!(has(&names, item), "tool set: {place}: {names:?}");
        }
    }
}

/// Checks that the result of the tool `a` keeps these texts behind a gateway and in a tool set.
pub(super) async fn check_result(result: &str, texts: &[&str], place: &str) {
    check_used(Call::Tool, result, texts, place).await;
    let client = answering("tools/call", result).client().await;
    let read = answered(&ToolSet::from(&client)).await.to_string();
    for expected in texts {
        assert!(read.contains(expected), "tool set: {place}: {read}");
    }
}

/// Checks that a result keeps these texts behind a gateway.
pub(super) async fn check_used(call: Call, result: &str, texts: &[&str], place: &str) {
    let (client, _group) = behind_gateway(answering(call.method(), result)).await;
    let text = used(&client, call, "s__a").await;
    let text = text.unwrap_or_else(|error| panic!("gateway: {place}: {error}"));
    for expected in texts {
        assert!(text.contains(expected), "gateway: {place}: {text}");
    }
}
