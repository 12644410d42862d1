//! `mcp snapshot` and `mcp diff`.

use std::path::Path;

use crate::kit::{folder, http_shop, mcp, mcp_in, stdio_shop};

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn snapshot_is_the_same_over_both_transports_and_eras() {
    let modern = mcp(&["snapshot", &http_shop()]);
    assert_eq!(modern.code, 0, "{modern:?}");
    let tools = &modern.json()["tools"];
    assert_eq!(tools[0]["name"], "add", "{modern:?}");
    let shop = stdio_shop();
    for protocol in ["2026-07-28", "auto"] {
        let run = mcp(&["snapshot", "--protocol", protocol, "--", &shop]);
        assert_eq!(run.out, modern.out, "{protocol}: {run:?}");
    }
    let legacy = mcp(&["snapshot", "--protocol", "legacy", "--", &shop]);
    assert_eq!(&legacy.json()["tools"], tools, "{legacy:?}");
}

#[test]
fn diff_with_an_unchanged_server_has_exit_code_0() {
    let folder = folder("diff-unchanged");
    let shop = stdio_shop();
    let run = mcp_in(&folder, &["snapshot", "-o", "shop.json", "--", &shop], "");
    assert_eq!((run.code, &*run.out), (0, ""), "{run:?}");
    let run = mcp_in(&folder, &["diff", "shop.json", "--", &shop], "");
    assert_eq!((run.code, &*run.out), (0, ""), "{run:?}");
    let run = mcp_in(&folder, &["diff", "shop.json", &http_shop(), "--json"], "");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.json()["impact"].is_null(), "{run:?}");
}

#[test]
fn breaking_change_has_exit_code_1_and_a_path() {
    let folder = folder("diff-breaking");
    let old = write(
        &folder,
        "old.json",
        r#"{"tools": [{"name": "add", "description": "Adds", "inputSchema": {"type": "object",
            "properties": {"a": {"type": "number"}}}}]}"#,
    );
    let new = write(
        &folder,
        "new.json",
        r#"{"tools": [{"name": "add", "description": "Sums", "inputSchema": {"type": "object",
            "properties": {"a": {"type": "integer"}}}}, {"name": "more", "inputSchema": {}}]}"#,
    );
    let run = mcp(&["diff", &old, &new, "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    let document = run.json();
    assert_eq!(document["impact"], "breaking");
    let paths = document["differences"].as_array().unwrap().iter();
    let paths: Vec<_> = paths
        .map(|difference| difference["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "/tools/add/inputSchema/properties/a/type",
            "/tools/more",
            "/tools/add/description"
        ]
    );
    assert_eq!(run.json_error()["kind"], "breaking");
    let run = mcp(&["diff", &old, &new]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("breaking\n"), "{run:?}");
    let run = mcp(&["diff", &new, &new]);
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn rows_of_a_template_are_data_in_each_command() {
    let folder = folder("diff-data");
    let catalog = |rows: &str| {
        let template = r#"[{"uriTemplate": "users://{id}", "name": "user"}]"#;
        format!(r#"{{"resourceTemplates": {template}, "resources": [{rows}]}}"#)
    };
    let help = r#"{"uri": "help://all", "name": "help"}"#;
    let one = catalog(&format!(r#"{help}, {{"uri": "users://1", "name": "Ada"}}"#));
    let other = catalog(&format!(r#"{help}, {{"uri": "users://2", "name": "Bob"}}"#));
    let (one, other) = (
        write(&folder, "one.json", &one),
        write(&folder, "other.json", &other),
    );
    let run = mcp(&["diff", &one, &other]);
    assert_eq!(run.code, 0, "{run:?}");
    for text in [
        "cosmetic",
        "removed: data of the template users://{id}",
        "added: data",
    ] {
        assert!(run.out.contains(text), "{run:?}");
    }
    let run = mcp_in(&folder, &["gen", "rust", "one.json", "-o", "users.rs"], "");
    assert_eq!(run.code, 0, "{run:?}");
    let source = std::fs::read_to_string(folder.join("users.rs")).unwrap();
    assert!(
        source.contains("read_help") && !source.contains("read_ada"),
        "{source}"
    );
    let check = ["gen", "rust", &other, "-o", "users.rs", "--check"];
    let run = mcp_in(&folder, &check, "");
    assert_eq!((run.code, &*run.out), (0, ""), "{run:?}");
    let fixed = write(&folder, "fixed.json", &catalog(""));
    let run = mcp(&["diff", &one, &fixed]);
    assert_eq!(run.code, 1, "{run:?}");
}

#[test]
fn malformed_snapshot_has_exit_code_1() {
    let folder = folder("diff-malformed");
    let file = write(&folder, "bad.json", r#"{"tools": [{}]}"#);
    let run = mcp(&["diff", &file, &file]);
    assert_eq!((run.code, &*run.out), (1, ""), "{run:?}");
    assert!(run.err.contains("/tools/0/name"), "{run:?}");
    let run = mcp(&["diff", "no-such-file.json", &file]);
    assert_eq!(run.code, 1, "{run:?}");
}
