//! The schemas of the JSON-Schema-Test-Suite. `cargo xtask schemas` installs them and runs this test.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::schemas::generate;

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
fn no_schema_in_the_suite_panics() {
    let folder = std::env::var("JSON_SCHEMA_SUITE").unwrap();
    let mut found = Vec::new();
    files(Path::new(&folder), &mut found);
    let (mut count, mut full) = (0, 0);
    for file in found {
        let text = std::fs::read_to_string(&file).unwrap();
        let Ok(Value::Array(groups)) = serde_json::from_str(&text) else {
            continue;
        };
        for group in groups {
            let Some(schema) = group.get("schema") else {
                continue;
            };
            count += 1;
            full += generate(schema).report().full();
        }
    }
    println!("{count} schemas, {full} of them with full types");
    assert!(count > 500, "{count} schemas below {folder}");
}
