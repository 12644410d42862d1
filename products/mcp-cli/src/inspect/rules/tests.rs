//! Messages with and without violations.

mod sessions;

use mcp::types::ProtocolVersion;
use serde_json::{Value, json};

use super::Rules;
use crate::inspect::pending::MAX_PENDING;
use crate::inspect::violations::MAX_VIOLATIONS;

const MODERN: ProtocolVersion = ProtocolVersion::LATEST;
const LEGACY: ProtocolVersion = ProtocolVersion::LATEST_LEGACY;

fn rules(version: ProtocolVersion, message: &Value) -> Vec<String> {
    let rules = Rules::default();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    rules.sent(list.to_string().as_bytes(), version);
    found(&rules, message)
}

fn found(rules: &Rules, message: &Value) -> Vec<String> {
    let found = rules.check(message.to_string().as_bytes()).into_json();
    let found = found.as_array().cloned().unwrap_or_default();
    let names = found
        .iter()
        .map(|violation| violation["rule"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of cases")]
fn message_with_a_violation_names_its_rule() {
    let tools = json!([{"name": "a", "inputSchema": {"type": "object"}}]);
    for (version, message, expected) in [
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}),
            vec![],
        ),
        (
            MODERN,
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}),
            // `cacheScope` and `ttlMs` are missing, too.
            vec!["BASE-21", "schema", "schema"],
        ),
        (
            LEGACY,
            json!({"id": 1, "result": {"tools": []}}),
            vec!["BASE-01"],
        ),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "id": 2, "result": {}}),
            vec!["BASE-10"],
        ),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "id": "1", "result": {}}),
            vec!["BASE-10"],
        ),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "result": {}}),
            vec!["BASE-07"],
        ),
        (LEGACY, json!({"jsonrpc": "2.0", "id": 1}), vec!["BASE-07"]),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}),
            vec!["BASE-08"],
        ),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "id": 1, "error": {"code": "x"}}),
            vec!["BASE-09", "BASE-09"],
        ),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "error": {"code": 1, "message": ""}}),
            vec![],
        ),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
            vec!["schema"],
        ),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "id": 1, "result": []}),
            vec!["schema"],
        ),
        (LEGACY, json!([]), vec!["BASE-16"]),
        (LEGACY, json!(1), vec!["BASE-01"]),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            vec![],
        ),
        (
            MODERN,
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            vec!["BASE-17"],
        ),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "id": null, "method": "ping"}),
            vec!["BASE-03"],
        ),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}),
            vec!["BASE-02"],
        ),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "method": "x", "params": []}),
            vec!["BASE-13"],
        ),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "method": "notifications/progress"}),
            vec!["schema"],
        ),
        (
            LEGACY,
            json!({"jsonrpc": "2.0", "id": 4, "method": "notifications/tools/list_changed"}),
            vec!["BASE-12"],
        ),
        (
            MODERN,
            json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "other"}}),
            vec!["BASE-24"],
        ),
    ] {
        assert_eq!(rules(version, &message), expected, "{message}");
    }
}

#[test]
fn response_is_known_once() {
    let rules = Rules::default();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    rules.sent(ping.to_string().as_bytes(), LEGACY);
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    assert!(found(&rules, &response).is_empty());
    assert_eq!(found(&rules, &response), ["BASE-10"]);
}

#[test]
fn requests_and_violations_are_bounded() {
    let rules = Rules::default();
    for id in 0..=MAX_PENDING {
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        rules.sent(ping.to_string().as_bytes(), ProtocolVersion::V2025_03_26);
    }
    assert_eq!(rules.state.lock().sent.len(), MAX_PENDING);
    // The request may be one that was forgotten.
    let response = json!({"jsonrpc": "2.0", "id": 0, "result": {}});
    assert!(found(&rules, &response).is_empty());
    let batch = Value::from(vec![json!({}); 100]);
    assert_eq!(found(&rules, &batch).len(), MAX_VIOLATIONS);
}

/// No violation of the server: JSON has numbers of any size.
#[test]
fn message_with_a_huge_number_is_not_checked() {
    let rules = Rules::default();
    let sent = rules.sent(
        br#"{"jsonrpc":"2.0","id":9,"method":"x","params":{"n":1e400}}"#,
        LEGACY,
    );
    let mut head = json!({});
    sent.write_into(&mut head);
    assert_eq!(head, json!({"unchecked": true}));
    let mut head = json!({});
    let result = rules.check(br#"{"jsonrpc":"2.0","id":9,"result":{"n":1e400}}"#);
    result.write_into(&mut head);
    assert_eq!(head, json!({"unchecked": true}));
    assert_eq!(
        found(&rules, &json!({"jsonrpc": "2.0", "id": 9, "result": {}})),
        [""; 0]
    );
}
