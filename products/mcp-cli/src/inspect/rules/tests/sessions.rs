//! Sessions and examples that violate no schema, and messages that do.

use std::fs;
use std::path::PathBuf;

use mcp::types::ProtocolVersion;
use serde_json::{Value, json};

use super::super::{MAX_CHECKED, Rules};
use crate::inspect::schemas::RevisionSchema;
use crate::inspect::violations::Violations;

fn file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// Returns the message in a transcript line, if there is one.
fn message_of(line: &str) -> Option<&str> {
    let line = line.strip_prefix("data: ").unwrap_or(line);
    line.starts_with(['{', '[']).then_some(line)
}

#[test]
fn golden_transcripts_have_no_violations() {
    let mut count = 0;
    for version in ProtocolVersion::ALL {
        for transport in ["http", "stdio"] {
            let name =
                format!("integrations/mcp-testing/tests/it/transcripts/{transport}-{version}.txt");
            let rules = Rules::default();
            for line in fs::read_to_string(file(&name)).unwrap().lines() {
                let (arrow, line) = line.split_at(3);
                let Some(message) = message_of(line) else {
                    continue;
                };
                count += 1;
                let found = match arrow {
                    "-> " => rules.sent(message.as_bytes(), version),
                    _ => rules.check(message.as_bytes()),
                };
                assert_eq!(found.into_json(), Value::Null, "{name}: {message}");
            }
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn official_examples_have_no_violations() {
    let schema = RevisionSchema::get(ProtocolVersion::V2026_07_28).unwrap();
    let mut count = 0;
    for folder in fs::read_dir(file("docs/spec/schema/2026-07-28/examples")).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        for example in fs::read_dir(&folder).unwrap() {
            let text = fs::read_to_string(example.unwrap().path()).unwrap();
            let mut example: Value = serde_json::from_str(&text).unwrap();
            let mut found = Violations::default();
            if let Some(method) = example["method"].as_str() {
                schema.check_params(method, &example, &mut found);
            } else if name.ends_with("Error") {
                schema.check_error(&example, &mut found);
            } else if let Some(request) = name.strip_suffix("Result") {
                let message = json!({"result": example.take()});
                schema.check_definition(&format!("{request}Result"), &message, &mut found);
            } else {
                continue;
            }
            count += 1;
            assert_eq!(found.into_json(), Value::Null, "{name}: {text}");
        }
    }
    assert!(count > 40, "{count}");
}

/// Sends a request. Returns what its response violates.
fn response(version: ProtocolVersion, method: &str, params: Value, result: Value) -> Vec<String> {
    let rules = Rules::default();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    rules.sent(request.to_string().as_bytes(), version);
    received(
        &rules,
        &json!({"jsonrpc": "2.0", "id": 1, "result": result}),
    )
}

fn received(rules: &Rules, message: &Value) -> Vec<String> {
    texts(rules.check(message.to_string().as_bytes()))
}

fn texts(found: Violations) -> Vec<String> {
    let found = found.into_json();
    let found = found.as_array().cloned().unwrap_or_default();
    let texts = found
        .iter()
        .map(|violation| violation["text"].as_str().unwrap());
    texts.map(str::to_owned).collect()
}

const V24: ProtocolVersion = ProtocolVersion::V2024_11_05;
const V25: ProtocolVersion = ProtocolVersion::V2025_11_25;
const V26: ProtocolVersion = ProtocolVersion::V2026_07_28;

#[test]
fn broken_result_names_path_and_definition() {
    let init = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {"name": 1, "version": ""}});
    let audio = json!({"content": [{"type": "audio", "data": "", "mimeType": "a/b"}]});
    let page = json!({"tools": [], "nextCursor": 1});
    let listed = json!({"resultType": "complete", "tools": [], "ttlMs": -1, "cacheScope": "x"});
    let asked = json!({"resultType": "input_required", "inputRequests": {"a": {"method": "x"}}});
    let task = json!({"task": {"taskId": 1}});
    for (version, method, result, expected) in [
        // The response selects the revision.
        (
            V25,
            "initialize",
            init,
            "InitializeResult of 2024-11-05: `result.serverInfo.name`: expected string, got 1",
        ),
        (
            V24,
            "tools/list",
            json!({}),
            "ListToolsResult of 2024-11-05: `result`: missing `tools`",
        ),
        (
            V25,
            "tools/list",
            page,
            "ListToolsResult of 2025-11-25: `result.nextCursor`: expected string, got 1",
        ),
        (
            V24,
            "tools/call",
            audio,
            "CallToolResult of 2024-11-05: `result.content[0]`: fits none",
        ),
        (
            V25,
            "prompts/get",
            json!({"messages": [{"role": "x", "content": {"type": "text", "text": ""}}]}),
            "GetPromptResult of 2025-11-25: `result.messages[0].role`: expected one of",
        ),
        (
            V25,
            "resources/read",
            json!({"contents": {}}),
            "ReadResourceResult of 2025-11-25: `result.contents`: expected array",
        ),
        (
            V25,
            "completion/complete",
            json!({"completion": {}}),
            "CompleteResult of 2025-11-25: `result.completion`: missing `values`",
        ),
        (
            V25,
            "ping",
            json!({"_meta": 1}),
            "EmptyResult of 2025-11-25: `result._meta`: expected object, got 1",
        ),
        (
            V25,
            "tools/call",
            task,
            "CreateTaskResult of 2025-11-25: `result.task`: missing",
        ),
        (
            V26,
            "tools/list",
            listed,
            "ListToolsResult of 2026-07-28: `result.cacheScope`: expected one of",
        ),
        (
            V26,
            "tools/call",
            asked,
            "InputRequiredResult of 2026-07-28: `result.inputRequests.a`: fits none",
        ),
    ] {
        let params = json!({"name": "a", "task": {}});
        let found = response(version, method, params, result.clone());
        let is_named = found.iter().any(|text| text.starts_with(expected));
        assert!(is_named, "{expected}: {found:?} of {result}");
    }
}

#[test]
fn broken_call_names_path_and_definition() {
    let level = json!({"method": "notifications/message", "params": {"level": 7, "data": 1}});
    let ask = json!({"id": 1, "method": "elicitation/create", "params": {"message": 1}});
    for (version, message, expected) in [
        (
            V24,
            level,
            "LoggingMessageNotification of 2024-11-05: `params.level`: expected",
        ),
        (V25, ask, "ElicitRequest of 2025-11-25: `params`: fits none"),
        (
            V25,
            json!({"method": "notifications/progress"}),
            "ProgressNotification of 2025-11-25: missing `params`",
        ),
        (
            V26,
            json!({"method": "notifications/resources/updated", "params": {}}),
            "ResourceUpdatedNotification of 2026-07-28: `params`: missing `uri`",
        ),
        (
            V26,
            json!({"error": {"code": -32022, "message": "x", "data": {}}}),
            "UnsupportedProtocolVersionError of 2026-07-28: `error.data`: missing `requested`",
        ),
    ] {
        let rules = Rules::default();
        rules.sent(b"{}", version);
        let mut message = message;
        message["jsonrpc"] = "2.0".into();
        let found = received(&rules, &message);
        let is_named = found.iter().any(|text| text.starts_with(expected));
        assert!(is_named, "{expected}: {found:?} of {message}");
    }
}

#[test]
fn messages_from_the_client_are_checked() {
    let rules = Rules::default();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}});
    let found = texts(rules.sent(call.to_string().as_bytes(), V25));
    assert_eq!(
        found,
        ["CallToolRequest of 2025-11-25: `params`: missing `name`"]
    );
    let roots = json!({"jsonrpc": "2.0", "id": 7, "method": "roots/list"});
    assert!(received(&rules, &roots).is_empty());
    let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {"roots": [{}]}});
    let found = texts(rules.sent(answer.to_string().as_bytes(), V25));
    assert_eq!(
        found,
        ["ListRootsResult of 2025-11-25: `result.roots[0]`: missing `uri`"]
    );
}

#[test]
fn extensions_are_no_violations() {
    for (version, method, result) in [
        (V25, "vendor/x", json!({"a": 1})),
        (
            V25,
            "tools/list",
            json!({"tools": [], "vendor": 1, "resultType": "own"}),
        ),
        (V26, "tasks/get", json!({"resultType": "complete", "a": 1})),
    ] {
        let found = response(version, method, json!({}), result);
        assert_eq!(found, [""; 0], "{method}");
    }
    let rules = Rules::default();
    rules.sent(b"{}", V26);
    let own = json!({"jsonrpc": "2.0", "method": "notifications/vendor", "params": {"a": 1}});
    assert!(received(&rules, &own).is_empty());
}

#[test]
fn huge_message_is_not_checked() {
    let mut head = Value::Null;
    let rules = Rules::default();
    let large = " ".repeat(MAX_CHECKED + 1);
    rules.check(large.as_bytes()).write_into(&mut head);
    assert_eq!(head, json!({"unchecked": true}));
}

/// A list of many tools is checked within the limits of the validator, or is marked.
#[test]
fn large_lists_are_checked_or_marked() {
    let tool = json!({"name": "a", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}});
    for count in [1, 100, 1_000, 5_000] {
        let rules = Rules::default();
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        rules.sent(request.to_string().as_bytes(), V25);
        let list =
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": vec![tool.clone(); count]}});
        let mut head = Value::Null;
        rules
            .check(list.to_string().as_bytes())
            .write_into(&mut head);
        assert_eq!(head["violations"], Value::Null);
        assert!(count > 100 || head == Value::Null, "{count}: {head}");
    }
}
