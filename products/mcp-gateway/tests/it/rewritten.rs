//! Each decision about a call, with each way in which the gateway rewrites it: the decision is about the call that runs.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use mcp::InProcess;
use mcp::core::{Call, Fault, Gate, Principal};
use mcp::gateway::{CallLimits, Gateway, ToolMode, ToolOptions};
use mcp::http::StreamableHttp;
use mcp::prelude::*;
use mcp::toolset::PinFile;
use mcp::types::RawObject;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::kit::{LogLines, meta, server_of};

const DECISIONS: [&str; 7] = [
    "gate",
    "scopes",
    "visibility",
    "pins",
    "rate",
    "audit",
    "headers",
];

/// The ways in which a call reaches the tool `wipe` of the server `disk`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rewriting {
    /// By its name in the gateway.
    Prefixed,
    /// By another name, with a hidden argument.
    Renamed,
    /// Inside of `call_tool`.
    Inner,
    /// By another name, inside of `call_tool`.
    RenamedInner,
}

const REWRITINGS: [Rewriting; 4] = [
    Rewriting::Prefixed,
    Rewriting::Renamed,
    Rewriting::Inner,
    Rewriting::RenamedInner,
];

impl Rewriting {
    fn name(self) -> &'static str {
        match self {
            Self::Prefixed | Self::Inner => "disk__wipe",
            Self::Renamed | Self::RenamedInner => "erase",
        }
    }

    fn is_inner(self) -> bool {
        matches!(self, Self::Inner | Self::RenamedInner)
    }
}

/// Refuses the calls of one tool.
struct Without(&'static str);

impl Gate for Without {
    fn admit(
        &self,
        call: &Call,
        _: &mcp::core::ClientContext,
        _: Option<&Principal>,
    ) -> Result<(), Fault> {
        match call {
            Call::CallTool(params) if params.name == self.0 => {
                Err(Fault::Refused("the gate is closed".into()))
            }
            _ => Ok(()),
        }
    }
}

fn disk(description: &str) -> Server {
    let schema = json!({
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "force": {"type": "boolean"}},
    });
    let schema: mcp::types::JsonObject = serde_json::from_value(schema).unwrap();
    let wipe = Tool::new("wipe").description(description);
    Server::new("disk", "1.0.0").tool(wipe.input_schema(schema).handler(|| "wiped").forwarded())
}

/// Serves the disk behind a gateway that forbids a call, or restricts it, by one decision.
async fn endpoint(decision: &str, rewriting: Rewriting) -> StreamableHttp {
    let mut options = ToolOptions::new();
    if rewriting.name() == "erase" {
        options = options.rename("erase").hidden_argument("force", true);
    }
    if decision == "visibility" {
        options = options.visible_to(|caller| caller.has_scope("admin"));
    }
    if decision == "rate" {
        options = options.limits(CallLimits::new().rate(1, Duration::from_secs(600)));
    }
    let server = server_of("disk", disk("Wipes.")).tool("wipe", options);
    let mut gateway = Gateway::new("gateway", "1.0.0").server(server);
    if rewriting.is_inner() {
        gateway = gateway.tool_mode(ToolMode::Search);
    }
    if decision == "pins" {
        let folder = std::env::temp_dir().join(format!("mcp-rewritten-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{rewriting:?}.lock"));
        let _ = std::fs::remove_file(&file);
        let pins = PinFile::open(&file).unwrap();
        pins.check("disk", &[Tool::new("wipe").description("Another one.")]);
        gateway = gateway.pin(pins);
    }
    let mut server = gateway.connect().await.unwrap().server;
    if decision == "scopes" {
        server = server.tool_scopes(|_| ["admin"]);
    }
    let endpoint = StreamableHttp::new(server);
    if decision == "gate" {
        return endpoint.gate(Without(rewriting.name()));
    }
    endpoint
}

/// Calls the tool. Returns the status and the response.
async fn call(
    endpoint: &StreamableHttp,
    rewriting: Rewriting,
    region: Option<&str>,
) -> (StatusCode, Value) {
    let arguments = json!({"region": "eu"});
    let (name, arguments) = if rewriting.is_inner() {
        let inner = json!({"name": rewriting.name(), "arguments": arguments});
        ("call_tool", inner)
    } else {
        (rewriting.name(), arguments)
    };
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": name, "arguments": arguments, "_meta": meta()},
    });
    let mut request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", name);
    if let Some(region) = region {
        request = request.header("mcp-param-region", region);
    }
    let request = request
        .body(Full::<bytes::Bytes>::from(body.to_string()))
        .unwrap();
    let response = endpoint.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&body);
    let data = text
        .lines()
        .find_map(|line| line.strip_prefix("data: "))
        .unwrap_or(&text);
    (status, serde_json::from_str(data).unwrap())
}

/// A gate or an audit reads the last member of a name, and the server may read the first one.
#[tokio::test]
async fn arguments_that_two_readers_read_differently_are_refused() {
    let disk = server_of("disk", disk("Wipes."));
    let opened = Gateway::new("gateway", "1.0.0").server(disk);
    let plain = Arc::new(opened.connect().await.unwrap().server);
    let disk = server_of("disk", self::disk("Wipes."));
    let search = Gateway::new("gateway", "1.0.0").server(disk);
    let search = search.tool_mode(ToolMode::Search).connect().await;
    let search = Arc::new(search.unwrap().server);
    for arguments in [
        r#"{"region": "eu", "region": "us"}"#,
        r#"{"region": "eu", "r\u0065gion": "us"}"#,
        r#"{"region": "eu", "x": [{"a": 1, "a": 2}]}"#,
    ] {
        let inner = format!(r#"{{"name": "disk__wipe", "arguments": {arguments}}}"#);
        let quoted = Value::from(arguments).to_string();
        let in_text = format!(r#"{{"name": "disk__wipe", "arguments": {quoted}}}"#);
        for (server, name, arguments) in [
            (&plain, "disk__wipe", arguments),
            (&search, "call_tool", &inner),
            (&search, "call_tool", &in_text),
        ] {
            let client = Client::connect(InProcess(server.clone())).await.unwrap();
            let arguments = RawObject::from_text(arguments).unwrap();
            let told = match client.call(name, arguments).await {
                Ok(result) => result.text(),
                Err(error) => error.to_string(),
            };
            assert!(told.contains("comes twice"), "{name}: {told}");
        }
    }
}

/// Returns the header of a client that knows the schema of the tool.
fn known(rewriting: Rewriting) -> Option<&'static str> {
    (!rewriting.is_inner()).then_some("eu")
}

// All tasks run on the thread of the subscriber.
#[tokio::test]
async fn each_decision_is_about_the_call_that_runs() {
    let lines = LogLines::default();
    let _guard = lines.record();
    for rewriting in REWRITINGS {
        let open = endpoint("none", rewriting).await;
        let (_, done) = call(&open, rewriting, known(rewriting)).await;
        assert_eq!(done["result"]["content"][0]["text"], "wiped", "{done}");
        for decision in DECISIONS {
            let endpoint = endpoint(decision, rewriting).await;
            if decision == "rate" {
                call(&endpoint, rewriting, known(rewriting)).await;
            }
            let before = lines.text().len();
            let region = if decision == "headers" {
                Some("us")
            } else {
                known(rewriting)
            };
            let (status, reply) = call(&endpoint, rewriting, region).await;
            let text = reply.to_string();
            let is_decided = match decision {
                "gate" => text.contains("the gate is closed"),
                "scopes" => status == StatusCode::FORBIDDEN && text.contains("admin"),
                "visibility" => text.contains("unknown tool") || text.contains("no tool is named"),
                "pins" => text.contains("is held"),
                "rate" => text.contains("too many calls"),
                "audit" => {
                    let log = lines.text()[before..].to_owned();
                    let audit = log.lines().find(|line| line.contains("mcp_gateway::audit"));
                    let is_own = |line: &str| line.contains("item=\"wipe\"");
                    audit.is_some_and(is_own)
                }
                _ => text.contains("mcp-param-region"),
            };
            assert!(is_decided, "{decision} × {rewriting:?}: {status} {text}");
            let has_run = text.contains("wiped");
            assert_eq!(has_run, decision == "audit", "{decision} × {rewriting:?}");
        }
    }
}
