//! Messages that pass a relay, and failures of its sides.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use http::HeaderValue;
use mcp::gateway::{Relay, RelayError};
use mcp::{HttpChannel, HttpClient};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::kit::{Lines, http_shop, meta};

const SESSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

fn call(id: i64, tool: &str, arguments: Value, meta: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments, "_meta": meta } })
}

#[tokio::test]
async fn calls_of_every_session_revision_pass_with_progress() {
    for version in SESSIONS {
        let mut lines = Lines::to_shop().await;
        let opened = lines.initialize(version).await;
        assert_eq!(opened["result"]["protocolVersion"], version, "{opened}");
        let token = json!({ "progressToken": "p" });
        lines
            .send(call(1, "add", json!({ "a": 1, "b": 2 }), token))
            .await;
        let progress = lines.receive().await;
        assert_eq!(progress["method"], "notifications/progress", "{progress}");
        assert_eq!(progress["params"]["progressToken"], "p");
        let result = lines.response(1).await;
        assert_eq!(result["result"]["content"][0]["text"], "3", "{result}");
    }
}

#[tokio::test]
async fn modern_calls_pass_with_progress() {
    let mut lines = Lines::to_shop().await;
    let mut meta = meta();
    meta["progressToken"] = json!("p");
    lines
        .send(call(1, "add", json!({ "a": 1, "b": 2 }), meta))
        .await;
    let progress = lines.receive().await;
    assert_eq!(progress["params"]["progressToken"], "p", "{progress}");
    let result = lines.response(1).await;
    assert_eq!(result["result"]["content"][0]["text"], "3", "{result}");
    assert_eq!(result["result"]["resultType"], "complete");
}

#[tokio::test]
async fn session_question_reaches_client_and_answer_reaches_server() {
    let mut lines = Lines::to_shop().await;
    lines.initialize("2025-11-25").await;
    lines.send(call(1, "order", json!({}), json!({}))).await;
    let question = lines.receive().await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let answer = json!({ "action": "accept", "content": { "count": 7 } });
    lines
        .send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }))
        .await;
    let result = lines.response(1).await;
    assert_eq!(
        result["result"]["content"][0]["text"], "7 items",
        "{result}"
    );
}

#[tokio::test]
async fn question_from_modern_server_and_its_answer_pass_in_rounds() {
    let mut lines = Lines::to_shop().await;
    lines.send(call(1, "order", json!({}), meta())).await;
    let asked = lines.response(1).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let requests = asked["result"]["inputRequests"].as_object().unwrap();
    let answers: serde_json::Map<_, _> = requests
        .keys()
        .map(|key| {
            let answer = json!({ "action": "accept", "content": { "count": 7 } });
            (key.clone(), answer)
        })
        .collect();
    let mut second = call(2, "order", json!({}), meta());
    second["params"]["inputResponses"] = answers.into();
    if let Some(state) = asked["result"].get("requestState") {
        second["params"]["requestState"] = state.clone();
    }
    lines.send(second).await;
    let result = lines.response(2).await;
    assert_eq!(
        result["result"]["content"][0]["text"], "7 items",
        "{result}"
    );
}

#[tokio::test]
async fn cancelled_call_is_not_answered_and_others_go_on() {
    for is_modern in [false, true] {
        let mut lines = Lines::to_shop().await;
        let meta = if is_modern { meta() } else { json!({}) };
        if !is_modern {
            lines.initialize("2025-11-25").await;
        }
        lines.send(call(1, "wait", json!({}), meta.clone())).await;
        lines
            .send(
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": { "requestId": 1, "reason": "enough" } }),
            )
            .await;
        lines
            .send(call(2, "add", json!({ "a": 1, "b": 2 }), meta))
            .await;
        let next = lines.receive().await;
        assert_eq!(next["id"], 2, "{next}");
    }
}

#[tokio::test]
async fn hidden_tools_are_not_listed_and_not_called() {
    let channel = HttpChannel::new(http_shop().await).unwrap();
    let mut lines = Lines::over(Relay::new(channel).hide_tools(|name| name == "wait"));
    lines
        .send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list",
            "params": { "_meta": meta() } }))
        .await;
    let list = lines.response(1).await;
    let names: Vec<_> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["add", "order", "open"]);
    // The server does not see these calls.
    let channel = HttpChannel::new("http://127.0.0.1:1/mcp").unwrap();
    let mut lines = Lines::over(Relay::new(channel).hide_tools(|name| name == "wait"));
    let names = [json!("wait"), json!(["wait"]), json!(7), Value::Null];
    for (id, name) in (2..).zip(names) {
        let mut call = call(id, "wait", json!({}), meta());
        call["params"]["name"] = name;
        lines.send(call).await;
        let refused = lines.response(id).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

/// A server that looks at the method alone would run it.
#[tokio::test]
async fn request_without_an_id_is_not_passed_on() {
    let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
    let client = HttpClient::new().unwrap();
    let client = client.map_request(move |request: http::Request<bytes::Bytes>| {
        if let Ok(message) = serde_json::from_slice::<Value>(request.body()) {
            let _ = sender.send(message["method"].clone());
        }
        request
    });
    let channel = HttpChannel::with_service(http_shop().await, client).unwrap();
    let mut lines = Lines::over(Relay::new(channel).hide_tools(|name| name == "wait"));
    lines.initialize("2025-06-18").await;
    for name in ["wait", "add"] {
        let mut call = call(0, name, json!({}), json!({}));
        call.as_object_mut().unwrap().remove("id");
        lines.send(call).await;
    }
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
    lines.send(changed).await;
    lines
        .send(call(1, "add", json!({ "a": 1, "b": 2 }), json!({})))
        .await;
    lines.response(1).await;
    let mut methods = Vec::new();
    while methods.len() < 4 {
        methods.push(received.recv().await.unwrap());
    }
    assert_eq!(
        methods
            .iter()
            .filter(|method| *method == "tools/call")
            .count(),
        1,
        "{methods:?}"
    );
    assert!(methods.contains(&json!("notifications/roots/list_changed")));
}

#[tokio::test]
async fn request_that_cannot_be_delivered_gets_an_error_and_the_relay_goes_on() {
    let channel = HttpChannel::new("http://127.0.0.1:1/mcp").unwrap();
    let mut lines = Lines::over(Relay::new(channel));
    for id in 1..3 {
        lines.send(call(id, "add", json!({}), meta())).await;
        let failed = lines.response(id).await;
        let message = failed["error"]["message"].as_str().unwrap();
        assert!(message.contains("cannot connect"), "{failed}");
    }
}

#[tokio::test]
async fn bad_messages_get_json_rpc_errors() {
    let mut lines = Lines::to_shop().await;
    for (text, code) in [
        ("{", -32700),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#,
            -32602,
        ),
    ] {
        lines.send_text(text).await;
        let error = lines.receive().await;
        assert_eq!(error["error"]["code"], code, "{text}: {error}");
    }
}

#[tokio::test]
async fn more_calls_than_the_limit_are_refused() {
    let channel = HttpChannel::new(http_shop().await).unwrap();
    let mut lines = Lines::over(Relay::new(channel).max_calls(1));
    lines.send(call(1, "wait", json!({}), meta())).await;
    lines.send(call(1, "wait", json!({}), meta())).await;
    lines.send(call(2, "wait", json!({}), meta())).await;
    let refused = lines.response(2).await;
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("1 requests wait"), "{refused}");
}

#[tokio::test]
async fn relay_ends_when_the_client_closes_its_stream() {
    let mut lines = Lines::to_shop().await;
    lines.initialize("2025-11-25").await;
    lines.input.close_channel();
    let ended: Result<(), RelayError> = lines.ended.await.unwrap();
    ended.unwrap();
}

#[tokio::test]
async fn session_that_the_server_has_lost_is_opened_again() {
    // spec: SESS-08
    let is_lost = Arc::new(AtomicBool::new(false));
    let sessions = Arc::new(AtomicUsize::new(0));
    let (lost, opened) = (Arc::clone(&is_lost), Arc::clone(&sessions));
    let client = HttpClient::new().unwrap();
    let client = client.map_request(move |mut request: http::Request<bytes::Bytes>| {
        if request.method() == http::Method::POST {
            match request.headers_mut().get_mut("mcp-session-id") {
                // The server answers 404, as after a restart.
                Some(id) if lost.swap(false, Ordering::Relaxed) => {
                    *id = HeaderValue::from_static("unknown");
                }
                Some(_) => {}
                None => drop(opened.fetch_add(1, Ordering::Relaxed)),
            }
        }
        request
    });
    let channel = HttpChannel::with_service(http_shop().await, client).unwrap();
    let mut lines = Lines::over(Relay::new(channel));
    lines.initialize("2025-11-25").await;
    for id in 1..4 {
        is_lost.store(id == 2, Ordering::Relaxed);
        lines
            .send(call(id, "add", json!({ "a": 1, "b": 2 }), json!({})))
            .await;
        let result = lines.response(id).await;
        assert_eq!(result["result"]["content"][0]["text"], "3", "{result}");
    }
    assert_eq!(sessions.load(Ordering::Relaxed), 2);
    // Questions arrive in the new session.
    lines.send(call(5, "order", json!({}), json!({}))).await;
    let question = lines.receive().await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
}

#[tokio::test]
async fn argument_that_a_header_repeats_needs_no_list_by_the_client() {
    // spec: XHDR-20
    let mut lines = Lines::to_shop().await;
    for id in 1..3 {
        lines
            .send(call(id, "open", json!({ "region": "eu" }), meta()))
            .await;
        let result = lines.response(id).await;
        assert_eq!(
            result["result"]["content"][0]["text"], "open in eu",
            "{result}"
        );
    }
}
