//! Version negotiation with modern servers.

use std::sync::Arc;

use mcp::ToolExt as _;
use mcp::prelude::{Server, Tool};
use mcp_client::{Client, ClientBuilder, Error, InProcess, Over, Target};
use mcp_core::{ChannelError, Fault};
use mcp_types::meta::keys;
use mcp_types::{ProtocolVersion, codes};
use serde_json::{Value, json};

use crate::script::{Script, Scripted, Step, error, refuse, result, say, text, unsupported};

fn discovered(versions: &[&str]) -> Step {
    result(&json!({
        "resultType": "complete",
        "supportedVersions": versions,
        "capabilities": {"tools": {}},
        "instructions": "Use add.",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "calculator", "version": "2.0"}},
    }))
}

async fn connect(answers: impl IntoIterator<Item = Vec<Step>>) -> Result<Client, Error> {
    Client::connect(Over(Script::new(answers).channel())).await
}

#[tokio::test]
async fn auto_mode_discovers_and_stores_server() {
    let script = Script::new([
        vec![discovered(&["2030-01-01", "2026-07-28", "2025-11-25"])],
        vec![text("")],
    ]);
    let client = Client::builder()
        .identity("my-agent", "1.2.3")
        .connect(Over(script.channel()))
        .await
        .unwrap();
    assert_eq!(client.protocol_version(), ProtocolVersion::LATEST);
    assert_eq!(client.server_info().unwrap().name, "calculator");
    assert!(client.server_capabilities().unwrap().tools.is_some());
    assert_eq!(client.instructions().as_deref(), Some("Use add."));
    assert_eq!(
        format!("{client:?}"),
        r#"Client { server: "script:", version: V2026_07_28, .. }"#
    );
    client.call("add", ()).await.unwrap();

    let sent = script.sent();
    assert_eq!(sent[0].body["method"], "server/discover");
    for sent in sent {
        let info = sent.meta("io.modelcontextprotocol/clientInfo");
        assert_eq!(info, &json!({"name": "my-agent", "version": "1.2.3"}));
    }
}

#[tokio::test]
async fn pinned_modern_version_sends_nothing() {
    let script = Script::new([vec![discovered(&["2026-07-28"])]]);
    let client = script.client().await;
    assert!(script.sent().is_empty());
    assert_eq!(
        (client.server_info(), client.server_capabilities()),
        (None, None)
    );
    assert_eq!(client.instructions(), None);
    let found = client.discover().await.unwrap();
    assert_eq!(found.supported_versions, ["2026-07-28"]);
    let info = found.meta.unwrap().get(keys::SERVER_INFO);
    assert_eq!(client.server_info(), info);
}

#[tokio::test]
async fn unsupported_version_is_retried_with_common_one() {
    // A server may list the refused version as supported.
    let script = Script::new([
        vec![unsupported(&["2026-07-28"])],
        vec![discovered(&["2026-07-28"])],
        vec![unsupported(&["2025-11-25", "2026-07-28"])],
        vec![text("3")],
    ]);
    let client = Client::connect(Over(script.channel())).await.unwrap();
    assert_eq!(client.call("add", ()).await.unwrap().text(), "3");
    let sent = script.sent();
    assert_eq!(sent.len(), 4);
    assert_ne!(sent[0].body["id"], sent[1].body["id"]);
    assert_eq!(
        sent[3].meta("io.modelcontextprotocol/protocolVersion"),
        "2026-07-28"
    );
    assert_eq!(script.cancelled(), 0);
}

#[tokio::test]
async fn unsupported_version_is_retried_once_only() {
    let again = || vec![unsupported(&["2026-07-28"])];
    let script = Script::new([again(), again(), again()]);
    let error = Client::connect(Over(script.channel())).await.unwrap_err();
    assert!(
        matches!(error.fault(), Some(Fault::UnsupportedVersion { .. })),
        "{error:?}"
    );
    assert_eq!(script.sent().len(), 2);
}

#[tokio::test]
async fn discover_without_common_version_fails() {
    for answer in [
        unsupported(&["2030-01-01", "2020-01-01"]),
        discovered(&["2030-01-01", "2020-01-01"]),
    ] {
        let error = connect([vec![answer]]).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "server/discover at script:: no common protocol version: the server supports \
             2030-01-01, 2020-01-01, this client 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, \
             2024-11-05"
        );
        assert_eq!(
            error.supported_versions().unwrap(),
            ["2030-01-01", "2020-01-01"]
        );
        assert!(error.fault().is_none());
    }
    let error = connect([vec![unsupported(&[])]]).await.unwrap_err();
    assert_eq!(error.supported_versions().unwrap().len(), 0);
}

#[tokio::test]
async fn unknown_discover_falls_back_to_initialize() {
    let status = |code: u16| ChannelError::Status {
        status: http::StatusCode::from_u16(code).unwrap(),
        excerpt: String::new(),
        retry_after: None,
        challenge: None,
    };
    // The response of an early Python SDK.
    let unnamed =
        r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no session"}}"#;
    for (answer, is_legacy) in [
        (say(error(codes::METHOD_NOT_FOUND, &Value::Null)), true),
        (
            refuse(404, error(codes::METHOD_NOT_FOUND, &Value::Null)),
            true,
        ),
        (refuse(400, error(-32000, &Value::Null)), true),
        (say(error(codes::INVALID_PARAMS, &Value::Null)), true),
        (result(&json!({"ok": true})), true),
        (refuse(400, unnamed), true),
        (Step::Fail(status(400)), true),
        (Step::Fail(status(405)), true),
        (Step::Fail(status(401)), false),
        (Step::Fail(status(429)), false),
        (Step::Fail(status(500)), false),
        (refuse(401, error(-1, &Value::Null)), false),
        (
            refuse(500, error(codes::INTERNAL_ERROR, &Value::Null)),
            false,
        ),
        (
            refuse(400, error(codes::HEADER_MISMATCH, &Value::Null)),
            false,
        ),
        (say("<html>"), true),
    ] {
        let no = vec![refuse(400, error(-32000, &Value::Null))];
        let script = Script::new([vec![answer], no]);
        let error = Client::connect(Over(script.channel())).await.unwrap_err();
        let sent = script.sent();
        assert_eq!(sent.len(), 1 + usize::from(is_legacy), "{error}");
        if is_legacy {
            assert_eq!(sent[1].body["method"], "initialize");
            // The fault of the server is still available.
            assert!(matches!(error.fault(), Some(Fault::Protocol(_))));
            let text = "initialize at script:: the server answers neither server/discover nor initialize: \
                        no (-32000)";
            assert_eq!(error.to_string(), text);
        }
    }
}

/// A target of a program: a scripted server that expects a header.
struct Tenant(Scripted);

impl Target for Tenant {
    async fn connect(self, builder: ClientBuilder) -> Result<Client, Error> {
        builder
            .header("x-tenant", "acme")
            .connect(Over(self.0))
            .await
    }
}

#[tokio::test]
async fn program_can_implement_target() {
    let script = Script::new([vec![discovered(&["2026-07-28"])]]);
    let builder = Client::builder().identity("my-agent", "1.2.3");
    let client = builder.connect(Tenant(script.channel())).await.unwrap();
    assert_eq!(client.server_info().unwrap().name, "calculator");
}

#[tokio::test]
async fn connect_fails_for_an_in_process_server_with_a_mistake() {
    let tool = || Tool::new("now").handler(|| "half past");
    let server = || Server::new("clock", "1.0.0").tool(tool());
    let client = Client::connect(InProcess(Arc::new(server())))
        .await
        .unwrap();
    assert_eq!(client.call("now", ()).await.unwrap().text(), "half past");
    let error = Client::connect(InProcess(server().tool(tool()))).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("now"), "{error}");
}
