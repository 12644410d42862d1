//! Legacy sessions on a pipe, alone and together with modern requests.

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
    peer.send(request(0, "initialize", &params)).await;
    let answer = peer.expect().await;
    assert_eq!(answer["id"], 0);
    peer.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    answer["result"].clone()
}

async fn call(peer: &mut Peer, id: i64, tool: &str) {
    let params = json!({ "name": tool, "arguments": {} });
    peer.send(request(id, "tools/call", &params)).await;
}

#[tokio::test(start_paused = true)]
async fn session_answers_calls_without_result_type() {
    let mut peer = Peer::start();
    let result = initialize(&mut peer, "2025-06-18").await;
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(result["serverInfo"]["name"], "tool-name");
    call(&mut peer, 1, "hello").await;
    let answer = peer.expect().await;
    let expected = json!({
        "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "type": "text", "text": "hello" }] },
    });
    assert_eq!(answer, expected);
    peer.close().await;
}

// spec: VER-09
#[tokio::test(start_paused = true)]
async fn modern_and_legacy_requests_share_one_pipe() {
    let mut peer = Peer::start();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    // A modern probe, followed by `initialize`.
    peer.send(request(1, "server/discover", &json!({ "_meta": meta })))
        .await;
    assert_eq!(peer.expect().await["result"]["resultType"], "complete");
    initialize(&mut peer, "2025-11-25").await;
    call(&mut peer, 2, "legacy").await;
    assert_eq!(peer.expect().await["result"].get("resultType"), None);
    peer.call(3, "modern").await;
    assert_eq!(peer.expect().await["result"]["resultType"], "complete");
    peer.close().await;
}

// spec: PING-01
#[tokio::test(start_paused = true)]
async fn requests_before_initialize_are_answered() {
    let mut peer = Peer::start();
    for (id, method, params) in [
        (1, "ping", json!({})),
        (2, "logging/setLevel", json!({ "level": "debug" })),
        (3, "tools/call", json!({ "name": "early", "arguments": {} })),
    ] {
        peer.send(request(id, method, &params)).await;
        let answer = peer.expect().await;
        assert_eq!(answer["id"], id);
        assert!(answer["result"].is_object(), "{answer}");
    }
    initialize(&mut peer, "2024-11-05").await;
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn initialize_with_unknown_version_offers_latest() {
    let mut peer = Peer::start();
    let result = initialize(&mut peer, "1999-01-01").await;
    assert_eq!(result["protocolVersion"], "2025-11-25");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn elicitation_during_call_reaches_client() {
    let mut peer = Peer::start();
    initialize(&mut peer, "2025-11-25").await;
    call(&mut peer, 1, "ask").await;
    let question = peer.expect().await;
    assert_eq!(question["method"], "elicitation/create");
    // Other calls run at the same time.
    call(&mut peer, 2, "now").await;
    assert_eq!(peer.answer(2).await, "now");
    let id = &question["id"];
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "decline" } });
    peer.send(answer.clone()).await;
    assert!(peer.answer(1).await.contains("Decline"));
    // A second response is ignored.
    peer.send(answer).await;
    peer.close().await;
}

// spec: STDIO-17
#[tokio::test(start_paused = true)]
async fn answer_that_is_not_a_response_ends_its_call_at_once() {
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":ID,"result":{{"x":"{}"}}}}"#,
        "x".repeat(70_000)
    );
    for line in [
        r#"{"id":ID,"result":{"action":"decline"}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"error":"no"}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"x":NaN}}"#,
        &*long,
    ] {
        let mut peer = Peer::start_with(100_000, |server| server.line_limit(65_536));
        initialize(&mut peer, "2025-11-25").await;
        call(&mut peer, 1, "ask").await;
        let question = peer.expect().await;
        let line = line.replace("ID", &question["id"].to_string());
        peer.write(format!("{line}\n").as_bytes()).await;
        // Nothing else is sent: no error for a response, and no cancellation.
        let answer = peer.answer(1).await;
        let start = line.get(..80).unwrap_or(&line);
        assert!(
            answer.contains("the client did not answer: invalid "),
            "{start}: {answer}"
        );
        peer.close().await;
    }
    // A text with the id's number is its id.
    let mut peer = Peer::start();
    initialize(&mut peer, "2025-11-25").await;
    call(&mut peer, 1, "ask").await;
    let id = peer.expect().await["id"].to_string();
    peer.send(json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "decline" } }))
        .await;
    assert!(peer.answer(1).await.contains("Decline"));
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn cancelled_call_cancels_its_elicitation() {
    let mut peer = Peer::start();
    initialize(&mut peer, "2025-11-25").await;
    call(&mut peer, 1, "ask").await;
    let question = peer.expect().await;
    peer.send(cancel(1)).await;
    let note = peer.expect().await;
    assert_eq!(note["method"], "notifications/cancelled");
    assert_eq!(note["params"]["requestId"], question["id"]);
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn elicitation_without_answer_times_out() {
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
async fn changes_after_initialized_are_notified() {
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
    peer.send(request(2, "resources/subscribe", &json!({ "uri": "a:b" })))
        .await;
    assert_eq!(peer.expect().await["id"], 2);
    bus.publish(ChangeEvent::Resource { uri: "a:b".into() });
    let note = peer.expect().await;
    assert_eq!(note["method"], "notifications/resources/updated");
    assert_eq!(note["params"]["uri"], "a:b");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn second_initialize_opens_a_new_session() {
    let mut peer = Peer::start();
    let bus = peer.service.bus.clone();
    initialize(&mut peer, "2025-11-25").await;
    peer.send(request(1, "resources/subscribe", &json!({ "uri": "a:b" })))
        .await;
    assert_eq!(peer.expect().await["id"], 1);
    call(&mut peer, 2, "ask").await;
    let question = peer.expect().await;
    call(&mut peer, 3, "wait 5").await;

    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "the next client", "version": "1" },
    });
    peer.send(request(4, "initialize", &params)).await;
    let mut answers = [peer.expect().await, peer.expect().await];
    answers.sort_by_key(|answer| answer["id"].as_i64());
    let failed = answers[0]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(failed.contains("session ended"), "{failed}");
    assert_eq!(answers[1]["result"]["protocolVersion"], "2025-06-18");
    peer.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    // The subscription has ended.
    bus.publish(ChangeEvent::Resource { uri: "a:b".into() });
    bus.publish(ChangeEvent::Tools);
    let note = peer.expect().await;
    assert_eq!(note["method"], "notifications/tools/list_changed");
    // A late response to the first session is not a response to the second one.
    call(&mut peer, 5, "ask").await;
    let second = peer.expect().await;
    assert_eq!(second["method"], "elicitation/create");
    assert_ne!(second["id"], question["id"]);
    let decline =
        |id: &Value| json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "decline" } });
    peer.send(decline(&question["id"])).await;
    call(&mut peer, 6, "now").await;
    assert_eq!(peer.answer(6).await, "now");
    peer.send(decline(&second["id"])).await;
    assert!(peer.answer(5).await.contains("Decline"));
    // The call of the first session goes on.
    assert_eq!(peer.answer(3).await, "wait 5");
    // A handshake that fails changes nothing.
    peer.send(request(7, "initialize", &json!({}))).await;
    assert_eq!(peer.refusal(json!(7)).await, -32602);
    call(&mut peer, 8, "now").await;
    assert_eq!(peer.answer(8).await, "now");
    peer.close().await;
}

#[tokio::test(start_paused = true)]
async fn batch_is_accepted_in_2025_03_26_only() {
    // spec: BASE-14, BASE-16
    let batch = |id: i64| {
        let ping = request(id, "ping", &json!({}));
        json!([ping, { "jsonrpc": "2.0", "method": "notifications/initialized" }])
    };
    for (version, is_taken) in [("2025-03-26", true), ("2025-06-18", false)] {
        let mut peer = Peer::start();
        initialize(&mut peer, version).await;
        peer.send(batch(5)).await;
        let answer = peer.expect().await;
        assert_eq!(answer["id"] == 5, is_taken, "{answer}");
        assert_eq!(answer["error"]["code"] == -32600, !is_taken, "{answer}");
        peer.close().await;
    }
}
