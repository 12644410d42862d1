//! Errors, results and log lines of a gateway whose servers answer slowly, not at all, or with something malformed.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use mcp::gateway::{ConnectedGateway, Gateway, GatewayServer};
use mcp::group::Group;
use mcp::prelude::*;
use mcp::stdio::StdioServer;
use mcp::types::ProtocolVersion;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

use crate::kit::{LogLines, serve, server_of};

/// A server on a socket. The body of its response to a call is `called`, in which `$ID` stands for the request's id.
#[derive(Clone)]
struct Odd {
    status: StatusCode,
    called: &'static str,
    tools: Arc<Value>,
}

impl Odd {
    fn new(status: u16, called: &'static str) -> Self {
        Self {
            status: StatusCode::from_u16(status).unwrap(),
            called,
            tools: json!([{"name": "a", "inputSchema": {"type": "object"}}]).into(),
        }
    }

    async fn start(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let app = Router::new().fallback(answer).with_state(self);
        tokio::spawn(async move { axum::serve(listener, app).await });
        url
    }
}

async fn answer(State(odd): State<Odd>, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, text) = match request["method"].as_str().unwrap_or_default() {
        "tools/call" => {
            let id = request["id"].to_string();
            (odd.status, odd.called.replace("$ID", &id))
        }
        "tools/list" => {
            let result = json!({"resultType": "complete", "tools": &*odd.tools});
            let message = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
            (StatusCode::OK, message.to_string())
        }
        _ => {
            let error = json!({"code": -32601, "message": "no"});
            let message = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
            (StatusCode::NOT_FOUND, message.to_string())
        }
    };
    (status, [("content-type", "application/json")], text).into_response()
}

fn modern(url: String) -> GatewayServer {
    GatewayServer::new("odd", move |client| {
        let mode = ConnectMode::Pin(ProtocolVersion::LATEST);
        client.mode(mode).connect(url.clone())
    })
}

/// Connects a client to a gateway in front of a server.
async fn behind(server: GatewayServer) -> (Client, Group) {
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let ConnectedGateway { server, group, .. } = gateway.connect().await.unwrap();
    let client = Client::connect(serve(server).await).await.unwrap();
    (client, group)
}

// All tasks run on the thread of the subscriber.
#[tokio::test]
async fn error_says_which_answer_it_was_without_the_address() {
    let lines = LogLines::default();
    let _guard = lines.record();
    let no_outcome = r#"{"jsonrpc":"2.0","id":$ID,"error":null}"#;
    for (status, called, said) in [
        (410, "gone", "HTTP status 410 Gone"),
        (
            500,
            "<html>",
            "HTTP status 500 Internal Server Error; the call may have run",
        ),
        (200, no_outcome, "the response is not a valid message"),
        (200, "[1", "not"),
    ] {
        let url = Odd::new(status, called).start().await;
        let host = url
            .trim_start_matches("http://")
            .trim_end_matches("/mcp")
            .to_owned();
        let (client, _group) = behind(modern(url)).await;
        let error = client.call("odd__a", ()).await.unwrap_err().to_string();
        assert!(
            error.contains("the server \\\"odd\\\"") || error.contains("the server \"odd\""),
            "{error}"
        );
        assert!(error.contains(said), "{status}: {error}");
        assert!(!error.contains(&host), "{error}");
    }
    let log = lines.text();
    let audit = log
        .lines()
        .filter(|line| line.contains("mcp_gateway::audit"));
    let failed = audit.filter(|line| line.contains("outcome=\"error\""));
    assert_eq!(failed.count(), 4, "{log}");
}

/// A program that answers all requests but calls, and ends with a status at the first call.
#[cfg(unix)]
fn ending() -> GatewayServer {
    const PROGRAM: &str = r#"
        while IFS= read -r line; do
            id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
            case "$line" in
            *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}';;
            *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}';;
            *'"tools/call"'*) echo 'the key of db.internal is wrong' >&2; exit 3;;
            esac
        done"#;
    GatewayServer::new("odd", |client| {
        let command = mcp::ServerCommand::new("sh").args(["-c", PROGRAM]);
        client.mode(ConnectMode::Legacy).connect(command)
    })
}

#[cfg(unix)]
#[tokio::test]
async fn program_that_ends_in_a_call_is_a_result_that_the_model_reads() {
    let lines = LogLines::default();
    let _guard = lines.record();
    let (client, _group) = behind(ending()).await;
    let called = client.call("odd__a", ()).await.unwrap();
    let text = called.text();
    assert!(called.is_error(), "{text}");
    for part in ["\"odd\"", "exit status: 3", "the call may have run"] {
        assert!(text.contains(part), "{text}");
    }
    // Standard error may name hosts and secrets: it is for the operator.
    assert!(!text.contains("db.internal"), "{text}");
    let log = lines.text();
    assert!(log.contains("db.internal"), "{log}");
    let audit = log.lines().find(|line| line.contains("mcp_gateway::audit"));
    assert!(audit.unwrap().contains("outcome=\"error\""), "{log}");
}

/// A server whose tool reports progress for a number of seconds.
fn slow(seconds: u32) -> Server {
    let work = Tool::new("work").handler(move |progress: Progress| async move {
        for second in 0..seconds {
            sleep(Duration::from_secs(1)).await;
            progress.report(f64::from(second), 100.0, "").await;
        }
        "done"
    });
    Server::new("slow", "1.0.0").tool(work)
}

#[tokio::test(start_paused = true)]
async fn progress_that_no_client_wants_keeps_a_slow_call_alive() {
    for (mode, seconds, is_done) in [
        (ConnectMode::Legacy, 6, true),
        (ConnectMode::Auto, 6, true),
        (ConnectMode::Legacy, 30, false),
        (ConnectMode::Auto, 30, false),
    ] {
        let server = Arc::new(slow(seconds));
        let server = GatewayServer::new("slow", move |client| {
            let (near, far) = tokio::io::duplex(64 * 1024);
            let (reader, writer) = tokio::io::split(far);
            let server = StdioServer::new(server.clone());
            tokio::spawn(async move { drop(server.run_over(reader, writer).await) });
            let (reader, writer) = tokio::io::split(near);
            let client = client.mode(mode.clone()).timeout(Duration::from_secs(3));
            let client = client.max_total_timeout(Duration::from_secs(20));
            client.connect(Io(reader, writer))
        });
        let gateway = Gateway::new("gateway", "1.0.0").server(server);
        let opened = gateway.connect().await.unwrap();
        let client = Client::connect(mcp::InProcess(opened.server))
            .await
            .unwrap();
        let begin = Instant::now();
        let called = client.call("slow__work", ()).await;
        assert_eq!(called.is_ok(), is_done, "{called:?}");
        let passed = begin.elapsed().as_secs();
        assert_eq!(passed, u64::from(seconds).min(20), "{called:?}");
    }
}

// All tasks run on the thread of the subscriber.
#[tokio::test]
async fn part_that_is_left_out_is_in_the_log_once_with_its_place() {
    let lines = LogLines::default();
    let _guard = lines.record();
    let mut odd = Odd::new(200, "");
    odd.tools = json!([
        {"name": "a", "inputSchema": {"type": "object"}},
        {"name": "bad"},
        {"name": "b", "inputSchema": {"type": "object"}},
    ])
    .into();
    let (client, _group) = behind(modern(odd.start().await)).await;
    for _ in 0..2 {
        let tools = client.list_tools().fresh().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["odd__a", "odd__b"]);
    }
    let log = lines.text();
    let told: Vec<_> = log
        .lines()
        .filter(|line| line.contains("left out"))
        .collect();
    assert_eq!(told.len(), 1, "{log}");
    // The server is named as in the settings.
    for part in ["WARN", "server=\"odd\"", "tools[1]", "bad", "inputSchema"] {
        assert!(told[0].contains(part), "{part}: {}", told[0]);
    }
}

#[tokio::test]
async fn text_cut_inside_a_character_passes_with_a_replacement() {
    let called = r#"{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":[{"type":"text","text":"cut \ud83d"}]}}"#;
    let (client, _group) = behind(modern(Odd::new(200, called).start().await)).await;
    let text = client.call("odd__a", ()).await.unwrap().text();
    assert_eq!(text, "cut \u{fffd}");
    // Strict readers of JSON refuse half a character.
    let raw = client.call("odd__a", ()).raw().await.unwrap();
    let mcp::core::ResultBody::Raw(raw) = raw else {
        panic!("{raw:?}");
    };
    let content: Value = serde_json::from_slice(raw.member("content").unwrap()).unwrap();
    assert_eq!(content[0]["text"], "cut \u{fffd}");
}

#[tokio::test]
async fn name_that_was_changed_is_the_title_unless_there_is_one() {
    let long = "billing_cost_management_get_reservation_purchase_recommendation_details";
    let tool = |name: &str| Tool::new(name).handler(|| "x").forwarded();
    let titled = Tool::new("c.d").title("Own").handler(|| "x").forwarded();
    let server = Server::new("odd", "1.0.0")
        .tool(tool("plain"))
        .tool(tool("a.b"));
    let server = server.tool(tool(long)).tool(titled);
    let (client, _group) = behind(server_of("odd", server)).await;
    let tools = client.list_tools().await.unwrap();
    let titles: Vec<_> = tools.iter().map(|tool| tool.title.as_deref()).collect();
    assert_eq!(titles, [None, Some("a.b"), Some(long), Some("Own")]);
    assert!(tools.iter().all(|tool| tool.meta.is_none()));
}
