//! Several subscriptions on one pipe.

use mcp_core::{ChangeBus, ChangeEvent};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::kit::{Peer, cancel};

fn listen(id: i64, filter: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "notifications": filter, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params })
}

/// Returns the method of a notification and the id of its subscription.
fn method_and_subscription(note: &Value) -> (&str, i64) {
    let method = note["method"].as_str().unwrap();
    let id = &note["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    (
        method.trim_start_matches("notifications/"),
        id.as_i64().unwrap(),
    )
}

#[tokio::test(start_paused = true)]
async fn subscriptions_on_one_pipe_are_told_apart_by_id() {
    // spec: SUB-06, SUB-08
    let mut peer = Peer::start();
    let bus = peer.service.bus.clone();
    peer.send(listen(1, json!({"toolsListChanged": true})))
        .await;
    assert_eq!(
        method_and_subscription(&peer.expect().await),
        ("subscriptions/acknowledged", 1)
    );
    let both = json!({"toolsListChanged": true, "resourceSubscriptions": ["a:b"]});
    peer.send(listen(2, both)).await;
    assert_eq!(
        method_and_subscription(&peer.expect().await),
        ("subscriptions/acknowledged", 2)
    );
    peer.send(listen(2, json!({}))).await;
    assert_eq!(peer.refusal(json!(2)).await, -32600);

    bus.publish(ChangeEvent::Tools);
    let mut ids = [
        method_and_subscription(&peer.expect().await).1,
        method_and_subscription(&peer.expect().await).1,
    ];
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
    bus.publish(ChangeEvent::Resource { uri: "a:b".into() });
    peer.call(3, "now").await;
    let mut next = [peer.expect().await, peer.expect().await];
    next.sort_by_key(|message| message["id"].as_i64());
    assert_eq!(method_and_subscription(&next[0]), ("resources/updated", 2));
    assert_eq!(next[1]["id"], 3);

    peer.send(cancel(1)).await;
    peer.call(4, "now").await;
    peer.answer(4).await;
    assert_eq!(bus.subscriber_count(), 1);
    bus.publish(ChangeEvent::Tools);
    assert_eq!(
        method_and_subscription(&peer.expect().await),
        ("tools/list_changed", 2)
    );

    // spec: SUB-09, GAP-01
    peer.writer.shutdown().await.unwrap();
    let end = peer.expect().await;
    assert_eq!(
        (&end["id"], &end["result"]["resultType"]),
        (&json!(2), &json!("complete"))
    );
    assert_eq!(
        end["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        2
    );
    assert_eq!(peer.next().await, None);
    peer.server.await.unwrap().unwrap();
    assert_eq!(bus.subscriber_count(), 0);
}
