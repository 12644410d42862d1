//! The check of a client's tools and their results.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a check of tests"
)]

use std::collections::BTreeMap;

use mcp::prelude::*;
use mcp::types::ProtocolVersion;
use serde_json::{Value, json};

/// Calls each tool once per value and checks the results by the listed schemas.
pub(crate) async fn check(
    client: &Client,
    counts: &BTreeMap<String, usize>,
    version: ProtocolVersion,
) {
    let tools = client.list_tools().await.unwrap();
    assert_eq!(tools.len(), counts.len());
    for tool in tools {
        let schema = tool.output_schema.as_deref().cloned().map(Value::Object);
        let has_structure = version >= ProtocolVersion::V2025_06_18;
        assert_eq!(schema.is_some(), has_structure, "{version} {}", tool.name);
        if !version.is_modern() {
            let root = schema.as_ref().map(|schema| &schema["type"]);
            assert!(root.is_none_or(|root| root == "object"), "{}", tool.name);
        }
        let own = tool.name.trim_start_matches("s__");
        for index in 0..counts[own] {
            let result = client.call(&tool.name, json!({ "index": index })).await;
            let result = result.unwrap();
            assert!(!result.is_error(), "{}: {}", tool.name, result.text());
            let value = result.structured();
            let Some(schema) = &schema else {
                assert_eq!(value, None, "{version} {}", tool.name);
                continue;
            };
            let value = value.unwrap_or_else(|| panic!("{version} {}: no structure", tool.name));
            let place = format!("{version} {} {index}: {value} by {schema}", tool.name);
            assert!(value.is_object() || version.is_modern(), "{place}");
            let published: Value = serde_json::from_str(&result.text()).unwrap_or_default();
            let is_whole = value == published || value == json!({ "result": published });
            assert!(
                is_whole || ["numbers", "flags", "two_trees"].contains(&own),
                "{place}"
            );
            jsonschema::draft202012::meta::validate(schema).expect(&place);
            let checks = [
                jsonschema::draft202012::new(schema),
                jsonschema::draft7::new(schema),
            ];
            // Validating clients of older revisions read draft 7.
            let drafts = if version.is_modern() { 1 } else { 2 };
            for check in checks.into_iter().take(drafts) {
                if let Err(error) = check.expect(&place).validate(&value) {
                    panic!("{place}: {error}");
                }
            }
        }
    }
}
