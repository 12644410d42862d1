//! The tests of the JSON-Schema-Test-Suite. `cargo xtask schemas` installs them and runs this test.

use std::path::{Path, PathBuf};

use mcp_core::schema::{JsonSchema, SchemaError, Validator as _};
use mcp_types::JsonObject;
use serde_json::{Value, json};

const DRAFTS: [(&str, &str); 5] = [
    ("draft4", "http://json-schema.org/draft-04/schema#"),
    ("draft6", "http://json-schema.org/draft-06/schema#"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    (
        "draft2019-09",
        "https://json-schema.org/draft/2019-09/schema",
    ),
    (
        "draft2020-12",
        "https://json-schema.org/draft/2020-12/schema",
    ),
];

/// Groups with wrong verdicts, and the number of their tests. A change of this list is a change for users. Meta-schemas other than
/// those of JSON Schema are not known.
const WRONG: [(&str, usize); 4] = [
    (
        "draft2019-09 vocabulary: schema that uses custom metaschema with with no validation vocabulary",
        3,
    ),
    (
        "draft2019-09 vocabulary: ignore unrecognized optional vocabulary",
        2,
    ),
    (
        "draft2020-12 vocabulary: schema that uses custom metaschema with with no validation vocabulary",
        3,
    ),
    (
        "draft2020-12 vocabulary: ignore unrecognized optional vocabulary",
        2,
    ),
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_test = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    };
    let mut files: Vec<_> = paths.filter(is_test).collect();
    files.sort_unstable();
    files
}

/// Returns the schema with its dialect. `true` and `false` are in an `allOf`: the schemas of tools are objects.
fn with_dialect(schema: &Value, dialect: &str) -> JsonObject {
    let mut schema = match schema {
        Value::Object(schema) => schema.clone(),
        flag => JsonObject::from_iter([("allOf".to_owned(), json!([flag]))]),
    };
    schema.entry("$schema").or_insert_with(|| json!(dialect));
    schema
}

// spec: JSCH-01
#[test]
#[ignore = "needs the suite: cargo xtask schemas"]
fn values_in_the_suite_are_judged() {
    let folder = std::env::var("JSON_SCHEMA_SUITE").unwrap();
    let (mut passed, mut skipped, mut ambiguous, mut wrong) = (0, 0, 0, Vec::new());
    for (draft, dialect) in DRAFTS {
        for file in files(&Path::new(&folder).join(draft)) {
            let text = std::fs::read_to_string(&file).unwrap();
            let groups: Vec<Value> = serde_json::from_str(&text).unwrap();
            for group in groups {
                let tests = group["tests"].as_array().unwrap();
                let name = file.file_stem().unwrap().display();
                let place = format!("{draft} {name}: {}", group["description"].as_str().unwrap());
                let check = JsonSchema.compile(&with_dialect(&group["schema"], dialect));
                let refused = match &check {
                    Err(SchemaError::External(_)) => Some(&mut skipped),
                    Err(SchemaError::Invalid(reason)) if reason.contains("can mean several") => {
                        Some(&mut ambiguous)
                    }
                    _ => None,
                };
                if let Some(count) = refused {
                    *count += tests.len();
                    continue;
                }
                let is_right = |test: &&Value| {
                    let expected = test["valid"].as_bool().unwrap();
                    let result = check
                        .as_ref()
                        .map(|check| check.check(&test["data"]).is_ok());
                    result == Ok(expected)
                };
                let right = tests.iter().filter(is_right).count();
                passed += right;
                if right < tests.len() {
                    wrong.push((place, tests.len() - right));
                }
            }
        }
    }
    println!(
        "{passed} passed, {skipped} need other documents, {ambiguous} have ambiguous identifiers"
    );
    let wrong: Vec<_> = wrong
        .iter()
        .map(|(place, count)| (place.as_str(), *count))
        .collect();
    assert_eq!(wrong, WRONG);
    // Identifiers that the library may resolve in another way are refused: their cost cannot be computed.
    assert_eq!((passed, skipped, ambiguous), (4_507, 132, 187));
}
