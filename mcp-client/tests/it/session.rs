//! Legacy sessions.

use std::future::{IntoFuture, pending};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use mcp_client::{
    Change, Client, ClientBuilder, ConnectMode, ElicitRequest, Error, Over, Rejected, Subscription,
};
use mcp_core::{ChannelError, CloseReason, Frame, ServerNotification};
use mcp_types::ProtocolVersion::V2025_06_18;
use mcp_types::{
    CreateMessageResult, ElicitResult, LoggingLevel, RequestId, SubscriptionFilter, codes,
};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, sleep};

use crate::script::{Script, Step, error, log, progress, refuse, result, say, wait};

mod answers;

pub(crate) fn opened(version: &str) -> Vec<Step> {
    vec![result(&json!({
        "protocolVersion": version,
        "capabilities": {
            "tools": {"listChanged": true}, "logging": {},
            "resources": {"subscribe": true, "listChanged": true}, "prompts": {},
        },
        "serverInfo": {"name": "old", "version": "0.9"},
        "instructions": "Be patient.",
    }))]
}

pub(crate) fn no_method() -> Vec<Step> {
    vec![say(error(codes::METHOD_NOT_FOUND, &Value::Null))]
}

fn empty() -> Vec<Step> {
    vec![result(&json!({}))]
}

pub(crate) fn text(text: &str) -> Vec<Step> {
    vec![result(
        &json!({"content": [{"type": "text", "text": text}]}),
    )]
}

type Inbound = UnboundedSender<Frame>;

/// Opens a session with a server that continues with `answers`.
pub(crate) async fn session(
    builder: ClientBuilder,
    answers: impl IntoIterator<Item = Vec<Step>>,
) -> (Client, Arc<Script>, Inbound) {
    let answers = [opened("2025-11-25")].into_iter().chain(answers);
    let (script, inbound) = Script::session(answers);
    let client = builder
        .mode(ConnectMode::Legacy)
        .connect(Over(script.channel()))
        .await
        .unwrap();
    (client, script, inbound)
}

fn tell(inbound: &Inbound, message: &Value) {
    inbound.send(Frame::new(message.to_string())).unwrap();
}

pub(crate) fn methods(script: &Script) -> Vec<String> {
    let sent = script.sent();
    sent.iter()
        .map(|sent| sent.body["method"].as_str().unwrap().to_owned())
        .collect()
}

fn form(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": {
        "message": "Who?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string", "default": "Ada"}}},
    }})
}

fn ask(id: u32, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

// spec: ERR-12
#[tokio::test]
async fn session_requests_run_same_handlers() {
    // spec: PING-01
    let builder = Client::builder()
        .on_elicit(|form: ElicitRequest| async move {
            assert_eq!(
                (form.asker.server.as_str(), &form.asker.method),
                ("script:", &None)
            );
            form.accept(())
        })
        .on_sample(|_| async { Err::<CreateMessageResult, _>(Rejected::new("no")) })
        .roots(["file:///a"]);
    let (_client, script, inbound) = session(builder, []).await;
    let hello = json!({"maxTokens": 1, "messages": []});
    let url = json!({"mode": "url", "message": "m", "url": "https://a/", "elicitationId": "e"});
    for message in [
        ask(1, "ping", &json!({})),
        form(2),
        ask(3, "roots/list", &json!({})),
        ask(4, "sampling/createMessage", &hello),
        ask(5, "elicitation/create", &url),
        ask(6, "dreams/tell", &json!({})),
        ask(7, "elicitation/create", &json!({"message": 7})),
        ask(8, "tools/list", &json!({})),
    ] {
        tell(&inbound, &message);
    }
    let mut notes: Vec<_> = script
        .notes(9)
        .await
        .into_iter()
        .map(|note| note.body)
        .collect();
    notes.remove(0);
    notes.sort_by_key(|note| note["id"].as_u64());
    let results: Vec<_> = notes[..3].iter().map(|note| &note["result"]).collect();
    assert_eq!(
        results,
        [
            &json!({}),
            &json!({"action": "accept", "content": {"name": "Ada"}}),
            &json!({"roots": [{"uri": "file:///a"}]}),
        ]
    );
    let codes: Vec<_> = notes[3..]
        .iter()
        .map(|note| note["error"]["code"].as_i64().unwrap())
        .collect();
    assert_eq!(codes, [-1, -32602, -32601, -32602, -32601]);
    assert_eq!(notes[3]["error"]["message"], "the user refuses: no");
}

#[tokio::test]
async fn handler_errors_are_hidden_from_server() {
    let builder = Client::builder()
        .on_elicit(|_| async { Err::<ElicitResult, _>("password hunter2") })
        .on_sample(|_| -> std::future::Ready<CreateMessageResult> { panic!("hunter2") });
    let (_client, script, inbound) = session(builder, []).await;
    tell(&inbound, &form(1));
    tell(
        &inbound,
        &ask(
            2,
            "sampling/createMessage",
            &json!({"maxTokens": 1, "messages": []}),
        ),
    );
    for note in &script.notes(3).await[1..] {
        assert_eq!(note.body["error"]["code"], codes::INTERNAL_ERROR);
        assert!(!note.body.to_string().contains("hunter2"));
    }
}

#[tokio::test(start_paused = true)]
async fn session_requests_are_bounded_and_cancellable() {
    let builder = Client::builder().on_elicit(|_| pending::<ElicitResult>());
    let (client, script, inbound) = session(builder, []).await;
    for id in 0..100 {
        tell(&inbound, &form(id));
    }
    // 32 requests run, 32 are refused, the others are ignored.
    sleep(Duration::from_secs(1)).await;
    let notes = script.notes(2).await;
    let refused = notes.len() - 1;
    assert!((1..=32).contains(&refused), "{refused}");
    for note in &notes[1..] {
        assert_eq!(note.body["error"]["code"], codes::OVERLOADED);
    }
    for id in 0..32 {
        let params = json!({"requestId": id, "reason": "late"});
        tell(
            &inbound,
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
    }
    tell(
        &inbound,
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 777}}),
    );
    sleep(Duration::from_secs(1)).await;
    // After cancellations there is capacity again, and cancelled requests get no response.
    tell(&inbound, &ask(500, "ping", &json!({})));
    let notes = script.notes(refused + 2).await;
    assert_eq!(notes.last().unwrap().body["id"], 500);
    drop(client);
    sleep(Duration::from_secs(1)).await;
    assert!(inbound.is_closed(), "the session ends with its client");
}

#[tokio::test(start_paused = true)]
async fn open_request_extends_call_timeout() {
    let builder = Client::builder().on_elicit(|_| async {
        sleep(Duration::from_secs(3600)).await;
        ElicitResult::decline()
    });
    let answers = [vec![wait(3650), result(&json!({"content": []}))]];
    let (client, _script, inbound) = session(builder, answers).await;
    tell(&inbound, &form(1));
    let start = Instant::now();
    client.call("slow", ()).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 3650);
}

#[tokio::test]
async fn session_call_receives_its_notifications() {
    let answers = [vec![
        progress(1.0),
        log("error"),
        say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#),
        text("done").remove(0),
    ]];
    let (client, script, inbound) = session(Client::builder(), answers).await;
    let mut changes = client.changes().tools_changed().await.unwrap();
    let mut logs = Box::pin(client.notifications().filter_map(|received| {
        std::future::ready(match received.unwrap() {
            ServerNotification::Log(message) => Some(message),
            _ => None,
        })
    }));
    let mut steps = Vec::new();
    let result = client
        .call("a", ())
        .on_progress(|step| steps.push(step.progress))
        .await
        .unwrap();
    assert_eq!((result.text(), steps), ("done".to_owned(), vec![1.0]));
    assert_eq!(
        script.sent()[1].meta("progressToken"),
        &script.sent()[1].body["id"]
    );
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Tools);
    tell(
        &inbound,
        &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}),
    );
    assert_eq!(logs.next().await.unwrap().level, LoggingLevel::Error);
    assert_eq!(logs.next().await.unwrap().level, LoggingLevel::Info);
}

// spec: ROOT-02
#[tokio::test]
async fn ping_log_level_and_roots_are_sent() {
    // spec: ROOT-03
    let builder = Client::builder()
        .roots(["file:///a"])
        .log_level(LoggingLevel::Info);
    let (client, script, inbound) = session(builder, [empty(), empty(), empty()]).await;
    client.set_log_level(LoggingLevel::Error).await.unwrap();
    client.set_log_level(None).await.unwrap();
    client.ping().await.unwrap();
    assert_eq!(
        methods(&script),
        ["initialize", "logging/setLevel", "logging/setLevel", "ping"]
    );
    let levels = [1, 2].map(|at| script.sent()[at].body["params"]["level"].clone());
    assert_eq!(levels, ["info", "error"]);

    client.set_roots(["file:///b"]).await.unwrap();
    tell(&inbound, &ask(1, "roots/list", &json!({})));
    let notes = script.notes(3).await;
    assert_eq!(notes[1].body["method"], "notifications/roots/list_changed");
    assert_eq!(notes[2].body["result"]["roots"][0]["uri"], "file:///b");
    let error = client.set_roots(["https://b"]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the root \"https://b\" is not a `file://` URI"
    );
    let (rootless, _script, _inbound) = session(Client::builder(), []).await;
    let error = rootless.set_roots(["file:///b"]).await.unwrap_err();
    assert!(error.to_string().contains("without roots"), "{error}");
}

#[tokio::test]
async fn session_subscriptions_share_resources() {
    let refused = vec![say(error(codes::INVALID_PARAMS, &Value::Null))];
    let (client, script, inbound) = session(Client::builder(), [empty(), refused, empty()]).await;
    let wanted = client
        .subscribe(["file:///a", "file:///no"])
        .tools_changed()
        .prompts_changed();
    let mut first = wanted.await.unwrap();
    // The second subscription shares the first one's resource.
    let mut second = client.subscribe(["file:///a"]).await.unwrap();
    let granted = SubscriptionFilter::new()
        .tools_changed()
        .resource("file:///a");
    assert_eq!(first.granted(), &granted);
    assert_eq!(
        first.refused(),
        SubscriptionFilter::new()
            .prompts_changed()
            .resource("file:///no")
    );
    let note =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    tell(
        &inbound,
        &note("notifications/tools/list_changed", json!({})),
    );
    tell(
        &inbound,
        &note("notifications/prompts/list_changed", json!({})),
    );
    tell(
        &inbound,
        &note(
            "notifications/resources/updated",
            json!({"uri": "file:///else"}),
        ),
    );
    tell(
        &inbound,
        &note(
            "notifications/resources/updated",
            json!({"uri": "file:///a"}),
        ),
    );
    let a = Change::Resource {
        uri: "file:///a".to_owned(),
    };
    assert_eq!(next(&mut first).await, Change::Tools);
    // The server does not declare this notification.
    assert_eq!(next(&mut first).await, Change::Prompts);
    assert_eq!(
        (next(&mut first).await, next(&mut second).await),
        (a.clone(), a)
    );

    drop(first);
    tokio::task::yield_now().await;
    drop(second);
    while script.sent().len() < 4 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        methods(&script),
        [
            "initialize",
            "resources/subscribe",
            "resources/subscribe",
            "resources/unsubscribe"
        ]
    );
    assert_eq!(script.sent()[3].body["params"]["uri"], "file:///a");
}

async fn next(changes: &mut Subscription) -> Change {
    changes.next().await.unwrap().unwrap()
}

#[tokio::test]
async fn slow_subscriber_receives_missed() {
    let (client, _script, inbound) = session(Client::builder(), []).await;
    let mut changes = client.changes().tools_changed().await.unwrap();
    for _ in 0..300 {
        tell(
            &inbound,
            &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
        );
    }
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        next(&mut changes).await,
        Change::Missed(SubscriptionFilter::new().tools_changed())
    );
    assert_eq!(next(&mut changes).await, Change::Tools);
}

#[tokio::test]
async fn connection_end_fails_subscription_and_calls() {
    let (client, script, _inbound) = session(Client::builder(), []).await;
    let mut changes = client.changes().tools_changed().await.unwrap();
    let (told, reason, ()) = tokio::join!(changes.next(), client.closed(), async {
        tokio::task::yield_now().await;
        script.end();
    });
    assert!(told.unwrap().unwrap_err().is_closed());
    assert_eq!(reason, CloseReason::Remote);
    assert!(changes.next().await.is_none());
    assert!(client.call("add", ()).await.unwrap_err().is_closed());
    assert_eq!(script.sent().len(), 1);
}

fn expired() -> Vec<Step> {
    vec![Step::Fail(ChannelError::SessionExpired)]
}

#[tokio::test]
async fn expired_session_is_renewed_and_restored() {
    let answers = [
        empty(),
        expired(),
        opened("2025-06-18"),
        empty(),
        text("done"),
    ];
    let (client, script, _inbound) = session(Client::builder(), answers).await;
    let mut changes = client.subscribe(["file:///a"]).await.unwrap();
    assert_eq!(client.call("pay", ()).await.unwrap().text(), "done");
    assert_eq!(
        methods(&script),
        [
            "initialize",
            "resources/subscribe",
            "tools/call",
            "initialize",
            "resources/subscribe",
            "tools/call"
        ]
    );
    assert_eq!(client.protocol_version(), V2025_06_18);
    assert_eq!(script.sent()[5].mirrored.version, V2025_06_18);
    assert_eq!(
        script.notes(2).await[1].body["method"],
        "notifications/initialized"
    );
    let missed = SubscriptionFilter::new().resource("file:///a");
    assert_eq!(next(&mut changes).await, Change::Missed(missed));
}

#[tokio::test]
async fn subscription_that_renews_session_reports_later_changes_only() {
    let answers = [expired(), opened("2025-11-25"), empty(), empty()];
    let (client, script, inbound) = session(Client::builder(), answers).await;
    let changes = client.subscribe(["file:///a"]).tools_changed();
    let mut changes = changes.await.unwrap();
    assert_eq!(
        methods(&script)[1..],
        [
            "resources/subscribe",
            "initialize",
            "resources/subscribe",
            "resources/subscribe"
        ]
    );
    tell(
        &inbound,
        &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
    );
    assert_eq!(next(&mut changes).await, Change::Tools);
}

#[tokio::test]
async fn concurrent_calls_renew_session_once() {
    let answers = [expired(), opened("2025-11-25"), expired()];
    let (client, script, _inbound) = session(Client::builder(), answers).await;
    let error: Error = client.call("a", ()).await.unwrap_err();
    assert!(error.is_closed() && !error.may_have_run(), "{error}");
    assert_eq!(script.sent().len(), 4);

    // Two calls with an expired session open one new session.
    let late = |end: Vec<Step>| {
        [vec![wait(1)], end]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    };
    let answers = [
        late(expired()),
        late(expired()),
        opened("2025-11-25"),
        text("1"),
        text("2"),
    ];
    let (client, script, _inbound) = session(Client::builder(), answers).await;
    let (one, two) = tokio::join!(
        client.call("a", ()).into_future(),
        client.call("b", ()).into_future()
    );
    assert!(one.is_ok() && two.is_ok());
    let sessions = methods(&script)
        .iter()
        .filter(|method| *method == "initialize")
        .count();
    assert_eq!(sessions, 2);

    let answers = [expired(), vec![refuse(500, error_text())]];
    let (client, _script, _inbound) = session(Client::builder(), answers).await;
    assert!(client.call("a", ()).await.unwrap_err().fault().is_some());
    let answers = [expired(), opened("2030-01-01")];
    let (client, _script, _inbound) = session(Client::builder(), answers).await;
    assert!(
        client
            .call("a", ())
            .await
            .unwrap_err()
            .supported_versions()
            .is_some()
    );
}

fn error_text() -> String {
    error(codes::INTERNAL_ERROR, &Value::Null)
}

#[tokio::test]
async fn list_change_without_declared_capability_is_obeyed() {
    let undeclared = vec![result(&json!({
        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
        "serverInfo": {"name": "old", "version": "0.9"},
    }))];
    let (script, inbound) = Script::session([undeclared]);
    let client = Client::builder()
        .mode(ConnectMode::Legacy)
        .connect(Over(script.channel()))
        .await
        .unwrap();
    let mut changes = client.changes().tools_changed().await.unwrap();
    assert!(!changes.granted().tools_list_changed);
    for method in [
        "notifications/prompts/list_changed",
        "notifications/tools/list_changed",
    ] {
        tell(&inbound, &json!({"jsonrpc": "2.0", "method": method}));
    }
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Tools);
}

#[tokio::test]
async fn misjudged_server_gets_a_session_once() {
    let not_initialized = || {
        vec![say(
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32600,"message":"call initialize first"}}"#,
        )]
    };
    let (script, _inbound) = Script::session([
        vec![result(&json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        }))],
        not_initialized(),
        opened("2025-11-25"),
        text("a"),
        text("b"),
    ]);
    let client = Client::builder()
        .connect(Over(script.channel()))
        .await
        .unwrap();
    assert!(client.protocol_version().is_modern());
    assert_eq!(client.call("a", ()).await.unwrap().text(), "a");
    assert_eq!(client.call("b", ()).await.unwrap().text(), "b");
    let called = [
        "server/discover",
        "tools/call",
        "initialize",
        "tools/call",
        "tools/call",
    ];
    assert_eq!(methods(&script), called);
    assert!(!client.protocol_version().is_modern());

    // A server that refuses `initialize`, too, keeps its error.
    let (script, _inbound) = Script::session([
        vec![result(&json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        }))],
        not_initialized(),
        no_method(),
    ]);
    let client = Client::builder()
        .connect(Over(script.channel()))
        .await
        .unwrap();
    let error = client.call("a", ()).await.unwrap_err();
    assert!(
        error.to_string().contains("call initialize first"),
        "{error}"
    );
    assert!(!error.may_have_run());
    assert!(client.protocol_version().is_modern());
}
