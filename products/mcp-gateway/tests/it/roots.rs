//! Programs in front of one gateway whose server keeps what their clients answer: roots, forms.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp::gateway::{Gateway, GatewayServer};
use mcp::prelude::*;
use mcp::types::Root;
use mcp::{ConnectMode, Io};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex, split};
use tokio::time::timeout;

use crate::callers::{builder, protected};
use crate::kit::serve;

const LIMIT: Duration = Duration::from_secs(30);

/// A legacy server of files, as those of the field: it asks for the roots when its session begins and when they change,
/// and keeps them.
#[derive(Clone, Default)]
struct Files {
    /// The roots are requested in the calls of `list`, and not when a session begins.
    asks_in_calls: bool,
    sessions: Arc<AtomicUsize>,
}

impl Files {
    fn server(&self) -> GatewayServer {
        let files = self.clone();
        GatewayServer::new("files", move |client| {
            let number = files.sessions.fetch_add(1, Ordering::SeqCst);
            let (near, far) = duplex(64 * 1024);
            tokio::spawn(files.clone().run(number, far));
            let (reader, writer) = split(near);
            client.mode(ConnectMode::Legacy).connect(Io(reader, writer))
        })
    }

    async fn run(self, number: usize, pipe: tokio::io::DuplexStream) {
        let (reader, mut writer) = split(pipe);
        let mut lines = BufReader::new(reader).lines();
        let (mut roots, mut form, mut has_roots) = (Value::Null, Value::Null, false);
        // The call that waits for an answer.
        let mut waiting = Value::Null;
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let ask = |id: &str, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            let text = |text: String| json!({"content": [{"type": "text", "text": text}]});
            let id = message["id"].clone();
            let sent = match message["method"].as_str() {
                Some("initialize") => {
                    has_roots = message["params"]["capabilities"].get("roots").is_some();
                    json!({"id": id, "result": {
                        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                        "serverInfo": {"name": "files", "version": "1"},
                    }})
                }
                Some("notifications/initialized" | "notifications/roots/list_changed")
                    if has_roots && !self.asks_in_calls =>
                {
                    ask("roots", "roots/list", json!({}))
                }
                Some("tools/list") => {
                    let tools = ["list", "log_in", "who"]
                        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
                    json!({"id": id, "result": {"tools": tools}})
                }
                Some("tools/call") => match message["params"]["name"].as_str() {
                    // What was told once is kept.
                    Some("list") if self.asks_in_calls && has_roots && roots.is_null() => {
                        waiting = id;
                        ask("roots", "roots/list", json!({}))
                    }
                    Some("list") => json!({"id": id, "result": text(roots.to_string())}),
                    Some("log_in") => {
                        waiting = id;
                        let schema =
                            json!({"type": "object", "properties": {"count": {"type": "integer"}}});
                        let params = json!({"message": "?", "requestedSchema": schema});
                        ask("form", "elicitation/create", params)
                    }
                    _ => json!({"id": id, "result": text(format!("{number} {form}"))}),
                },
                Some("notifications/roots/list_changed") => {
                    roots = Value::Null;
                    continue;
                }
                Some(_) if !id.is_null() => json!({"id": id, "result": {}}),
                Some(_) => continue,
                None => {
                    if id == "roots" {
                        roots = message["result"]["roots"][0]["uri"].clone();
                    } else {
                        form = message["result"]["content"]["count"].clone();
                    }
                    if waiting.is_null() {
                        continue;
                    }
                    let told = if id == "roots" { &roots } else { &form };
                    json!({"id": waiting.take(), "result": text(told.to_string())})
                }
            };
            let mut sent = sent;
            sent["jsonrpc"] = json!("2.0");
            if writer
                .write_all(format!("{sent}\n").as_bytes())
                .await
                .is_err()
            {
                return;
            }
        }
    }

    fn count(&self) -> usize {
        self.sessions.load(Ordering::SeqCst)
    }
}

async fn anonymous(server: GatewayServer) -> String {
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    serve(gateway.connect().await.unwrap().server).await
}

fn client(mode: &ConnectMode, root: &str) -> mcp::ClientBuilder {
    let client = Client::builder().mode(mode.clone());
    client.roots([Root::from(format!("file:///home/{root}"))])
}

async fn call(client: &Client, tool: &str) -> String {
    let called = client.call(format!("files__{tool}"), ()).into_future();
    timeout(LIMIT, called).await.unwrap().unwrap().text()
}

/// The revisions of the programs, and whether the server asks in calls, has one session, shares sessions.
fn rows() -> impl Iterator<Item = (ConnectMode, bool, bool, bool)> {
    let modes = [ConnectMode::Legacy, ConnectMode::Auto];
    let flags = (0..8).map(|bits| (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0));
    let rows = flags.flat_map(move |flags| modes.clone().map(|mode| (mode, flags)));
    rows.map(|(mode, (asks_in_calls, one, shares))| (mode, asks_in_calls, one, shares))
}

#[tokio::test]
async fn server_that_keeps_roots_keeps_them_for_each_program() {
    for (mode, asks_in_calls, one_session, shares) in rows() {
        let files = Files {
            asks_in_calls,
            ..Files::default()
        };
        let mut server = files.server();
        if one_session {
            server = server.one_session();
        }
        if shares {
            server = server.share_sessions();
        }
        let url = anonymous(server).await;
        let row = format!("{mode:?}, in calls: {asks_in_calls}, {one_session}, {shares}");
        let ada = client(&mode, "ada").connect(&url).await.unwrap();
        let bob = client(&mode, "bob").connect(&url).await.unwrap();
        for _ in 0..2 {
            assert_eq!(call(&ada, "list").await, "\"file:///home/ada\"", "{row}");
            assert_eq!(call(&bob, "list").await, "\"file:///home/bob\"", "{row}");
        }
        // A program without roots has those of nobody.
        let eve = Client::builder().mode(mode.clone());
        let eve =
            eve.on_elicit(|form: ElicitRequest| async move { form.accept(json!({"count": 1})) });
        let eve = eve.connect(&url).await.unwrap();
        let kept = timeout(LIMIT, eve.call("files__list", ()).into_future()).await;
        let kept = kept
            .unwrap()
            .map_or_else(|error| error.to_string(), |kept| kept.text());
        assert!(!kept.contains("/home/"), "{row}: {kept}");
        assert_eq!(call(&ada, "list").await, "\"file:///home/ada\"", "{row}");
    }
}

#[tokio::test]
async fn programs_with_the_same_roots_share_a_session() {
    for mode in [ConnectMode::Legacy, ConnectMode::Auto] {
        let files = Files::default();
        let url = anonymous(files.server()).await;
        for _ in 0..4 {
            let client = client(&mode, "ada").connect(&url).await.unwrap();
            call(&client, "list").await;
            call(&client, "list").await;
        }
        // That of the gateway, the one in which the server asked first, and that of the roots.
        assert_eq!(files.count(), 3, "{mode:?}");
    }
}

#[tokio::test]
async fn changed_roots_reach_the_server_before_its_next_call() {
    for mode in [ConnectMode::Legacy, ConnectMode::Auto] {
        let url = anonymous(Files::default().server()).await;
        let client = client(&mode, "ada").connect(&url).await.unwrap();
        assert_eq!(call(&client, "list").await, "\"file:///home/ada\"");
        let changed = client.set_roots([Root::from("file:///home/new")]);
        changed.await.unwrap();
        assert_eq!(
            call(&client, "list").await,
            "\"file:///home/new\"",
            "{mode:?}"
        );
    }
}

#[tokio::test]
async fn session_with_a_form_is_not_shared_by_anonymous_clients() {
    for mode in [ConnectMode::Legacy, ConnectMode::Auto] {
        let url = anonymous(Files::default().server()).await;
        let client = async || {
            let client = Client::builder().mode(mode.clone());
            let client = client
                .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"count": 3})) });
            client.connect(&url).await.unwrap()
        };
        let (ada, bob) = (client().await, client().await);
        assert_eq!(call(&ada, "log_in").await, "3");
        let seen = call(&bob, "who").await;
        assert!(seen.ends_with("null"), "{mode:?}: {seen}");
    }
}

#[tokio::test]
async fn session_with_answered_form_stays_with_identified_caller() {
    let url = protected(Files::default().server()).await;
    for (name, expected) in [("ada", "3"), ("bob", "null")] {
        let client = builder(name).mode(ConnectMode::Legacy);
        let client =
            client.on_elicit(|form: ElicitRequest| async move { form.accept(json!({"count": 3})) });
        let client = client.connect(&url).await.unwrap();
        if name == "ada" {
            assert_eq!(call(&client, "log_in").await, "3");
        }
        let seen = call(&client, "who").await;
        assert!(seen.ends_with(expected), "{name}: {seen}");
    }
}
