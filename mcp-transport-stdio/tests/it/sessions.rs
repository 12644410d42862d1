//! The legacy era on a pipe, alone and beside the modern one.

use std::time::Duration;

use mcp_core::{ChangeBus, ChangeEvent};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::time::sleep;

use crate::kit::{Peer, cancel};

fn request(id: i64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

async fn initialize(peer: &mut Peer, version: &str) -> Value {
    let params = json!({
        "protocolVersion": version,
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "by hand", "version": "1" },
    });
    peer.say(request(0, "initialize", &params)).await;
    let answer = peer.expect().await;
    assert_eq!(answer["id"], 0);
    peer.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    answer["result"].clone()
}

async fn call(peer: &mut Peer, id: i64, tool: &str) {
    let params = json!({ "name": tool, "arguments": {} });
    peer.say(request(id, "tools/call", &params)).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_from_its_first_message_to_its_last() {
    let mut peer = Peer::start();
    let result = initialize(&mut peer, "2025-06-18").await;
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(result["serverInfo"]["name"], "obedient");
    call(&mut peer, 1, "hello").await;
    let answer = peer.expect().await;
    let expected = json!({
        "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "type": "text", "text": "hello" }] },
    });
    assert_eq!(answer, expected);
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn both_eras_on_one_pipe() {
    let mut peer = Peer::start();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    // A probe, and then a client that would rather have a session.
    peer.say(request(1, "server/discover", &json!({ "_meta": meta })))
        .await;
    assert_eq!(peer.expect().await["result"]["resultType"], "complete");
    initialize(&mut peer, "2025-11-25").await;
    call(&mut peer, 2, "legacy").await;
    assert_eq!(peer.expect().await["result"].get("resultType"), None);
    peer.call(3, "modern").await;
    assert_eq!(peer.expect().await["result"]["resultType"], "complete");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn early_requests_are_answered() {
    let mut peer = Peer::start();
    for (id, method, params) in [
        (1, "ping", json!({})),
        (2, "logging/setLevel", json!({ "level": "debug" })),
        (3, "tools/call", json!({ "name": "early", "arguments": {} })),
    ] {
        peer.say(request(id, method, &params)).await;
        let answer = peer.expect().await;
        assert_eq!(answer["id"], id);
        assert!(answer["result"].is_object(), "{answer}");
    }
    initialize(&mut peer, "2024-11-05").await;
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_version_is_offered_another() {
    let mut peer = Peer::start();
    let result = initialize(&mut peer, "1999-01-01").await;
    assert_eq!(result["protocolVersion"], "2025-11-25");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn asks_its_client_while_a_call_runs() {
    let mut peer = Peer::start();
    initialize(&mut peer, "2025-11-25").await;
    call(&mut peer, 1, "ask").await;
    let question = peer.expect().await;
    assert_eq!(question["method"], "elicitation/create");
    // The pipe goes on meanwhile.
    call(&mut peer, 2, "now").await;
    assert_eq!(peer.answer(2).await, "now");
    let id = &question["id"];
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "decline" } });
    peer.say(answer.clone()).await;
    assert!(peer.answer(1).await.contains("Decline"));
    // Late and unknown answers do no harm.
    peer.say(answer).await;
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_question_is_taken_back_with_its_call() {
    let mut peer = Peer::start();
    initialize(&mut peer, "2025-11-25").await;
    call(&mut peer, 1, "ask").await;
    let question = peer.expect().await;
    peer.say(cancel(1)).await;
    let note = peer.expect().await;
    assert_eq!(note["method"], "notifications/cancelled");
    assert_eq!(note["params"]["requestId"], question["id"]);
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn questions_end_in_time_or_with_the_client() {
    let mut peer = Peer::start();
    initialize(&mut peer, "2025-11-25").await;
    call(&mut peer, 1, "ask").await;
    assert_eq!(peer.expect().await["method"], "elicitation/create");
    sleep(Duration::from_secs(301)).await;
    assert_eq!(peer.expect().await["method"], "notifications/cancelled");
    assert!(peer.answer(1).await.contains("in time"));
    call(&mut peer, 2, "ask").await;
    assert_eq!(peer.expect().await["method"], "elicitation/create");
    peer.writer.shutdown().await.unwrap();
    assert!(peer.answer(2).await.contains("session ended"));
    assert_eq!(peer.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn changes_are_told_once_the_session_is_ready() {
    let mut peer = Peer::start();
    let bus = peer.service.bus.clone();
    bus.publish(ChangeEvent::Tools);
    initialize(&mut peer, "2025-11-25").await;
    call(&mut peer, 1, "now").await;
    peer.answer(1).await;
    for _ in 0..3 {
        bus.publish(ChangeEvent::Tools);
    }
    let note = peer.expect().await;
    assert_eq!(note["method"], "notifications/tools/list_changed");
    bus.publish(ChangeEvent::Resource { uri: "a:b".into() });
    peer.say(request(2, "resources/subscribe", &json!({ "uri": "a:b" })))
        .await;
    assert_eq!(peer.expect().await["id"], 2);
    bus.publish(ChangeEvent::Resource { uri: "a:b".into() });
    let note = peer.expect().await;
    assert_eq!(note["method"], "notifications/resources/updated");
    assert_eq!(note["params"]["uri"], "a:b");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn batches_of_the_one_revision_that_has_them() {
    let batch = |id: i64| {
        let ping = request(id, "ping", &json!({}));
        json!([ping, { "jsonrpc": "2.0", "method": "notifications/initialized" }])
    };
    for (version, is_taken) in [("2025-03-26", true), ("2025-06-18", false)] {
        let mut peer = Peer::start();
        initialize(&mut peer, version).await;
        peer.say(batch(5)).await;
        let answer = peer.expect().await;
        assert_eq!(answer["id"] == 5, is_taken, "{answer}");
        assert_eq!(answer["error"]["code"] == -32600, !is_taken, "{answer}");
        peer.close().await;
    }
}
