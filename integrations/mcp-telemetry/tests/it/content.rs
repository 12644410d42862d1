//! Arguments and results are recorded on request only, as the program redacts them.

use mcp::prelude::*;
use mcp::telemetry::opentelemetry::trace::SpanKind;
use mcp_testing::Pair;
use serde_json::json;

use crate::kit::{Recorder, attribute};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Login {
    user: String,
    password: String,
}

fn server() -> Server {
    let login = |Args(login): Args<Login>| format!("{}:{}", login.user, login.password.len());
    Server::new("shop", "1.0.0").tool(Tool::new("login").handler(login))
}

#[tokio::test]
async fn arguments_and_results_are_left_out_by_default() {
    let recorder = Recorder::start();
    let pair = Pair::http(server().layer(recorder.server_layer()))
        .connect()
        .await
        .unwrap();
    let arguments = json!({ "user": "ada", "password": "hunter2" });
    pair.client.call("login", arguments).await.unwrap();
    let span = recorder.span(&SpanKind::Server, "tools/call login");
    assert_eq!(attribute(&span, "gen_ai.tool.call.arguments"), None);
    assert_eq!(attribute(&span, "gen_ai.tool.call.result"), None);
    assert!(!format!("{span:?}").contains("hunter2"));
}

#[tokio::test]
async fn arguments_and_results_are_recorded_as_redacted() {
    let recorder = Recorder::start();
    let layer = recorder
        .server_layer()
        .arguments(|tool, arguments| Some(format!("{tool} {}", arguments.as_str().len())))
        .results(|_, result| Some("x".repeat(9000) + &result.text()));
    let pair = Pair::http(server().layer(layer)).connect().await.unwrap();
    let arguments = json!({ "user": "ada", "password": "hunter2" });
    pair.client.call("login", arguments).await.unwrap();
    let span = recorder.span(&SpanKind::Server, "tools/call login");
    let arguments = attribute(&span, "gen_ai.tool.call.arguments");
    assert_eq!(arguments.as_deref(), Some("login 35"));
    let result = attribute(&span, "gen_ai.tool.call.result").unwrap();
    assert_eq!(result, "x".repeat(8192));
}

#[tokio::test]
async fn panic_while_redacting_leaves_the_content_out() {
    let recorder = Recorder::start();
    let layer = recorder.server_layer().arguments(|_, _| panic!("hunter2"));
    let pair = Pair::http(server().layer(layer)).connect().await.unwrap();
    let arguments = json!({ "user": "ada", "password": "hunter2" });
    let result = pair.client.call("login", arguments).await.unwrap();
    assert_eq!(result.text(), "ada:7");
    let span = recorder.span(&SpanKind::Server, "tools/call login");
    assert_eq!(attribute(&span, "gen_ai.tool.call.arguments"), None);
}
