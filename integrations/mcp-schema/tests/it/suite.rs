//! The schemas of the JSON-Schema-Test-Suite. `cargo xtask schemas` installs them and runs this test.

use std::path::{Path, PathBuf};

use mcp_schema::{Keywords as _, Schema};
use serde_json::Value;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        // A link to the newest draft is not a folder.
        if entry.file_type().unwrap().is_dir() {
            files(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            found.push(path);
        }
    }
}

#[test]
#[ignore = "needs the suite: cargo xtask schemas"]
fn each_schema_in_the_suite_is_read() {
    let folder = std::env::var("JSON_SCHEMA_SUITE").unwrap();
    let mut found = Vec::new();
    files(Path::new(&folder), &mut found);
    let (mut count, mut missing, mut external) = (0, 0, 0);
    for file in found {
        let text = std::fs::read_to_string(&file).unwrap();
        let Ok(Value::Array(groups)) = serde_json::from_str(&text) else {
            continue;
        };
        for group in groups {
            let Some(Value::Object(json)) = group.get("schema") else {
                continue;
            };
            count += 1;
            let schema = Schema::parse(json);
            let schema = schema.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            for node in schema.nodes() {
                let _ = (
                    node.kinds(),
                    node.range(),
                    node.element(0),
                    node.properties(),
                );
                for reference in node.references() {
                    missing +=
                        usize::from(reference.target.is_none() && reference.resource.is_some());
                    external += usize::from(reference.resource.is_none());
                }
            }
        }
    }
    println!("{count} schemas, {missing} references to nothing, {external} to other documents");
    assert!(count > 500, "{count} schemas below {folder}");
}
