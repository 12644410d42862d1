//! Snapshots of servers and files.

use mcp::catalog::{Impact, Snapshot};
use mcp::core::{Call, Fault, Reply};
use mcp::middleware::{Exchange, Next, from_fn};
use mcp::prelude::*;
use mcp::types::{ErrorObject, codes};
use serde_json::json;

#[tokio::test]
async fn captured_snapshot_is_sorted_and_read_again() {
    let server = Server::new("shop", "1.0.0")
        .tool(Tool::new("sell").handler(|| "sold"))
        .tool(Tool::new("buy").handler(|| "bought"));
    let client = Client::connect(mcp::InProcess(server)).await.unwrap();
    let snapshot = Snapshot::capture(&client).await.unwrap();
    let tools = snapshot.as_value()["tools"].as_array().unwrap();
    assert_eq!(
        (&tools[0]["name"], &tools[1]["name"]),
        (&json!("buy"), &json!("sell"))
    );
    assert!(snapshot.as_value()["capabilities"]["tools"].is_object());
    let read: Snapshot = snapshot.to_json().parse().unwrap();
    assert_eq!(read, snapshot);
    assert_eq!(read.to_json(), snapshot.to_json());
    assert!(snapshot.diff(&read).impact().is_none());
}

/// Servers with resources often do not know `resources/templates/list`.
#[tokio::test]
async fn list_is_empty_if_its_method_is_unknown() {
    async fn forget(exchange: Exchange, next: Next) -> Result<Reply, Fault> {
        match exchange.call {
            Call::ListResourceTemplates(_) => Err(Fault::Protocol(ErrorObject::new(
                codes::METHOD_NOT_FOUND,
                "Method not found",
            ))),
            _ => Ok(next.run(exchange).await),
        }
    }
    let server = Server::new("old", "1.0.0")
        .resource(Resource::new("disks://all").read(|| "all"))
        .layer(from_fn(forget));
    let client = Client::connect(mcp::InProcess(server)).await.unwrap();
    let snapshot = Snapshot::capture(&client).await.unwrap();
    assert_eq!(snapshot.as_value()["resources"][0]["uri"], "disks://all");
    assert_eq!(snapshot.as_value()["resourceTemplates"], json!([]));
}

#[test]
fn key_and_item_order_makes_no_difference() {
    let one: Snapshot = r#"{"tools":[{"name":"b"},{"name":"a","title":"A"}],"prompts":[]}"#
        .parse()
        .unwrap();
    let other: Snapshot = r#"{"prompts":[],"tools":[{"title":"A","name":"a"},{"name":"b"}]}"#
        .parse()
        .unwrap();
    assert_eq!(one.to_json(), other.to_json());
}

#[test]
fn malformed_snapshots_are_refused_with_their_path() {
    for (text, path) in [
        ("[]", "/"),
        (r#"{"tools":{}}"#, "/tools"),
        (r#"{"resources":[{"name":"a"}]}"#, "/resources/0/uri"),
        (r#"{"capabilities":[]}"#, "/capabilities"),
    ] {
        let error = text.parse::<Snapshot>().unwrap_err().to_string();
        let expected = format!("the snapshot is malformed at {path}: expected ");
        assert!(error.starts_with(&expected), "{text}: {error}");
    }
    let error = "{".parse::<Snapshot>().unwrap_err().to_string();
    assert!(error.starts_with("the snapshot is not JSON: "), "{error}");
}

#[test]
fn list_with_differences_is_bounded() {
    let tools: Vec<_> = (0..3_000).map(|n| json!({"name": n.to_string()})).collect();
    let old = Snapshot::from_value(json!({ "tools": tools })).unwrap();
    let diff = old.diff(&Snapshot::from_value(json!({})).unwrap());
    assert_eq!(diff.differences().len(), 1_001);
    assert_eq!(diff.impact(), Some(Impact::Breaking));
}
