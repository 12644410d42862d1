//! The proxy that edits messages, between clients and servers of both eras.

use std::future::IntoFuture;
use std::process::Stdio;

use mcp::prelude::*;
use mcp::{ConnectMode, ServerCommand};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::LIMIT;

const PROXY: &str = env!("CARGO_BIN_EXE_proxy");

const ERAS: [ConnectMode; 2] = [
    ConnectMode::Legacy,
    ConnectMode::Pin(ProtocolVersion::LATEST),
];

/// A server with three pages of tools.
fn shop() -> Server {
    Server::new("shop", "1.0.0")
        .page_size(1)
        .tool(Tool::new("key").handler(|| "the key is sk-4711 today"))
        .tool(Tool::new("report").handler(async |progress: Progress| {
            for step in [1.0, 2.0] {
                progress.report(step, 2.0, "counting").await;
            }
            Json(json!({"keys": ["sk-4711", "none"], "sum": 1.5}))
        }))
        .tool(Tool::new("ask").handler(async |ask: Ask| {
            let answer = ask.sample("offer", Sampling::user("Sell it?").max_tokens(10));
            Ok::<_, ToolError>(format!("sold: {}", answer.await?.content.text()))
        }))
}

/// Starts the proxy in front of a server, and returns its URL.
async fn proxy_of(server: Server) -> (Child, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async { drop(mcp::serve_http(server, listener).await) });
    crate::start(Command::new(PROXY).args([&url, "127.0.0.1:0"])).await
}

/// Lists the tools and calls each.
async fn use_shop(client: &Client) {
    let tools = client.list_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["shop_key", "shop_report", "shop_ask"]);
    let key = client.call("shop_key", ()).await.unwrap();
    assert_eq!(key.text(), "the key is [redacted] today");
    let meta = key.meta.as_ref().unwrap();
    assert_eq!(meta.get("com.example/forwarded"), Some(true));
    let mut steps = Vec::new();
    let report = client
        .call("shop_report", ())
        .on_progress(|update| steps.push(update.progress))
        .await
        .unwrap();
    assert_eq!(steps, [1.0, 2.0]);
    let expected = json!({"keys": ["[redacted]", "none"], "sum": 1.5});
    // Clients older than 2026-07-28 get a value without a schema of an object below `result`.
    let found = report.parse::<Value>().unwrap();
    assert_eq!(found.get("result").unwrap_or(&found), &expected);
    let sold = client.call("shop_ask", ()).await.unwrap();
    assert_eq!(sold.text(), "sold: yes");
    let unknown = client.call("shop_other", ()).await.unwrap_err();
    assert!(
        unknown.to_string().contains("unknown tool: other"),
        "{unknown}"
    );
}

#[tokio::test]
async fn proxy_edits_messages_over_http_in_both_eras() {
    let (_proxy, url) = proxy_of(shop()).await;
    for era in ERAS {
        let client = Client::builder()
            .mode(era.clone())
            .on_sample(|_: SampleRequest| async { CreateMessageResult::new("model", "yes") })
            .connect(&url)
            .await
            .unwrap();
        let using = timeout(LIMIT, use_shop(&client)).await;
        using.unwrap_or_else(|_| panic!("{era:?}"));
    }
}

#[tokio::test]
async fn proxy_edits_messages_over_pipes_in_both_eras() {
    for era in ERAS {
        let command = ServerCommand::new(PROXY).args([env!("CARGO_BIN_EXE_stdio_server")]);
        let client = Client::builder().mode(era.clone());
        let client = timeout(LIMIT, client.connect(command))
            .await
            .unwrap()
            .unwrap();
        let tools = client.list_tools().await.unwrap();
        assert_eq!(tools[0].name, "shop_bake");
        let mut steps = 0;
        let bread = client
            .call("shop_bake", json!({"seconds": 0.0}))
            .on_progress(|_| steps += 1);
        let bread = timeout(LIMIT, bread.into_future()).await.unwrap().unwrap();
        assert_eq!(bread.text(), "bread after 0 seconds");
        assert_eq!(bread.meta.unwrap().get("com.example/forwarded"), Some(true));
        assert_eq!(steps, 1, "{era:?}");
        timeout(LIMIT, client.close()).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn proxy_refuses_what_is_not_a_message() {
    let mut child = Command::new(PROXY)
        .arg(env!("CARGO_BIN_EXE_stdio_server"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    input
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}\n")
        .await
        .unwrap();
    let line = timeout(LIMIT, lines.next_line()).await.unwrap();
    let answer: Value = serde_json::from_str(&line.unwrap().unwrap()).unwrap();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(7), &json!(-32600))
    );
    // The end of the client's stream ends the server and the proxy.
    drop(input);
    assert!(
        timeout(LIMIT, child.wait())
            .await
            .unwrap()
            .unwrap()
            .success()
    );
}
