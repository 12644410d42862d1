//! Handlers that send requests to their client.

use mcp_core::{Exchange, Input, Reply};
use mcp_types::{ElicitFormParams, ElicitParams, FormSchema, InputRequest};
use serde_json::{Value, json};

use super::*;
use crate::server::{AnswerMode, Sessions};

/// Sends an elicitation request.
pub(super) async fn ask(exchange: Exchange) -> Reply {
    let form = ElicitParams::from(ElicitFormParams::new("Go on?", FormSchema::new()));
    answer_of(&exchange, form.into()).await
}

/// Sends `roots/list`, which all legacy revisions have.
pub(super) async fn roots(exchange: Exchange) -> Reply {
    answer_of(&exchange, InputRequest::ListRoots).await
}

async fn answer_of(exchange: &Exchange, question: InputRequest) -> Reply {
    let Input::Live { channel, sink } = &exchange.input else {
        return text("nobody to ask");
    };
    match channel.clone().ask(question, sink.clone()).await {
        Ok(_) => text("accepted"),
        Err(error) => text(&error.to_string()),
    }
}

pub(super) fn accept(id: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "accept", "content": {} } })
}

fn said(message: &Value) -> &str {
    message["result"]["content"][0]["text"].as_str().unwrap()
}

#[tokio::test(start_paused = true)]
async fn server_request_is_sent_on_the_stream_for_its_call() {
    // spec: HTTP-SL-03, HTTP-SL-04
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let mut standalone = peer.get().await;
    let mut got = peer.tool(1, "ask").await;
    assert!(got.is_stream());
    let question = got.event().await.data.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(peer.send(accept(&question["id"])).await.status, 202);
    let answers = got.messages().await;
    assert_eq!(answers.len(), 1);
    assert_eq!(
        (&answers[0]["id"], said(&answers[0])),
        (&json!(1), "accepted")
    );
    assert_eq!(standalone.frame().await.as_deref(), Some(":\n\n"));
    assert_eq!(standalone.frame_now(), None);
}

#[tokio::test(start_paused = true)]
async fn client_response_completes_only_its_request() {
    // spec: SESS-11
    let (endpoint, _) = endpoint();
    let (mine, yours) = (Peer::open(&endpoint).await, Peer::open(&endpoint).await);
    let (mut first, mut second) = (mine.tool(1, "ask").await, mine.tool(2, "ask").await);
    let mut third = yours.tool(1, "ask").await;
    let asked = |event: Event| event.data.unwrap()["id"].clone();
    let (one, two) = (asked(first.event().await), asked(second.event().await));
    let three = asked(third.event().await);
    assert_ne!(one, two);
    // Each session has its own request ids.
    assert_eq!(one, three);
    assert_eq!(mine.send(accept(&two)).await.status, 202);
    assert_eq!(said(&second.messages().await[0]), "accepted");
    assert_eq!((first.frame_now(), third.frame_now()), (None, None));
    assert_eq!(yours.send(accept(&three)).await.status, 202);
    assert_eq!(said(&third.messages().await[0]), "accepted");
    assert_eq!(first.frame_now(), None);
    assert_eq!(mine.send(accept(&one)).await.status, 202);
    assert_eq!(said(&first.messages().await[0]), "accepted");
    // A late response is accepted. A response without a request is rejected.
    assert_eq!(mine.send(accept(&one)).await.status, 202);
    let foreign = mine.send(accept(&json!(99))).await.refusal().await;
    assert_eq!(foreign, (400, -32600));
}

/// Answers that are refused, with `ID` in place of the id.
pub(super) const REFUSED: [&str; 4] = [
    r#"{"id":ID,"result":{"action":"accept"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"no"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":"no"}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"x":NaN}}"#,
];

/// Asserts that the call has ended because its client gave no valid answer.
pub(super) fn assert_refused(message: &Value) {
    let text = said(message);
    assert!(
        text.starts_with("the client did not answer: invalid "),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn refused_answer_ends_its_call_at_once() {
    for answer in REFUSED {
        let (endpoint, _) = endpoint();
        let (peer, other) = (Peer::open(&endpoint).await, Peer::open(&endpoint).await);
        let mut got = peer.tool(1, "ask").await;
        let asked = got.event().await.data.unwrap()["id"].to_string();
        let send = async |peer: &Peer, text: String| {
            peer.call(peer.request(Method::POST, text)).await.status
        };
        // A request is not an answer, and another session's client does not answer for this one.
        let request = format!(r#"{{"id":{asked},"method":"ping"}}"#);
        assert_eq!(send(&peer, request).await, 400);
        assert_eq!(send(&other, answer.replace("ID", &asked)).await, 400);
        assert_eq!(got.frame_now(), None);
        assert_eq!(send(&peer, answer.replace("ID", &asked)).await, 400);
        let told = got.messages().await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert_refused(&told[0]);
    }
}

#[tokio::test(start_paused = true)]
async fn answer_with_other_headers_ends_its_call_at_once() {
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let mut got = peer.tool(1, "ask").await;
    let asked = got.event().await.data.unwrap()["id"].clone();
    let mut request = peer.request(Method::POST, accept(&asked).to_string());
    let method = "ping".parse().unwrap();
    request.headers_mut().insert(names::MCP_METHOD, method);
    assert_eq!(peer.call(request).await.status, 400);
    let told = got.messages().await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        said(&told[0]).starts_with("the client did not answer: "),
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn unanswered_server_request_times_out() {
    // spec: LIFE-12, CAN-01
    let (endpoint, _) = endpoint();
    let sessions = Sessions::in_memory().ask_timeout(Duration::from_secs(20));
    let peer = Peer::open(&endpoint.sessions(sessions)).await;
    let mut got = peer.tool(1, "ask").await;
    let asked = got.event().await.data.unwrap()["id"].clone();
    let begin = tokio::time::Instant::now();
    let told = got.messages().await;
    assert_eq!(told[0]["method"], "notifications/cancelled");
    assert_eq!(told[0]["params"]["requestId"], asked);
    assert_eq!(said(&told[1]), "the client did not answer in time");
    assert!(
        begin.elapsed() < Duration::from_secs(41),
        "{:?}",
        begin.elapsed()
    );
    // The client could not know: its answer is accepted and ignored.
    assert_eq!(peer.send(accept(&asked)).await.status, 202);
}

#[tokio::test(start_paused = true)]
async fn answer_for_a_cancelled_call_is_accepted() {
    // spec: CAN-06
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let mut got = peer.tool(1, "ask").await;
    let asked = got.event().await.data.unwrap()["id"].clone();
    assert_eq!(peer.send(cancelled(1)).await.status, 202);
    while got.frame().await.is_some() {}
    assert_eq!(peer.send(accept(&asked)).await.status, 202);
}

#[tokio::test(start_paused = true)]
async fn handler_without_back_channel_has_no_live_input() {
    let (endpoint, _) = endpoint();
    let json = endpoint
        .clone()
        .sessions(Sessions::in_memory().answer(AnswerMode::AlwaysJson));
    let got = Peer::open(&json).await.tool(1, "ask").await;
    assert_eq!(said(&got.json().await), "nobody to ask");
    let stateless = Peer::new(&endpoint.sessions(Sessions::stateless()));
    let got = stateless.tool(1, "ask").await;
    assert_eq!(said(&got.json().await), "nobody to ask");
}

#[tokio::test(start_paused = true)]
async fn deleted_session_ends_a_waiting_server_request() {
    let (endpoint, tools) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let mut got = peer.tool(1, "ask").await;
    got.event().await;
    drop(got);
    assert_eq!(peer.delete().await.status, 200);
    settle().await;
    assert_eq!(tools.waiting(), (0, 0));
    assert_eq!(endpoint.session_count(), 0);
}
