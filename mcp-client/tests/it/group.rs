//! Several servers behind one handle.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use mcp_client::group::{Group, GroupBuilder, GroupConfig, GroupEvent, Health, Naming, Variables};
use mcp_client::{Change, Client, ConnectMode, Error, Over};
use mcp_core::{ChannelError, CloseReason};
use mcp_types::{CompleteParams, CompletionReference, ProtocolVersion, codes};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::script::{Script, Step, error, result, say, text, wait};
use crate::session::{methods, opened as session_opened};

/// Acknowledges a subscription to changes of tools.
const ACK: &str = r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true}}}"#;

fn tools(names: &[&str]) -> Vec<Step> {
    let tools: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
        .collect();
    vec![result(&json!({"resultType": "complete", "tools": tools}))]
}

async fn connect(script: Arc<Script>) -> Result<Client, Error> {
    let mode = ConnectMode::Pin(ProtocolVersion::LATEST);
    Client::builder()
        .mode(mode)
        .connect(Over(script.channel()))
        .await
}

/// Creates a group without subscriptions, so that only calls are sent.
fn quiet() -> GroupBuilder {
    Group::builder().listen(false)
}

/// Adds a server that uses the next script at each start. Returns the number of starts.
fn starts(
    scripts: impl IntoIterator<Item = Arc<Script>>,
) -> (impl Fn() -> Starting, Arc<AtomicUsize>) {
    let scripts: Vec<_> = scripts.into_iter().collect();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let start = move || {
        let script = scripts.get(counted.fetch_add(1, Ordering::SeqCst)).cloned();
        let starting: Starting = Box::pin(async move {
            match script {
                Some(script) => connect(script).await,
                None => Err(ChannelError::Connect {
                    peer: "x".to_owned(),
                    source: "no".into(),
                }
                .into()),
            }
        });
        starting
    };
    (start, count)
}

type Starting = mcp_core::BoxFuture<'static, Result<Client, Error>>;

#[tokio::test]
async fn group_lists_and_calls_tools_from_all_servers() {
    let files = Script::new([tools(&["read", "find"]), vec![text("from files")]]);
    let mail = Script::new([tools(&["read", "send"]), vec![text("from mail")]]);
    let (a, b) = (files.clone(), mail.clone());
    let off = r#"{"mcpServers": {"off": {"command": "x", "disabled": true}}}"#;
    let off = GroupConfig::parse(off, &Variables::new()).unwrap();
    let reason = "it is disabled in the configuration file";
    let group = quiet()
        .server("files", move || connect(a.clone()))
        .server("my mail", move || connect(b.clone()))
        .server("gone", || async { Err(Error::other("it is gone")) })
        .config(off, Client::builder())
        .build();
    let health = |at: usize| group.health()[at].1.clone();
    assert_eq!(
        (health(0), health(3)),
        (Health::Idle, Health::Unused(reason.to_owned()))
    );

    assert_eq!(health(3).to_string(), format!("not used: {reason}"));

    let catalog = group.list_tools().await;
    let names: Vec<_> = catalog
        .items
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "files__read",
            "files__find",
            "my_mail__read",
            "my_mail__send"
        ]
    );
    assert_eq!(catalog.items[2].item.name, "read");
    let failures: Vec<_> = catalog
        .failures
        .iter()
        .map(|(server, error)| (&**server, error.to_string()))
        .collect();
    assert_eq!(
        failures,
        [(
            "gone",
            "gone: the server could not be started: it is gone".to_owned()
        )]
    );
    assert_eq!(
        (health(0), health(2)),
        (Health::Running, Health::Down("it is gone".to_owned()))
    );

    let result = group.call("my_mail__read", json!({"id": 1})).await.unwrap();
    assert_eq!(result.text(), "from mail");
    assert_eq!(mail.sent()[1].body["params"]["name"], "read");
    let (client, name) = group.route_tool("files__find").await.unwrap();
    assert_eq!(client.call(name, ()).await.unwrap().text(), "from files");
    for (error, message) in [
        (
            group.client("nobody").await.unwrap_err(),
            "the group has no server \"nobody\"",
        ),
        (
            group.client("off").await.unwrap_err(),
            "off: the server is disabled: it is disabled in the configuration file",
        ),
    ] {
        assert_eq!(error.to_string(), message);
    }
}

#[tokio::test]
async fn colliding_names_are_made_unique() {
    let a = Script::new([tools(&["read", "b__c"])]);
    let b = Script::new([tools(&["read", "send"])]);
    let c = Script::new([tools(&["c"])]);
    let group = |naming| {
        let (a, b, c) = (a.clone(), b.clone(), c.clone());
        quiet()
            .naming(naming)
            .server("a", move || connect(a.clone()))
            .server("b", move || connect(b.clone()))
            .server("a__b", move || connect(c.clone()))
            .build()
    };
    let plain = group(Naming::PlainUnlessTaken).list_tools().await;
    let names: Vec<_> = plain.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["a__read", "a__b__c", "b__read", "send", "c"]);

    let scripts = [tools(&["b__c"]), tools(&["c"])].map(|list| Script::new([list]));
    let [one, two] = scripts;
    let prefixed = quiet()
        .server("a", move || connect(one.clone()))
        .server("a__b", move || connect(two.clone()))
        .build();
    let names: Vec<_> = prefixed
        .list_tools()
        .await
        .items
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["a__b__c", "a__b__c_2"]);
}

#[tokio::test]
async fn call_to_an_unlisted_tool_lists_first() {
    let script = Script::new([tools(&["read"]), vec![text("done")], tools(&["read"])]);
    let (start, count) = starts([script.clone()]);
    let group = quiet().server("files", start).build();
    assert_eq!(count.load(Ordering::SeqCst), 0);
    assert_eq!(group.call("files__read", ()).await.unwrap().text(), "done");
    let error = group.call("files__write", ()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no server of the group has \"files__write\""
    );
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn call_at_a_server_that_cannot_start_names_the_server() {
    for (naming, tool) in [
        (Naming::Prefixed, "files__read"),
        (Naming::PlainUnlessTaken, "read"),
        (Naming::PlainUnlessTaken, "files__read"),
    ] {
        let lists = [tools(&["send"]), tools(&["send"]), tools(&["send"])];
        let (other, _) = starts([Script::new(lists)]);
        let group = quiet().naming(naming).server("mail", other);
        let group = group.server("files", starts([]).0).build();
        let called = group.call(tool, ()).await.unwrap_err();
        assert!(called.to_string().starts_with("files: "), "{called}");
        let error = group.get_prompt("files__greet", ()).await.unwrap_err();
        assert!(error.to_string().starts_with("files: "), "{error}");
        let error = group.call("mail__write", ()).await.unwrap_err();
        assert!(error.to_string().starts_with("no server"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn ended_server_is_started_again() {
    let scripts: Vec<_> = (0..4).map(|_| Script::new([])).collect();
    let (start, count) = starts(scripts.clone());
    let group = quiet().server("files", start).build();
    let mut events = group.events();
    let first = group.client("files").await.unwrap();
    assert!(group.client("files").await.is_ok());
    assert_eq!(count.load(Ordering::SeqCst), 1);
    // A server that ran long enough starts again at once.
    sleep(Duration::from_secs(100)).await;
    first.close().await.unwrap();
    let second = group.client("files").await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 2);
    // A server that ran only shortly is delayed.
    second.close().await.unwrap();
    let error = group.client("files").await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    let text = error.to_string();
    assert!(
        text.starts_with("files: the server is not started again for "),
        "{text}"
    );
    let (seconds, _) = text["files: the server is not started again for ".len()..]
        .split_once(" s: ")
        .unwrap();
    assert!(seconds.len() <= "1.0".len(), "{text}");
    assert!(
        text.ends_with(": the client has closed the connection"),
        "{text}"
    );
    sleep(Duration::from_secs(1)).await;
    assert!(group.client("files").await.is_ok());
    assert_eq!(count.load(Ordering::SeqCst), 3);

    let mut told = Vec::new();
    while let Some(Some(event)) = events.next().now_or_never() {
        let GroupEvent::Health { health, .. } = event else {
            panic!("{event:?}")
        };
        told.push(health);
    }
    let down = Health::Down(CloseReason::Local.to_string());
    assert_eq!(
        told.iter()
            .filter(|health| **health == Health::Running)
            .count(),
        3
    );
    assert!(told.contains(&down), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn server_that_fails_two_checks_is_closed_and_started_again() {
    let discovered = || {
        let result = result(&json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {},
            "serverInfo": {"name": "x", "version": "1"},
        }));
        vec![result]
    };
    let refused = || vec![say(error(codes::INTERNAL_ERROR, &json!(null)))];
    let silent = || vec![wait(1000)];
    // One failure alone does not count, and an error is an answer.
    let first = [
        discovered(),
        silent(),
        discovered(),
        silent(),
        refused(),
        silent(),
        silent(),
    ];
    let (start, count) = starts([Script::new(first), Script::new([])]);
    let group = quiet()
        .server("files", start)
        .health_check("files", Duration::from_secs(30))
        .build();
    let mut events = group.events();
    let client = group.client("files").await.unwrap();
    let begin = Instant::now();
    client.closed().await;
    // Seven checks, each 30 seconds after the one before, and the wait for the last answer.
    let passed = begin.elapsed().as_secs();
    assert!((215..260).contains(&passed), "{passed}");
    assert!(group.client("files").await.is_ok());
    assert_eq!(count.load(Ordering::SeqCst), 2);
    let mut told = Vec::new();
    while let Some(Some(GroupEvent::Health { health, .. })) = events.next().now_or_never() {
        told.push(health.to_string());
    }
    assert_eq!(told[0], Health::Running.to_string());
    assert!(told[1].contains("two health checks"), "{told:?}");
    assert_eq!(*told.last().unwrap(), Health::Running.to_string());
}

#[tokio::test(start_paused = true)]
async fn failing_server_starts_with_backoff() {
    let (start, count) = starts([]);
    let group = quiet().server("files", start).build();
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(60) {
        let error = group.client("files").await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
        sleep(Duration::from_millis(100)).await;
    }
    let tries = count.load(Ordering::SeqCst);
    assert!((5..=8).contains(&tries), "{tries}");
}

#[tokio::test]
async fn group_events_contain_changes_from_all_servers() {
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let end = result(&json!({"resultType": "complete"}));
    let script = Script::new([vec![say(ACK), say(changed), end]]);
    let group = Group::builder()
        .server("files", move || connect(script.clone()))
        .build();
    let mut events = group.events();
    group.client("files").await.unwrap();
    let server: Arc<str> = "files".into();
    let Some(GroupEvent::Health { health, .. }) = events.next().await else {
        panic!()
    };
    assert_eq!(health, Health::Running);
    let Some(GroupEvent::Changed {
        server: who,
        change,
        ..
    }) = events.next().await
    else {
        panic!()
    };
    assert_eq!((who, change), (server, Change::Tools));

    group.close().await;
    let Some(GroupEvent::Health { health, .. }) = events.next().await else {
        panic!()
    };
    assert_eq!(health, Health::Unused(CloseReason::Local.to_string()));
    assert!(group.client("files").await.unwrap_err().is_closed());
    drop(group);
    for _ in 0..2 {
        assert!(events.next().await.is_none());
    }
}

/// Returns the next change of any server.
async fn next_change(events: &mut (impl futures::Stream<Item = GroupEvent> + Unpin)) -> Change {
    loop {
        if let GroupEvent::Changed { change, .. } = events.next().await.unwrap() {
            return change;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn lists_are_read_after_the_server_has_acknowledged_the_subscription() {
    let script = Script::new([
        vec![Step::Wait(Duration::from_millis(400)), say(ACK), wait(1000)],
        tools(&["read"]),
    ]);
    let server = script.clone();
    let group = Group::builder()
        .server("files", move || connect(server.clone()))
        .build();
    let begin = Instant::now();
    assert_eq!(group.list_tools().await.items.len(), 1);
    assert_eq!(methods(&script), ["subscriptions/listen", "tools/list"]);
    assert_eq!(begin.elapsed().as_millis(), 400);
}

#[tokio::test(start_paused = true)]
async fn late_or_repeated_subscription_reports_what_may_have_been_missed() {
    // spec: SUB-11
    let end = || result(&json!({"resultType": "complete"}));
    let cached = |name: &str| {
        let tool = json!({"name": name, "inputSchema": {"type": "object"}});
        vec![result(
            &json!({"resultType": "complete", "tools": [tool], "ttlMs": 3_600_000}),
        )]
    };
    let script = Script::new([
        // Later than a start waits.
        vec![wait(1), say(ACK), wait(100), end()],
        cached("a"),
        cached("b"),
        // The server has ended the subscription, and is away for a while.
        vec![Step::Fail(ChannelError::Broken { source: None })],
        vec![say(ACK), wait(1000)],
        cached("c"),
    ]);
    let server = script.clone();
    let group = Group::builder()
        .server("files", move || connect(server.clone()))
        .build();
    let mut events = group.events();
    let missed = Change::Missed(mcp_types::SubscriptionFilter::new().tools_changed());
    for (name, has_missed) in [("a", true), ("b", true), ("c", false)] {
        assert_eq!(group.list_tools().await.items[0].item.name, name);
        if has_missed {
            assert_eq!(next_change(&mut events).await, missed);
        }
    }
    let listen = methods(&script);
    let listen = listen
        .iter()
        .filter(|method| *method == "subscriptions/listen");
    assert_eq!(listen.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn server_that_grants_no_changes_or_refuses_them_is_asked_once() {
    let nothing = ACK.replace(r#""toolsListChanged":true"#, "");
    let end = result(&json!({"resultType": "complete"}));
    let refused = say(error(codes::METHOD_NOT_FOUND, &json!(null)));
    for answer in [vec![say(nothing), end], vec![refused]] {
        let script = Script::new([answer]);
        let server = script.clone();
        let group = Group::builder()
            .server("files", move || connect(server.clone()))
            .build();
        let begin = Instant::now();
        group.client("files").await.unwrap();
        assert_eq!(begin.elapsed().as_millis(), 0);
        sleep(Duration::from_secs(1000)).await;
        assert_eq!(methods(&script), ["subscriptions/listen"]);
    }
}

fn answers(results: impl IntoIterator<Item = serde_json::Value>) -> Arc<Script> {
    Script::new(results.into_iter().map(|value| vec![result(&value)]))
}

#[tokio::test]
async fn group_routes_resources_prompts_and_completion() {
    let resource = |uri: &str| json!({"resources": [{"uri": uri, "name": "x"}]});
    let template = |uri: &str| json!({"resourceTemplates": [{"uriTemplate": uri, "name": "x"}]});
    let contents = |text: &str| json!({"contents": [{"uri": "config://app", "text": text}]});
    let completion = |value: &str| json!({"completion": {"values": [value]}});
    let prompts = json!({"prompts": [{"name": "review"}]});
    let said = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]});
    let crm = answers([
        resource("config://app"),
        template("users://{id}"),
        contents("of crm"),
        contents("user 7"),
        completion("8"),
        prompts,
        said,
        completion("rust"),
    ]);
    // Two servers have the same sanitized prefix, which is also the start of a third one.
    let other = answers([
        resource("config://app"),
        template("users://{id}"),
        contents("of the other"),
        json!({"prompts": []}),
    ]);
    let third = answers([
        resource("a:"),
        template("b:{c}"),
        contents("of the third"),
        json!({"prompts": []}),
    ]);
    let (a, b, c) = (crm.clone(), other.clone(), third.clone());
    let group = quiet()
        .server("my crm", move || connect(a.clone()))
        .server("my_crm", move || connect(b.clone()))
        .server("my_crm__x", move || connect(c.clone()))
        .build();
    let resources = group.list_resources().await;
    let names: Vec<_> = resources
        .items
        .iter()
        .map(|item| item.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "my_crm__config://app",
            "my_crm_2__config://app",
            "my_crm__x__a:"
        ]
    );
    let templates = group.list_resource_templates().await;
    let names: Vec<_> = templates
        .items
        .iter()
        .map(|item| item.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "my_crm__users://{id}",
            "my_crm_2__users://{id}",
            "my_crm__x__b:{c}"
        ]
    );
    for (name, text) in [
        ("my_crm__config://app", "of crm"),
        ("my_crm__users://7", "user 7"),
        ("my_crm_2__config://app", "of the other"),
        ("my_crm__x__a:", "of the third"),
    ] {
        assert_eq!(group.read_resource(name).await.unwrap().text(), text);
    }
    assert_eq!(crm.sent()[3].body["params"]["uri"], "users://7");
    let unknown = group.read_resource("config://app").await.unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "no server of the group has \"config://app\""
    );

    let of_template = CompletionReference::template("my_crm__users://{id}");
    let found = group
        .complete(CompleteParams::new(of_template, "id", ""))
        .await;
    assert_eq!(found.unwrap().completion.values, ["8"]);
    assert_eq!(
        crm.sent()[4].body["params"]["ref"]["uri"],
        json!("users://{id}")
    );
    let prompt = group.get_prompt("my_crm__review", ()).await.unwrap();
    assert_eq!(prompt.messages.len(), 1);
    let of_prompt = CompletionReference::prompt("my_crm__review");
    let found = group
        .complete(CompleteParams::new(of_prompt, "language", "ru"))
        .await;
    assert_eq!(found.unwrap().completion.values, ["rust"]);
    assert_eq!(crm.sent()[7].body["params"]["ref"]["name"], "review");
}

/// A legacy server that offers only these features.
fn session_with(capabilities: serde_json::Value, lists: Vec<Vec<Step>>) -> Arc<Script> {
    let opened = vec![result(&json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "serverInfo": {"name": "old", "version": "1"},
    }))];
    Script::session([opened].into_iter().chain(lists)).0
}

async fn connect_session(script: Arc<Script>) -> Result<Client, Error> {
    let mode = ConnectMode::Legacy;
    Client::builder()
        .mode(mode)
        .connect(Over(script.channel()))
        .await
}

#[tokio::test]
async fn group_asks_servers_for_what_they_offer() {
    let no_method = || vec![say(error(codes::METHOD_NOT_FOUND, &json!(null)))];
    let list = vec![result(
        &json!({"tools": [{"name": "read", "inputSchema": {"type": "object"}}]}),
    )];
    let tools_only = session_with(json!({"tools": {}}), vec![list]);
    // Declares resources, but has no templates.
    let resources = vec![result(&json!({"resources": [{"uri": "a:", "name": "a"}]}))];
    let without_templates = session_with(json!({"resources": {}}), vec![resources, no_method()]);
    let (a, b) = (tools_only.clone(), without_templates.clone());
    let group = quiet()
        .server("a", move || connect_session(a.clone()))
        .server("b", move || connect_session(b.clone()))
        .build();
    let (tools, prompts) = (group.list_tools().await, group.list_prompts().await);
    assert_eq!((tools.items.len(), tools.failures.len()), (1, 0));
    assert_eq!((prompts.items.len(), prompts.failures.len()), (0, 0));
    let resources = group.list_resources().await;
    assert_eq!((resources.items.len(), resources.failures.len()), (1, 0));
    let templates = group.list_resource_templates().await;
    assert_eq!((templates.items.len(), templates.failures.len()), (0, 0));
    assert_eq!(methods(&tools_only), ["initialize", "tools/list"]);
    let expected = ["initialize", "resources/list", "resources/templates/list"];
    assert_eq!(methods(&without_templates), expected);
}

#[tokio::test(start_paused = true)]
async fn group_remembers_server_that_does_not_survive_discover() {
    let initialize = || session_opened("2025-11-25");
    let ends = || vec![Step::Fail(ChannelError::Closed(CloseReason::Remote))];
    let first = Script::pipe([ends(), initialize()]);
    let second = Script::pipe([initialize()]);
    // The memory ends when a start fails: the server may have been updated.
    let third = Script::pipe([ends()]);
    let fourth = Script::pipe([ends(), initialize()]);
    let scripts = [first, second, third, fourth];
    let starting = scripts.clone();
    let count = Arc::new(AtomicUsize::new(0));
    let group = quiet()
        .server("old", move || {
            let script = starting[count.fetch_add(1, Ordering::SeqCst)].clone();
            async move { Client::connect(Over(script.channel())).await }
        })
        .build();
    for (script, is_started) in scripts.iter().zip([true, true, false, true]) {
        let client = group.client("old").await;
        assert_eq!(client.is_ok(), is_started, "{:?}", methods(script));
        sleep(Duration::from_secs(100)).await;
        if let Ok(client) = client {
            client.close().await.unwrap();
        }
    }
    let sent = scripts.each_ref().map(|script| methods(script));
    let probed = ["server/discover", "initialize"]
        .map(str::to_owned)
        .to_vec();
    let direct = vec!["initialize".to_owned()];
    assert_eq!(sent, [probed.clone(), direct.clone(), direct, probed]);
}
