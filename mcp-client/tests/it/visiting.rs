//! Calls that require the user to visit URLs.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_client::{
    Client, ClientBuilder, ConnectMode, ElicitRequest, Error, InputError, Over, UrlRequest,
};
use mcp_core::{Fault, Frame};
use mcp_types::{ElicitResult, codes};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, sleep};

use crate::script::{Script, Step, error, result, say};

fn opened() -> Vec<Step> {
    vec![result(&json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "old", "version": "1"},
    }))]
}

fn visit_first(ids: &[&str]) -> Vec<Step> {
    let elicitations = ids.iter().map(|id| {
        json!({"mode": "url", "message": "Sign in", "elicitationId": id,
            "url": format!("https://example.com/{id}")})
    });
    let data = json!({"elicitations": elicitations.collect::<Vec<_>>()});
    vec![say(error(codes::URL_ELICITATION_REQUIRED, &data))]
}

fn done() -> Vec<Step> {
    vec![result(
        &json!({"content": [{"type": "text", "text": "done"}]}),
    )]
}

fn over(id: &str) -> Frame {
    let params = json!({"elicitationId": id});
    let note =
        json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": params});
    Frame::new(note.to_string())
}

async fn session(
    builder: ClientBuilder,
    answers: impl IntoIterator<Item = Vec<Step>>,
) -> (Client, Arc<Script>, UnboundedSender<Frame>) {
    let (script, inbound) = Script::session([opened()].into_iter().chain(answers));
    let builder = builder.mode(ConnectMode::Legacy);
    let client = builder.connect(Over(script.channel())).await.unwrap();
    (client, script, inbound)
}

/// Returns the tool calls that were sent.
fn calls(script: &Script) -> Vec<Value> {
    let sent = script.sent().into_iter().map(|sent| sent.body);
    sent.filter(|body| body["method"] == "tools/call").collect()
}

fn agrees() -> ClientBuilder {
    Client::builder().on_elicit_url(|_: UrlRequest| async { ElicitResult::accept_url() })
}

fn is_visit_first(error: &Error) -> bool {
    matches!(error.fault(), Some(Fault::UrlElicitationRequired { .. }))
}

#[tokio::test(start_paused = true)]
async fn call_is_repeated_after_all_visits() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let builder = Client::builder().on_elicit_url(move |visit: UrlRequest| {
        let at = count.fetch_add(1, Ordering::SeqCst);
        async move {
            assert_eq!(
                visit.url().as_str(),
                format!("https://example.com/{}", ["a", "b"][at])
            );
            assert_eq!(visit.asker.item.as_deref(), Some("pay"));
            ElicitResult::accept_url()
        }
    });
    let (client, script, inbound) = session(builder, [visit_first(&["a", "b"]), done()]).await;
    let begin = Instant::now();
    tokio::spawn(async move {
        for id in ["a", "unknown", "b"] {
            sleep(Duration::from_secs(100)).await;
            inbound.send(over(id)).unwrap();
        }
        pending::<()>().await;
    });
    // The time of the user does not count towards the timeout of 60 seconds.
    let result = client.call("pay", json!({"sum": 3})).await.unwrap();
    assert_eq!(result.text(), "done");
    assert_eq!(begin.elapsed().as_secs(), 300);
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    let calls = calls(&script);
    assert_eq!(calls.len(), 2);
    assert_eq!(
        calls[0]["params"]["arguments"],
        calls[1]["params"]["arguments"]
    );
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    assert_eq!(calls[1]["params"].get("inputResponses"), None);
}

#[tokio::test(start_paused = true)]
async fn call_is_repeated_after_completion_timeout() {
    let (client, _, _inbound) = session(agrees(), [visit_first(&["a"]), done()]).await;
    let begin = Instant::now();
    assert_eq!(client.call("pay", ()).await.unwrap().text(), "done");
    assert_eq!(begin.elapsed().as_secs(), 300);

    // The handler can complete the visit, too.
    let builder = Client::builder().on_elicit_url(|visit: UrlRequest| async move {
        visit.complete();
        visit.completed().await;
        ElicitResult::accept_url()
    });
    let (client, _, _inbound) = session(builder, [visit_first(&["a"]), done()]).await;
    let begin = Instant::now();
    assert_eq!(client.call("pay", ()).await.unwrap().text(), "done");
    assert_eq!(begin.elapsed().as_secs(), 0);
}

#[tokio::test(start_paused = true)]
async fn declined_or_repeated_visits_fail_call() {
    // The user declines.
    let refuses =
        Client::builder().on_elicit_url(|_: UrlRequest| async { ElicitResult::decline() });
    let (client, script, _inbound) = session(refuses, [visit_first(&["a"]), done()]).await;
    let error = client.call("pay", ()).await.unwrap_err();
    let Some(InputError::NotConfirmed { url, .. }) = error.input() else {
        panic!("{error}")
    };
    assert_eq!(url, "https://example.com/a");
    assert_eq!(calls(&script).len(), 1);

    // The server refuses the call again after the visit.
    let answers = [visit_first(&["a"]), visit_first(&["a"]), done()];
    let (client, script, _inbound) = session(agrees(), answers).await;
    let error = client.call("pay", ()).await.unwrap_err();
    assert!(is_visit_first(&error), "{error}");
    assert_eq!(calls(&script).len(), 2);

    // The client has no handler for URLs.
    let (client, _, _inbound) = session(Client::builder(), [visit_first(&["a"])]).await;
    let error = client.call("pay", ()).await.unwrap_err();
    assert!(is_visit_first(&error), "{error}");

    // The number of rounds is limited.
    let ids = ["a", "b", "c", "d"];
    let answers = ids.map(|id| visit_first(&[id]));
    let (client, _, _inbound) = session(agrees().max_input_rounds(3), answers).await;
    let error = client.call("pay", ()).await.unwrap_err();
    assert!(
        matches!(error.input(), Some(InputError::Round(_))),
        "{error}"
    );

    // The client is closed during the visit.
    let (client, _, _inbound) = session(agrees(), [visit_first(&["a"]), done()]).await;
    let closing = client.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(10)).await;
        closing.close().await.unwrap();
    });
    let begin = Instant::now();
    assert!(client.call("pay", ()).await.unwrap_err().is_closed());
    assert_eq!(begin.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn step_returns_required_urls() {
    let answers = [visit_first(&["a"]), done()];
    let (client, script, _inbound) = session(agrees(), answers).await;
    let mcp_client::Step::InputRequired(asks) = client.call("pay", ()).step().await.unwrap() else {
        panic!("the server wants a visit first")
    };
    let answers: Vec<_> = asks.requests().keys().cloned().collect();
    let answers = answers
        .into_iter()
        .map(|key| (key, ElicitResult::accept_url()));
    let begin = Instant::now();
    let mcp_client::Step::Done(result) = asks.answer(answers).await.unwrap() else {
        panic!("the visit is over")
    };
    // The caller decides when the visit is completed.
    assert_eq!(begin.elapsed().as_secs(), 0);
    assert_eq!(result.text(), "done");
    assert_eq!(calls(&script).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn session_elicitation_waits_for_completion() {
    let builder = Client::builder().on_elicit_url(|visit: UrlRequest| async move {
        visit.completed().await;
        ElicitResult::accept_url()
    });
    let (_client, script, inbound) = session(builder, []).await;
    let params = json!({"mode": "url", "message": "Pay", "url": "https://example.com", "elicitationId": "e"});
    let ask = json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params});
    inbound.send(Frame::new(ask.to_string())).unwrap();
    sleep(Duration::from_secs(1000)).await;
    assert_eq!(script.notes(1).await.len(), 1, "nothing but `initialized`");
    inbound.send(over("e")).unwrap();
    let answer = script.notes(2).await.pop().unwrap().body;
    assert_eq!(
        answer,
        json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "accept"}})
    );
}

/// URLs that would run code or programs, or that are read by anybody on the way.
const UNSAFE_URLS: [&str; 6] = [
    "javascript:alert(1)",
    "file:///etc/passwd",
    "vscode://extension/install",
    "http://example.com/login",
    "data:text/html,<script>1</script>",
    "no url",
];

fn never_asked() -> ClientBuilder {
    Client::builder().on_elicit_url(|visit: UrlRequest| async move {
        panic!("the handler receives {}", visit.url());
        #[expect(unreachable_code, reason = "the type of the handler")]
        ElicitResult::accept_url()
    })
}

// spec: ELIC-14
#[tokio::test]
async fn unsafe_url_never_reaches_the_handler_or_step_caller() {
    for url in UNSAFE_URLS {
        // A round of 2026-07-28 with a harmless request before it.
        let form = json!({"method": "elicitation/create", "params": {
            "message": "m", "requestedSchema": {"type": "object", "properties": {}},
        }});
        let visit = json!({"method": "elicitation/create", "params": {
            "mode": "url", "message": "Sign in", "url": url,
        }});
        let round = || {
            vec![result(&json!({
                "resultType": "input_required", "inputRequests": {"a": form, "b": visit},
            }))]
        };
        let builder = never_asked().on_elicit(|_: ElicitRequest| async {
            panic!("no handler of the round runs");
            #[expect(unreachable_code, reason = "the type of the handler")]
            ElicitResult::decline()
        });
        let mode = ConnectMode::Pin(mcp_types::ProtocolVersion::LATEST);
        let script = Script::new([round(), round()]);
        let client = builder
            .mode(mode)
            .connect(Over(script.channel()))
            .await
            .unwrap();
        let error = client.call("pay", ()).await.unwrap_err();
        let is_refused = matches!(error.input(), Some(InputError::UnsafeUrl(_)));
        assert!(is_refused, "{url}: {error}");
        let error = client.call("pay", ()).step().await.unwrap_err();
        assert!(error.input().is_some(), "{url}: {error}");

        // The error -32042 of 2025-11-25.
        let required = json!({"elicitations": [
            {"mode": "url", "message": "Sign in", "elicitationId": "e", "url": url},
        ]});
        let answers = [vec![say(error_text(&required))]];
        let (client, script, _inbound) = session(never_asked(), answers).await;
        let error = client.call("pay", ()).await.unwrap_err();
        let is_refused = matches!(error.input(), Some(InputError::UnsafeUrl(_)));
        assert!(is_refused, "{url}: {error}");
        assert_eq!(calls(&script).len(), 1);

        // A request in a session.
        let (_client, script, inbound) = session(never_asked(), []).await;
        let params = json!({"mode": "url", "message": "m", "url": url, "elicitationId": "e"});
        let ask =
            json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params});
        inbound.send(Frame::new(ask.to_string())).unwrap();
        let answer = script.notes(2).await.pop().unwrap().body;
        assert_eq!(answer["error"]["code"], codes::INVALID_PARAMS, "{answer}");
    }
}

fn error_text(data: &Value) -> String {
    error(codes::URL_ELICITATION_REQUIRED, data)
}

#[tokio::test]
async fn many_required_urls_are_refused() {
    let ids: Vec<_> = (0..5000).map(|number| number.to_string()).collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let (client, script, _inbound) = session(never_asked(), [visit_first(&ids)]).await;
    let error = client.call("pay", ()).await.unwrap_err();
    assert!(is_visit_first(&error), "{error}");
    assert_eq!(calls(&script).len(), 1);
}
