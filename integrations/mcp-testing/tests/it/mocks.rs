//! Servers from snapshots.

use mcp::catalog::Snapshot;
use mcp::prelude::*;
use mcp::{CallToolResult, Group, InProcess};
use serde_json::{Value, json};

fn snapshot(output: &Value) -> Snapshot {
    let tool = json!({
        "name": "find",
        "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}},
        "outputSchema": output,
    });
    let document = json!({
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        "tools": [tool, {"name": "plain", "inputSchema": {"type": "object"}}],
        "prompts": [{"name": "review"}],
        "resources": [{"uri": "disks://all", "name": "disks"}],
        "resourceTemplates": [{"uriTemplate": "disks://one/{id}", "name": "disk"}],
    });
    Snapshot::from_value(document).unwrap()
}

#[tokio::test]
async fn mock_lists_what_the_snapshot_has() {
    let snapshot = snapshot(&json!({"type": "object"}));
    let client = mcp_testing::connect(mcp_testing::mock(snapshot.clone()))
        .await
        .unwrap();
    let listed = Snapshot::capture(&client).await.unwrap();
    for list in ["tools", "prompts", "resources", "resourceTemplates"] {
        assert_eq!(listed.as_value()[list], snapshot.as_value()[list], "{list}");
    }
    assert_eq!(
        client.call("plain", ()).await.unwrap().text(),
        "example of plain"
    );
    let disk = client.read_resource("disks://one/7").await.unwrap();
    assert_eq!(disk.text(), "example of disks://one/7");
    let all = client.read_resource("disks://all").await.unwrap();
    assert_eq!(all.text(), "example of disks://all");
    client.get_prompt("review", ()).await.unwrap();
}

#[tokio::test]
async fn recorded_answers_come_before_examples() {
    let mock = mcp_testing::mock(snapshot(&json!({"type": "object"})))
        .answer(
            "find",
            CallToolResult::from_json(&json!({"any": 1})).unwrap(),
        )
        .answer("plain", CallToolResult::error("no such thing"));
    let client = mcp_testing::connect(mock.clone()).await.unwrap();
    let failed = client.call("plain", ()).await.unwrap();
    assert!(failed.is_error());
    let other = client.call("find", json!({"q": "b"})).await.unwrap();
    assert_eq!(other.structured(), Some(json!({"any": 1})));
    assert_eq!(mock.calls().len(), 2);
}

/// The client validates structured content with the output schema.
#[tokio::test]
async fn examples_match_their_schemas() {
    let schemas = [
        json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 3, "multipleOf": 5}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "number", "exclusiveMinimum": 0, "maximum": 1}}}),
        json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 20, "maxLength": 21}}}),
        json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": true}}}),
        json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer", "maximum": -4}, "minItems": 1}}}),
        json!({"type": "object", "properties": {"a": {"type": "string", "format": "uuid"}, "b": {"enum": ["x", "y"]}, "c": {"const": 4}}}),
        json!({"type": "object", "required": ["x"], "additionalProperties": {"type": "boolean"}}),
        json!({"allOf": [{"$ref": "#/$defs/A"}, {"properties": {"b": {"type": "null"}}, "required": ["b"]}], "type": "object",
               "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "n": {"type": "integer"}}, "required": ["n"]}}}),
        json!({"type": "object", "oneOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"a": {"const": 2}}, "required": ["a"]}], "properties": {"z": {"type": ["string", "null"]}}}),
        json!({"type": "object", "properties": {"a": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "boolean"}], "minItems": 2}}}),
    ];
    for schema in schemas {
        let mock = mcp_testing::mock(snapshot(&schema));
        let client = mcp_testing::connect(mock).await.unwrap();
        client.list_tools().await.unwrap();
        let result = client.call("find", ()).await;
        let result = result.unwrap_or_else(|error| panic!("{schema}: {error}"));
        let value = result.structured().unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&value), "{schema}: {value}");
    }
}

#[tokio::test(start_paused = true)]
async fn servers_in_this_process_start_again_in_a_group() {
    let mock = mcp_testing::mock(snapshot(&json!({"type": "object"})));
    let clock = Server::new("clock", "1.0.0").tool(Tool::new("now").handler(|| "half past"));
    let group = Group::builder()
        .target("disks", mock.clone(), Client::builder())
        .target("clock", InProcess(clock), Client::builder())
        .build();
    for _ in 0..2 {
        group.call("disks__plain", ()).await.unwrap();
        assert_eq!(
            group.call("clock__now", ()).await.unwrap().text(),
            "half past"
        );
        for server in ["disks", "clock"] {
            group.client(server).await.unwrap().close().await.unwrap();
            let delayed = group.client(server).await;
            assert!(delayed.unwrap_err().is_retryable());
        }
        tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    }
    assert_eq!(mock.calls().len(), 2);
}
