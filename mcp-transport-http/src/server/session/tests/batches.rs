//! Several messages in one POST (2025-03-26).

use super::*;
use crate::server::{AnswerMode, Sessions};

const R2: &str = "2025-03-26";

#[tokio::test(start_paused = true)]
async fn batch_with_ready_calls_is_answered_with_an_array() {
    // spec: BASE-14, BASE-15, HTTP-SL-01
    let (endpoint, _) = endpoint();
    let peer = Peer::new(&endpoint).speaking(R2).begin().await;
    let got = peer
        .send(json!([
            tool(1, "echo"),
            initialized(),
            { "jsonrpc": "2.0", "id": 2, "method": "ping" },
            { "jsonrpc": "2.0", "id": "x", "method": "nonsense" },
            initialize(R2),
            7,
        ]))
        .await;
    assert_eq!(got.header("mcp-session-id"), peer.session);
    let answers = got.json().await;
    let ids: Vec<_> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["id"])
        .collect();
    assert_eq!(
        ids,
        [&json!(1), &json!(2), &json!("x"), &json!(0), &Value::Null]
    );
    assert_eq!(answers[1]["result"], json!({}));
    assert_eq!(answers[2]["error"]["code"], -32601);
    assert_eq!(answers[3]["error"]["code"], -32600);
    assert_eq!(answers[4]["error"]["code"], -32600);
}

#[tokio::test(start_paused = true)]
async fn batch_with_notifications_is_answered_with_one_stream() {
    // spec: HTTP-SL-02, HTTP-SL-06
    let (endpoint, _) = endpoint();
    let peer = Peer::new(&endpoint).speaking(R2).begin().await;
    let mut got = peer
        .send(json!([tool(1, "echo"), steps(2), tool(3, "roots")]))
        .await;
    assert!(got.is_stream());
    let mut seen = Vec::new();
    let question = loop {
        let event = got.event().await.data.unwrap();
        if event["method"] == "roots/list" {
            break event["id"].clone();
        }
        seen.push(event);
    };
    let answer = json!({ "jsonrpc": "2.0", "id": question, "result": { "roots": [] } });
    assert_eq!(peer.send(json!([answer])).await.status, 202);
    seen.extend(got.messages().await);
    let mut answered: Vec<_> = seen
        .iter()
        .filter_map(|message| message["id"].as_i64())
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, [1, 2, 3]);
    let progress = seen
        .iter()
        .filter(|message| message["method"] == "notifications/progress");
    assert_eq!(progress.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn batch_in_json_mode_waits_for_all_calls() {
    let (endpoint, _) = endpoint();
    let endpoint = endpoint.sessions(Sessions::in_memory().answer(AnswerMode::AlwaysJson));
    let peer = Peer::new(&endpoint).speaking(R2).begin().await;
    let got = peer.send(json!([steps(1), tool(2, "echo")])).await;
    let answers = got.json().await;
    assert_eq!(
        (&answers[0]["id"], &answers[1]["id"]),
        (&json!(1), &json!(2))
    );
}

#[tokio::test(start_paused = true)]
async fn batch_is_accepted_only_in_2025_03_26() {
    // spec: BASE-16, HTTP-S-07
    let (endpoint, _) = endpoint();
    let peer = Peer::new(&endpoint).speaking(R2).begin().await;
    assert_eq!(peer.send(json!([initialized()])).await.status, 202);
    assert_eq!(peer.send(json!([])).await.refusal().await, (400, -32600));
    let broken = peer.call(peer.request(Method::POST, "[")).await;
    assert_eq!(broken.refusal().await, (400, -32700));
    for version in ["2025-11-25", "2025-06-18", "2024-11-05"] {
        let peer = Peer::new(&endpoint).speaking(version).begin().await;
        let got = peer.send(json!([tool(1, "echo")])).await;
        assert_eq!(got.refusal().await, (400, -32600), "{version}");
    }
    // Without a session the version header selects the revision, by default 2025-03-26.
    let stateless = Peer::new(&endpoint.sessions(Sessions::stateless()));
    let got = stateless
        .send(json!([tool(1, "echo"), tool(2, "echo")]))
        .await;
    assert_eq!(got.json().await.as_array().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn batch_contains_requests_and_notifications_for_extensions() {
    let endpoint = StreamableHttp::new(Served(Tools::with_extension()));
    let peer = Peer::new(&endpoint).speaking(R2).begin().await;
    let custom = |id: u32| {
        let params = json!({ "number": id, "_meta": { "a": 1 } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "x/echo", "params": params })
    };
    let got = peer
        .send(json!([custom(1), tool(2, "echo"), custom(3)]))
        .await;
    let answers = got.json().await;
    assert_eq!(answers[0]["result"], json!({ "number": 1 }));
    assert_eq!(answers[1]["id"], 2);
    assert_eq!(answers[2]["result"], json!({ "number": 3 }));
    // The notification of the same batch ends the call.
    let go = json!({ "jsonrpc": "2.0", "method": "notifications/x/go" });
    let got = peer.send(json!([tool(4, "wait"), go])).await;
    assert_eq!(got.json().await[0]["id"], 4);
}

// spec: HTTP-S-07
#[tokio::test(start_paused = true)]
async fn notification_batch_is_accepted_also_with_extensions() {
    let note = |method: &str| json!({ "jsonrpc": "2.0", "method": method });
    for tools in [Tools::new(), Tools::with_extension()] {
        let endpoint = StreamableHttp::new(Served(tools));
        let peer = Peer::new(&endpoint).speaking(R2).begin().await;
        for notes in [
            json!([note("notifications/unknown"), initialized()]),
            json!([note("notifications/x/go")]),
        ] {
            let got = peer.send(notes).await;
            assert_eq!((got.status, got.is_stream()), (202, false));
        }
        let note = note("notifications/unknown");
        let got = peer.send(json!([note, tool(1, "echo")])).await;
        assert_eq!(got.json().await[0]["id"], 1);
    }
}
