//! Schema validation and mirrored headers, from client to server.

use mcp::core::Fault;
use mcp::http::StreamableHttp;
use mcp::prelude::*;
use mcp::schema::JsonSchema;
use mcp::types::JsonObject;
use mcp::{Json, Over, RawArgs};
use serde_json::{Value, json};

use crate::kit::TestServer;

fn object(value: Value) -> JsonObject {
    serde_json::from_value(value).unwrap()
}

/// A server with a hand-written schema.
fn contact() -> Server {
    let schema = json!({
        "type": "object",
        "properties": {"phone": {"type": "string"}, "email": {"type": "string", "minLength": 3}},
        "anyOf": [{"required": ["phone"]}, {"required": ["email"]}],
        "additionalProperties": false,
    });
    let tool = Tool::new("contact").input_schema(object(schema));
    Server::new("s", "1").tool(tool.handler(|raw: RawArgs| raw.as_str().to_owned()))
}

async fn call(server: Server, tool: &str, arguments: Value) -> String {
    let client = mcp_testing::connect(server).await.unwrap();
    let result = client.call(tool, arguments).await;
    result.map_or_else(|error| error.to_string(), |result| result.text())
}

// spec: TOOL-22, JSCH-01
#[tokio::test]
async fn hand_written_schema_is_checked_by_validator() {
    assert_eq!(call(contact(), "contact", json!({})).await, "{}");
    let short = call(contact(), "contact", json!({"email": "a"})).await;
    assert!(short.contains("has 1 character"), "{short}");

    let checked = || contact().validate_with(JsonSchema);
    let right = call(checked(), "contact", json!({"phone": "1"})).await;
    assert_eq!(right, r#"{"phone":"1"}"#);
    assert_eq!(
        call(checked(), "contact", json!({})).await,
        "invalid arguments: fits none of the alternatives: (missing `phone`), (missing `email`)"
    );
    let text = call(checked(), "contact", json!({"phone": 1, "fax": 2})).await;
    assert!(text.contains("`phone`: expected string, got 1"), "{text}");
    assert!(text.contains("unknown `fax`"), "{text}");
}

#[test]
fn validator_removes_lints() {
    let lints = |server: Server| {
        server
            .lints()
            .iter()
            .map(|lint| lint.clients)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        lints(contact()),
        ["Claude and OpenAI models", "every client"]
    );
    assert_eq!(
        lints(contact().validate_with(JsonSchema)),
        ["Claude and OpenAI models"]
    );
}

// spec: JSCH-02, JSCH-04, JSCH-06
#[tokio::test]
async fn unsupported_schema_fails_setup_check() {
    let remote = Tool::new("remote").input_schema(object(
        json!({"type": "object", "$ref": "https://example.com/x.json"}),
    ));
    let invalid = Tool::new("invalid").output_schema(object(json!({"type": "strnig"})));
    let server = || {
        let server = Server::new("s", "1").tool(remote.clone().handler(|| "x"));
        server.tool(invalid.clone().handler(|| "x"))
    };
    server().check().unwrap();
    let server = server().validate_with(JsonSchema);
    let error = server.check().unwrap_err();
    let problems = error.problems();
    assert!(
        problems[0].starts_with("the tool `remote`: its input schema: the reference"),
        "{error}"
    );
    assert!(
        problems[1].starts_with("the tool `invalid`: its output schema: the schema is"),
        "{error}"
    );
    // Without the check, calls of these tools fail instead of skipping validation.
    let channel = mcp::core::InProcessChannel::new(server);
    let client = Client::builder().connect(Over(channel)).await.unwrap();
    for tool in ["remote", "invalid"] {
        let error = client.call(tool, ()).await.unwrap_err();
        assert!(error.to_string().contains("cannot be checked"), "{error}");
    }
}

// spec: TOOL-16
#[tokio::test]
async fn result_that_violates_schema_is_internal_error() {
    let schema = || object(json!({"type": "object", "properties": {"sum": {"type": "integer"}}}));
    let tool = |name: &str, result: fn() -> CallToolResult| {
        Tool::new(name).output_schema(schema()).handler(result)
    };
    let server = Server::new("s", "1")
        .tool(tool("right", || {
            CallToolResult::from_json(&json!({"sum": 3})).unwrap()
        }))
        .tool(tool("wrong", || {
            CallToolResult::from_json(&json!({"sum": "3"})).unwrap()
        }))
        .tool(tool("missing", || CallToolResult::from_text("3")))
        .tool(tool("failed", || CallToolResult::error("no")))
        .tool(Tool::new("typed").handler(|| Json(vec![1, 2])))
        .validate_with(JsonSchema);
    let client = mcp_testing::connect(server).await.unwrap();
    assert_eq!(
        client.call("right", ()).await.unwrap().text(),
        r#"{"sum":3}"#
    );
    assert_eq!(client.call("typed", ()).await.unwrap().text(), "[1,2]");
    assert!(client.call("failed", ()).await.unwrap().is_error());
    for (tool, message) in [
        ("wrong", "`sum`: expected integer, got \"3\""),
        ("missing", "there is no structured content"),
    ] {
        let error = client.call(tool, ()).await.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

struct Regions;

#[mcp::server]
impl Regions {
    /// Returns its arguments.
    #[tool]
    fn place(
        &self,
        #[arg(header = "Region")] region: String,
        #[arg(header = "Zone")] zone: Option<u32>,
    ) -> String {
        format!("{region} {zone:?}")
    }
}

// spec: XHDR-02, XHDR-17, XHDR-19
#[tokio::test]
async fn mirrored_arguments_are_sent_and_compared() {
    let test_server = TestServer::start(StreamableHttp::new(Server::of(Regions))).await;
    let client = Client::connect(test_server.url()).await.unwrap();
    // The client does not know the tool: the server rejects the call, and the client lists the tools
    // and repeats the call with headers.
    for arguments in [
        json!({"region": "Z\u{fc}rich", "zone": 7}),
        json!({"region": "", "zone": null}),
    ] {
        let result = client.call("place", &arguments).await.unwrap();
        assert!(!result.is_error(), "{}", result.text());
    }
    let forged = client.call("place", json!({"region": "a", "zone": null}));
    let error = forged.header("mcp-param-zone", "9").await.unwrap_err();
    assert!(
        matches!(error.fault(), Some(Fault::HeaderMismatch(_))),
        "{error}"
    );
}
