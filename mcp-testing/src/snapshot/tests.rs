//! Tests of snapshot files and of the report of differences.

use serde_json::json;

use super::diff::differences;
use super::{ServerSnapshot, compare, file_of};

#[test]
fn differences_have_path_and_values() {
    let expected = json!({ "tools": [
        { "name": "add", "description": "Add", "inputSchema": { "required": ["a", "b"] } },
        { "name": "gone", "description": "x".repeat(200) },
    ] });
    let actual = json!({ "tools": [
        { "name": "new" },
        { "name": "add", "description": "Add two", "inputSchema": { "required": ["a"] } },
    ] });
    let long = format!("{{\"name\":\"gone\",\"description\":\"{}…", "x".repeat(50));
    assert_eq!(
        differences(&expected, &actual),
        [
            "tools / add / description: \"Add\" became \"Add two\"".to_owned(),
            "tools / add / inputSchema / required: [\"a\",\"b\"] became [\"a\"]".to_owned(),
            format!("tools / gone is missing (was {long})"),
            "tools / new is new: {\"name\":\"new\"}".to_owned(),
        ]
    );
    assert!(differences(&expected, &expected).is_empty());
}

#[test]
fn snapshot_is_written_and_compared() {
    let folder = std::env::temp_dir().join(format!("mcp-snapshot-{}", std::process::id()));
    let file = file_of(&folder, "crate::tests");
    let snapshot = ServerSnapshot(json!({ "tools": [{ "name": "add" }] }));
    assert!(compare(&file, &snapshot, false).is_err());
    compare(&file, &snapshot, true).unwrap();
    compare(&file, &snapshot, false).unwrap();
    let report = compare(&file, &ServerSnapshot(json!({ "tools": [] })), false).unwrap_err();
    assert!(report.contains("tools / add is missing"), "{report}");
    assert!(report.contains("crate-tests.json"), "{report}");
    assert!(report.contains("breaking: /tools/add: removed"), "{report}");
    std::fs::remove_dir_all(folder).unwrap();
}
