//! Modern subscriptions.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use http::StatusCode;
use mcp_client::{Change, Client, ConnectMode, Error, Over, Subscription};
use mcp_core::{ChannelError, CloseReason};
use mcp_types::{ProtocolVersion, SubscriptionFilter, codes};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::script::{Script, Step, error, refuse, result, say, wait};

const KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// A notification with the subscription id of the request. `params` must be an object.
fn note(method: &str, params: &Value) -> Step {
    let mut params = params.clone();
    params["_meta"] = json!({KEY: "HERE"});
    let text = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
    say(text.replace("\"HERE\"", "$ID"))
}

fn ack(granted: &Value) -> Step {
    note(
        "notifications/subscriptions/acknowledged",
        &json!({"notifications": granted}),
    )
}

fn everything() -> Value {
    json!({"toolsListChanged": true, "resourceSubscriptions": ["config://app"]})
}

fn tools() -> Step {
    note("notifications/tools/list_changed", &json!({}))
}

fn updated(uri: &str) -> Step {
    note("notifications/resources/updated", &json!({"uri": uri}))
}

fn end() -> Step {
    let meta = json!({KEY: 1});
    result(&json!({"resultType": "complete", "_meta": meta}))
}

fn broken() -> Step {
    Step::Fail(ChannelError::Broken { source: None })
}

async fn subscribe(script: &Arc<Script>) -> Result<Subscription, Error> {
    let client = script.client().await;
    client.subscribe(["config://app"]).tools_changed().await
}

async fn next(changes: &mut Subscription) -> Change {
    changes.next().await.unwrap().unwrap()
}

// spec: SUB-09
#[tokio::test]
async fn subscription_yields_changes_until_end() {
    let script = Script::new([vec![
        ack(&everything()),
        tools(),
        updated("config://app"),
        updated("config://app/log"),
        tools(),
        end(),
    ]]);
    let changes = subscribe(&script).await.unwrap();
    assert_eq!(
        changes.granted(),
        &SubscriptionFilter::new()
            .resource("config://app")
            .tools_changed()
    );
    assert!(changes.refused().is_empty());
    let told: Vec<_> = changes.map(Result::unwrap).collect().await;
    let resource = |uri: &str| Change::Resource {
        uri: uri.to_owned(),
    };
    assert_eq!(
        told,
        [
            Change::Tools,
            resource("config://app"),
            resource("config://app/log"),
            Change::Tools
        ]
    );
    let sent = &script.sent()[0];
    assert_eq!(sent.body["method"], "subscriptions/listen");
    assert_eq!(sent.body["params"]["notifications"], everything());
    assert_eq!(&*sent.mirrored.method, "subscriptions/listen");
    assert_eq!(script.cancelled(), 0);
}

#[tokio::test]
async fn refused_changes_are_listed() {
    let script = Script::new([vec![ack(&json!({"promptsListChanged": true})), wait(9)]]);
    let client = script.client().await;
    let call = client.subscribe(["file:///a", "file:///b"]);
    let changes = call
        .tools_changed()
        .prompts_changed()
        .resources_changed()
        .await
        .unwrap();
    let refused = SubscriptionFilter::new()
        .tools_changed()
        .resources_changed();
    assert_eq!(
        changes.refused(),
        refused.resource("file:///a").resource("file:///b")
    );
    drop(changes);
    assert_eq!(script.cancelled(), 1);
}

#[tokio::test]
async fn notifications_for_other_subscriptions_are_ignored() {
    // spec: SUB-07
    let other = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {KEY: "other"}}});
    let bare = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let script = Script::new([vec![
        say(other.to_string()),
        ack(&everything()),
        say(other.to_string()),
        note("notifications/prompts/list_changed", &json!({})),
        updated("file:///else"),
        note("notifications/nobody/knows", &json!({})),
        say(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#),
        // The subscription id may be missing, because the stream carries one subscription.
        say(bare.to_string()),
        end(),
    ]]);
    let changes = subscribe(&script).await.unwrap();
    let told: Vec<_> = changes.map(Result::unwrap).collect().await;
    assert_eq!(told, [Change::Tools]);
}

// spec: CAN-09
#[tokio::test]
async fn cancelled_notification_ends_subscription() {
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":$ID}}"#;
    let other = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#;
    let script = Script::new([vec![
        ack(&everything()),
        say(other),
        tools(),
        say(cancelled),
        wait(9),
    ]]);
    let changes = subscribe(&script).await.unwrap();
    assert_eq!(changes.collect::<Vec<_>>().await.len(), 1);
}

// spec: SUB-11
#[tokio::test(start_paused = true)]
async fn broken_stream_reopens_and_reports_missed() {
    let script = Script::new([
        vec![ack(&everything()), tools(), broken()],
        vec![Step::Fail(ChannelError::Connect {
            peer: "script:".to_owned(),
            source: "refused".into(),
        })],
        vec![refuse(503, error(codes::INTERNAL_ERROR, &Value::Null))],
        vec![ack(&json!({"toolsListChanged": true})), tools()],
        vec![ack(&everything()), end()],
    ]);
    let mut changes = subscribe(&script).await.unwrap();
    assert_eq!(next(&mut changes).await, Change::Tools);
    let start = Instant::now();
    let tools_alone = SubscriptionFilter::new().tools_changed();
    assert_eq!(next(&mut changes).await, Change::Missed(tools_alone));
    // The delays are 0.5, 1 and 2 seconds with jitter of at most one half.
    let waited = start.elapsed();
    assert!(
        waited >= Duration::from_millis(1750) && waited <= Duration::from_millis(3500),
        "{waited:?}"
    );
    assert_eq!(next(&mut changes).await, Change::Tools);
    assert!(matches!(next(&mut changes).await, Change::Missed(_)));
    for _ in 0..2 {
        assert!(changes.next().await.is_none());
    }
    let ids: Vec<_> = script
        .sent()
        .iter()
        .map(|sent| sent.body["id"].as_i64().unwrap())
        .collect();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn immediately_broken_streams_back_off() {
    let script = Script::new((0..50).map(|_| vec![ack(&everything()), broken()]));
    let mut changes = subscribe(&script).await.unwrap();
    let start = Instant::now();
    for _ in 0..10 {
        assert!(matches!(next(&mut changes).await, Change::Missed(_)));
    }
    // An acknowledgement does not reset the backoff: 0.5 + 1 + 2 + 4 + 8 + 16 + 4 × 30 s, or half.
    assert!(
        start.elapsed() > Duration::from_secs(75),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn unreachable_server_fails_subscription_after_retry_time() {
    let refused = || {
        Step::Fail(ChannelError::Connect {
            peer: "script:".to_owned(),
            source: "refused".into(),
        })
    };
    let gone = (0..1000).map(|_| vec![refused()]);
    let script = Script::new([vec![ack(&everything()), broken()]].into_iter().chain(gone));
    let client = script.client().await;
    let mut changes = client
        .subscribe(["config://app"])
        .retry_for(Duration::from_secs(60))
        .await
        .unwrap();
    let start = Instant::now();
    let error = changes.next().await.unwrap().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("subscriptions/listen: cannot connect"),
        "{error}"
    );
    assert!(
        start.elapsed() >= Duration::from_secs(60) && start.elapsed() < Duration::from_secs(95)
    );
    assert!(changes.next().await.is_none());
}

#[tokio::test]
async fn refused_subscription_fails() {
    let unauthorized = ChannelError::Status {
        status: StatusCode::UNAUTHORIZED,
        excerpt: String::new(),
        retry_after: None,
        challenge: None,
    };
    for (steps, message) in [
        (
            vec![say(error(codes::METHOD_NOT_FOUND, &Value::Null))],
            "no (-32601)",
        ),
        (
            vec![Step::Fail(unauthorized)],
            "HTTP status 401 Unauthorized",
        ),
        (
            vec![end()],
            "the server ended the subscription without acknowledging it",
        ),
        (vec![], "the stream ended without a response"),
        (
            vec![say("<html>")],
            "the response is not a valid message: invalid JSON",
        ),
    ] {
        let error = subscribe(&Script::new([steps]))
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(&format!("subscriptions/listen at script:: {message}")),
            "{error}"
        );
    }
    // The refusal of a reopened stream fails, too.
    let script = Script::new([vec![
        ack(&everything()),
        say(error(codes::INTERNAL_ERROR, &Value::Null)),
    ]]);
    let mut changes = subscribe(&script).await.unwrap();
    assert!(changes.next().await.unwrap().unwrap_err().fault().is_some());
    assert!(changes.next().await.is_none());
    let bad = script
        .client()
        .await
        .changes()
        .header("x y", "")
        .await
        .unwrap_err();
    assert!(bad.to_string().contains("header"), "{bad}");
}

#[tokio::test(start_paused = true)]
async fn missing_acknowledgement_times_out() {
    // Only silence before the acknowledgement is an error.
    let start = Instant::now();
    assert!(subscribe(&Script::new([])).await.unwrap_err().is_timeout());
    assert_eq!(start.elapsed().as_secs(), 60);
    let script = Script::new([vec![ack(&everything()), wait(86_400), tools(), end()]]);
    let mut changes = subscribe(&script).await.unwrap();
    assert_eq!(next(&mut changes).await, Change::Tools);
}

#[tokio::test(start_paused = true)]
async fn close_ends_subscriptions() {
    let script = Script::new([vec![ack(&everything()), wait(900)], vec![wait(900)]]);
    let mode = ConnectMode::Pin(ProtocolVersion::LATEST);
    let client = Client::builder()
        .mode(mode)
        .connect(Over(script.channel()))
        .await
        .unwrap();
    let mut changes = client.changes().tools_changed().await.unwrap();
    let closing = client.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(1)).await;
        closing.close().await.unwrap();
    });
    let waiting = client.clone();
    let (told, called, reason) =
        tokio::join!(changes.next(), client.call("add", ()), waiting.closed());
    let (told, called) = (told.unwrap().unwrap_err(), called.unwrap_err());
    assert!(told.is_closed() && called.is_closed() && !called.is_retryable());
    assert_eq!(
        called.to_string(),
        "tools/call \"add\" at script:: the connection is closed: the client has closed the connection"
    );
    assert_eq!(reason, CloseReason::Local);
    // No further request is sent.
    let sent = script.sent().len();
    assert!(client.call("add", ()).await.unwrap_err().is_closed());
    assert_eq!(script.sent().len(), sent);
    assert_eq!(client.closed().await, CloseReason::Local);
}
