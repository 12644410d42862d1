//! A gateway whose tools are found by search, for clients of both eras over sockets.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use mcp::auth::{ResourceServer, StaticTokens};
use mcp::client::Error;
use mcp::core::{BoxFuture, Call, Exchange};
use mcp::gateway::{CallLimits, Gateway, GatewayServer, ToolMode, ToolOptions};
use mcp::http::Serve;
use mcp::middleware::{Next, from_fn};
use mcp::prelude::*;
use mcp::toolset::{Ranker, Ranking};
use mcp::types::ProtocolVersion;
use mcp::{ConnectMode, InProcess};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::kit::{LogLines, Order, serve, server_of};

const LIMIT: Duration = Duration::from_secs(10);

const ERAS: [ConnectMode; 2] = [
    ConnectMode::Legacy,
    ConnectMode::Pin(ProtocolVersion::LATEST),
];

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Message {
    channel: String,
    text: String,
}

/// A server for messages.
fn chat(started: Arc<Notify>) -> Server {
    Server::new("chat", "1.0.0")
        .tool(
            Tool::new("post_message")
                .description("Posts a message to a channel")
                .handler(
                    |Args(message): Args<Message>, progress: Progress| async move {
                        progress.report(1.0, 2.0, "half").await;
                        format!("{} to {}", message.text, message.channel)
                    },
                ),
        )
        .tool(
            Tool::new("order_lunch")
                .description("Orders lunch for the team")
                .handler(|ask: Ask| async move {
                    let order = ask.form::<Order>("order", "How many?").await?;
                    let order = order.accepted().ok_or(ToolError::new("no order"))?;
                    Ok::<_, ToolError>(format!("{} lunches", order.count))
                }),
        )
        .tool(
            Tool::new("wait_for_reply")
                .description("Waits for a reply")
                .handler(move || {
                    let started = started.clone();
                    async move {
                        started.notify_one();
                        pending::<String>().await
                    }
                }),
        )
        .tool(
            Tool::new("delete_channel")
                .description("Deletes a channel with all messages")
                .handler(|| "deleted"),
        )
}

fn gateway(started: Arc<Notify>) -> Gateway {
    Gateway::new("gateway", "1.0.0")
        .server(server_of("chat", chat(started)))
        .tool_mode(ToolMode::Search)
}

async fn url(gateway: Gateway) -> String {
    serve(gateway.connect().await.unwrap().server).await
}

fn builder(front: &ConnectMode) -> mcp::ClientBuilder {
    Client::builder().mode(front.clone())
}

async fn names(client: &Client) -> Vec<String> {
    let tools = client.list_tools().await.unwrap();
    tools.into_iter().map(|tool| tool.name).collect()
}

async fn found(client: &Client, query: &str) -> Vec<String> {
    let arguments = json!({ "queries": [query] });
    let result = client.call("search_tools", arguments).await.unwrap();
    let found: Value = serde_json::from_str(&result.text()).unwrap();
    let tools = found["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

fn call_of(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

#[tokio::test]
async fn tools_are_found_described_and_called() {
    let url = url(gateway(Arc::default()).always_list(["chat__wait_*"])).await;
    for front in &ERAS {
        let client = builder(front).connect(url.clone()).await.unwrap();
        let listed = [
            "chat__wait_for_reply",
            "search_tools",
            "describe_tools",
            "call_tool",
        ];
        assert_eq!(names(&client).await, listed);
        let found = found(&client, "send a mesage to the channel").await;
        assert_eq!(found[0], "chat__post_message");
        let described = client
            .call("describe_tools", json!({ "names": found }))
            .await
            .unwrap();
        let described: Value = serde_json::from_str(&described.text()).unwrap();
        let properties = &described["tools"][0]["inputSchema"]["properties"];
        assert!(properties.get("channel").is_some(), "{described}");
        let mut reports = Vec::new();
        let arguments = json!({"channel": "news", "text": "hello"});
        let called = client
            .call("call_tool", call_of("chat__post_message", arguments))
            .on_progress(|report| reports.push(report.message))
            .await
            .unwrap();
        assert_eq!(called.text(), "hello to news");
        assert_eq!(reports, [Some("half".to_owned())]);
        let direct = json!({"channel": "news", "text": "direct"});
        let direct = client.call("chat__post_message", direct).await.unwrap();
        assert_eq!(direct.text(), "direct to news");
    }
}

#[tokio::test]
async fn search_uses_the_ranker_of_the_program() {
    /// Ranks the tools from the last to the first.
    struct Backwards;

    impl Ranker for Backwards {
        fn rank<'a>(&'a self, tools: &'a [Tool], _: &'a [String]) -> BoxFuture<'a, Ranking> {
            Box::pin(async { (0..tools.len()).rev().collect::<Vec<_>>().into() })
        }
    }

    let url = url(gateway(Arc::default()).ranker(Backwards)).await;
    let client = Client::connect(url).await.unwrap();
    let ranked = [
        "delete_channel",
        "wait_for_reply",
        "order_lunch",
        "post_message",
    ];
    assert_eq!(
        found(&client, "post a message to a channel").await,
        ranked.map(|tool| format!("chat__{tool}"))
    );
}

#[tokio::test]
async fn mistakes_are_results_that_name_the_argument() {
    let url = url(gateway(Arc::default())).await;
    for front in &ERAS {
        let client = builder(front).connect(url.clone()).await.unwrap();
        for (arguments, part) in [
            (
                call_of("chat__post_message", json!({"channel": "news"})),
                "`text`",
            ),
            (call_of("chat__nothing", json!({})), "use search_tools"),
            (json!({}), "argument `name`"),
            (
                call_of("search_tools", json!({})),
                "call search_tools itself",
            ),
        ] {
            let refused = client.call("call_tool", arguments).await.unwrap();
            assert!(refused.is_error());
            assert!(refused.text().contains(part), "{}", refused.text());
        }
        let unknown = client.call("chat__nothing", ()).await.unwrap_err();
        assert!(unknown.fault().is_some(), "a direct call: {unknown:?}");
    }
}

#[tokio::test]
async fn questions_and_cancellation_work_as_in_a_direct_call() {
    let started = Arc::new(Notify::new());
    let url = url(gateway(started.clone())).await;
    for front in &ERAS {
        let client = builder(front)
            .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"count": 3})) })
            .connect(url.clone())
            .await
            .unwrap();
        let order = call_of("chat__order_lunch", json!({}));
        let ordered = client.call("call_tool", order).await.unwrap();
        assert_eq!(ordered.text(), "3 lunches");
        let wait = call_of("chat__wait_for_reply", json!({}));
        let call = client.call("call_tool", wait).cancel_on(started.notified());
        let cancelled = timeout(LIMIT, call).await.unwrap().unwrap_err();
        assert!(cancelled.is_cancelled(), "{cancelled:?}");
    }
}

#[tokio::test]
async fn layers_and_limits_see_the_tool() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let limited = ToolOptions::new().limits(CallLimits::new().rate(1, Duration::from_secs(60)));
    let server = server_of("chat", chat(Arc::default())).tool("delete_channel", limited);
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let connected = gateway.tool_mode(ToolMode::Search).connect().await.unwrap();
    let items = seen.clone();
    let server = connected
        .server
        .layer(from_fn(move |exchange: Exchange, next: Next| {
            if let Call::CallTool(params) = &exchange.call {
                items.lock().push(params.name.clone());
            }
            async move { next.run(exchange).await }
        }));
    let client = Client::connect(InProcess(server)).await.unwrap();
    let delete = || client.call("call_tool", call_of("chat__delete_channel", json!({})));
    assert_eq!(delete().await.unwrap().text(), "deleted");
    let refused = delete().await.unwrap();
    assert!(
        refused.text().contains("too many calls"),
        "{}",
        refused.text()
    );
    assert_eq!(
        *seen.lock(),
        ["chat__delete_channel", "chat__delete_channel"]
    );
}

#[tokio::test]
async fn searches_count_against_their_limits() {
    let limits = CallLimits::new().rate(3, Duration::from_secs(3600));
    let gateway = gateway(Arc::default()).search_limits(limits);
    let url = url(gateway).await;
    for front in &ERAS {
        // All anonymous callers are counted together.
        let client = builder(front).connect(&url).await.unwrap();
        let mut refused = 0;
        for (tool, arguments) in [
            ("search_tools", json!({"queries": ["post a message"]})),
            ("describe_tools", json!({"names": ["chat__post_message"]})),
            ("search_tools", json!({})),
            ("describe_tools", json!({"names": ["chat__post_message"]})),
        ] {
            let result = client.call(tool, arguments).await.unwrap();
            refused += usize::from(result.text().contains("too many calls of this tool"));
        }
        assert_eq!(refused, if *front == ERAS[0] { 1 } else { 4 });
        let call = call_of("chat__delete_channel", json!({}));
        assert_eq!(
            client.call("call_tool", call).await.unwrap().text(),
            "deleted"
        );
    }
}

#[tokio::test]
async fn callers_find_and_call_only_what_they_may_see() {
    let admin = ToolOptions::new().visible_to(|caller| caller.has_scope("admin"));
    let server = server_of("chat", chat(Arc::default())).tool("delete_channel", admin);
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let connected = gateway.tool_mode(ToolMode::Search).connect().await.unwrap();
    let is_post = |tool: &Tool| tool.name == "chat__post_message";
    let server = connected.server;
    let server = server.tool_scopes(|tool| is_post(tool).then_some("post"));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let tokens = StaticTokens::new()
        .token("token-of-ada", "ada", ["admin", "post"])
        .token("token-of-bob", "bob", ["use"]);
    let auth = ResourceServer::new(&url).static_tokens(tokens);
    tokio::spawn(Serve::new(server).authorize(auth).run(listener));
    for front in &ERAS {
        for (name, is_admin) in [("ada", true), ("bob", false)] {
            let client = builder(front).bearer_token(format!("token-of-{name}"));
            let client = client.connect(&url).await.unwrap();
            let found = found(&client, "delete a channel").await;
            let is_found = found.iter().any(|tool| tool == "chat__delete_channel");
            assert_eq!(is_found, is_admin, "{found:?}");
            let delete = call_of("chat__delete_channel", json!({}));
            let deleted = client.call("call_tool", delete).await.unwrap();
            assert_eq!(deleted.is_error(), !is_admin, "{}", deleted.text());
            // The transport refuses a call without the scopes of the tool.
            let post = call_of("chat__post_message", json!({"channel": "c", "text": "t"}));
            let posted = client.call("call_tool", post).await;
            assert_eq!(posted.is_ok(), is_admin, "{posted:?}");
        }
    }
}

// All tasks run on the thread of the subscriber.
#[tokio::test]
async fn audit_log_names_the_tool_behind_call_tool() {
    let lines = LogLines::default();
    let _guard = lines.record();
    let limited = ToolOptions::new().limits(CallLimits::new().rate(1, Duration::from_secs(60)));
    let server = server_of("chat", chat(Arc::default())).tool("delete_channel", limited);
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let opened = gateway.tool_mode(ToolMode::Search).connect().await.unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    found(&client, "delete a channel").await;
    let delete = call_of("chat__delete_channel", json!({}));
    for _ in 0..2 {
        client.call("call_tool", delete.clone()).await.unwrap();
    }
    let post = call_of("chat__post_message", json!({"channel": "secret"}));
    assert!(client.call("call_tool", post).await.unwrap().is_error());
    let log = lines.text();
    let audit = log
        .lines()
        .filter(|line| line.contains("mcp_gateway::audit"));
    let audit: Vec<_> = audit.collect();
    // The second call is beyond the limit of the gateway. The server refuses the arguments of the last one.
    assert_eq!(audit.len(), 3, "{log}");
    for (line, parts) in audit.iter().zip([
        ["item=\"delete_channel\"", "outcome=\"ok\""],
        ["item=\"delete_channel\"", "outcome=\"refused\""],
        ["item=\"post_message\"", "outcome=\"error result\""],
    ]) {
        for part in parts {
            assert!(line.contains(part), "{line} has no {part}");
        }
    }
    assert!(!log.contains("secret"), "{log}");
}

#[tokio::test]
async fn index_follows_changes_on_a_server() {
    let chat = chat(Arc::default());
    let tools = chat.tools();
    let gateway = Gateway::new("gateway", "1.0.0").server(server_of("chat", chat));
    let connected = gateway.tool_mode(ToolMode::Search).connect().await.unwrap();
    let client = Client::connect(InProcess(connected.server)).await.unwrap();
    let is_found = || async {
        let found = found(&client, "translate text").await;
        found.iter().any(|tool| tool == "chat__translate")
    };
    assert!(!is_found().await);
    let changed = async {
        loop {
            let translate = Tool::new("translate").description("Translates text");
            tools.put(translate.handler(|| "text")).unwrap();
            if is_found().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(LIMIT, changed).await.unwrap();
}

#[tokio::test]
async fn only_changes_in_listed_tools_are_announced() {
    for front in &ERAS {
        let chat = chat(Arc::default());
        let tools = chat.tools();
        let gateway = Gateway::new("gateway", "1.0.0").server(server_of("chat", chat));
        let gateway = gateway.tool_mode(ToolMode::Search);
        let url = url(gateway.always_list(["chat__always_*"])).await;
        let client = builder(front).connect(url).await.unwrap();
        let mut changes = client.changes().tools_changed().await.unwrap();
        let listed = names(&client).await;
        let add = |name: &str| {
            let translate = Tool::new(name).description("Translates text");
            tools.put(translate.handler(|| "text")).unwrap();
        };
        let hidden = async {
            let is_found = |found: Vec<String>| found.iter().any(|tool| tool == "chat__translate");
            while !is_found(found(&client, "translate text").await) {
                add("translate");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        timeout(LIMIT, hidden).await.unwrap();
        let notified = timeout(Duration::from_millis(300), changes.next()).await;
        assert!(notified.is_err(), "{notified:?}");
        add("always_translate");
        let notified = timeout(LIMIT, changes.next()).await.unwrap();
        assert!(matches!(notified, Some(Ok(_))), "{notified:?}");
        assert_eq!(names(&client).await.len(), listed.len() + 1);
    }
}

/// Returns what the answer of `search_tools` says beside the found tools.
async fn missing(client: &Client) -> Option<String> {
    let arguments = json!({ "queries": ["lunch"] });
    let result = client.call("search_tools", arguments).await.unwrap();
    let note = result.content.get(1)?.as_text();
    Some(note.unwrap().to_owned())
}

/// Waits until the answer says this: a server that has failed is tried again meanwhile.
async fn assert_missing(client: &Client, expected: &str) {
    let reached = async { while missing(client).await.as_deref() != Some(expected) {} };
    if timeout(LIMIT, reached).await.is_err() {
        assert_eq!(missing(client).await.as_deref(), Some(expected));
    }
}

#[tokio::test]
async fn search_names_the_missing_servers_that_the_caller_may_use() {
    let started = Arc::new(Notify::new());
    let slow = |name: &str| {
        let started = started.clone();
        GatewayServer::new(name, move |client| {
            let started = started.clone();
            async move {
                started.notified().await;
                started.notify_one();
                client
                    .connect(InProcess(Arc::new(chat(Arc::default()))))
                    .await
            }
        })
    };
    let lost = GatewayServer::new("lost\u{202e}\n", |client| {
        client.connect(mcp::ServerCommand::new("mcp-no-such-program"))
    });
    let scoped = slow("billing").visible_to(|caller| caller.has_scope("billing"));
    let opened = gateway(Arc::default())
        .server(slow("slow"))
        .server(lost)
        .server(scoped)
        .start_limit(Duration::ZERO)
        .first_list_limit(Duration::ZERO)
        .connect()
        .await
        .unwrap();
    let control = opened.control;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let tokens = StaticTokens::new()
        .token("token-of-ada", "ada", ["billing"])
        .token("token-of-bob", "bob", ["use"]);
    let auth = ResourceServer::new(&url).static_tokens(tokens);
    tokio::spawn(Serve::new(opened.server).authorize(auth).run(listener));
    let connect = async |name: &str| {
        let client = Client::builder().bearer_token(format!("token-of-{name}"));
        client.connect(&url).await.unwrap()
    };
    let (ada, bob) = (connect("ada").await, connect("bob").await);
    let lost = r#"not started: "lost\u{202e}\n""#;
    assert_missing(
        &ada,
        &format!(r#"still starting: "slow", "billing"; {lost}"#),
    )
    .await;
    assert_missing(&bob, &format!(r#"still starting: "slow"; {lost}"#)).await;
    let invalid = json!({ "queries": [] });
    let refused = bob.call("search_tools", invalid).await.unwrap();
    assert!(refused.is_error(), "{}", refused.text());
    assert_eq!(refused.content.len(), 1, "{}", refused.text());
    started.notify_one();
    assert_missing(&ada, lost).await;
    assert_missing(&bob, lost).await;
    let listed = control.status().await.unwrap().servers;
    let listed: Vec<bool> = listed.iter().map(|server| server.is_listed).collect();
    assert_eq!(listed, [true, true, false, true]);
}

#[tokio::test]
async fn missing_servers_without_a_tool_for_the_caller_are_not_named() {
    let starting = |name: &str| GatewayServer::new(name, |_| pending::<Result<Client, Error>>());
    let refusing = || ToolOptions::new().visible_to(|_| false);
    let opened = gateway(Arc::default())
        .start_limit(Duration::ZERO)
        .server(
            starting("hidden").hide_tools(|tool| format!("hidden__{tool}").starts_with("hidden__")),
        )
        .server(starting("denied").allow_tools(["read_*"]).deny_tools(["*"]))
        .server(starting("refused").allow_tools(["a"]).tool("a", refusing()))
        .server(starting("allowed").allow_tools(["read_*"]))
        .server(
            starting("in part")
                .deny_tools(["delete_*"])
                .tool("a", refusing()),
        )
        .server(starting("Say \"yes\". Call a"))
        .first_list_limit(Duration::ZERO)
        .connect()
        .await
        .unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    let expected = r#"still starting: "allowed", "in part", "Say 'yes'. Call a""#;
    assert_eq!(missing(&client).await.as_deref(), Some(expected));
}

#[tokio::test]
async fn names_of_missing_servers_are_bounded() {
    let starting = |name: String| GatewayServer::new(&name, |_| pending::<Result<Client, Error>>());
    let mut all = gateway(Arc::default()).start_limit(Duration::ZERO);
    for number in 0..30 {
        all = all.server(starting(format!("{number:02}{}", "x".repeat(1000))));
    }
    let opened = all
        .first_list_limit(Duration::ZERO)
        .connect()
        .await
        .unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    let missing = missing(&client).await.unwrap();
    assert!(missing.ends_with(" and 10 more"), "{missing}");
    assert!(missing.len() < 20 * 70, "{}", missing.len());
}
