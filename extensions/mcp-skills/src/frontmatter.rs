//! The YAML at the start of a `SKILL.md`.

use mcp_types::JsonObject;
use serde_json::Value;

/// Maximum size of the YAML in bytes.
const MAX_BYTES: usize = 64 * 1024;
/// Maximum number of values.
const MAX_NODES: usize = 10_000;
/// Maximum depth of nested values.
const MAX_DEPTH: usize = 32;
/// Maximum number of aliases, and of the values that they expand to.
const MAX_ALIASES: usize = 64;
const MAX_ALIAS_EVENTS: usize = 10_000;

const FENCE: &str = "---";

/// A mistake in the YAML at the start of a `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrontmatterError {
    /// The first line is not `---`, or no second such line follows.
    #[error("it must start with YAML between two lines `---`")]
    Missing,
    /// The YAML is too large.
    #[error("the YAML at its start has more than {MAX_BYTES} bytes; shorten it")]
    TooLarge,
    /// The YAML is malformed, or has too many aliases, levels or values.
    #[error("the YAML at its start is malformed: {0}")]
    Yaml(String),
    /// The YAML is not a mapping.
    #[error("the YAML at its start must be a mapping with `name` and `description`")]
    NotAMapping,
}

/// A `SKILL.md` in two parts.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    pub(crate) frontmatter: JsonObject,
    /// The Markdown after the YAML.
    pub(crate) body: &'a str,
}

/// Parses a `SKILL.md`.
// spec: SKILL-05
pub(crate) fn parse(text: &str) -> Result<Document<'_>, FrontmatterError> {
    let (yaml, body) = split(text)?;
    if yaml.len() > MAX_BYTES {
        return Err(FrontmatterError::TooLarge);
    }
    let value: Value = serde_saphyr::from_str_with_options(yaml, options())
        .map_err(|error| FrontmatterError::Yaml(first_line(&error.to_string())))?;
    match value {
        // spec: SKILL-11
        Value::Object(frontmatter) => Ok(Document { frontmatter, body }),
        _ => Err(FrontmatterError::NotAMapping),
    }
}

/// YAML 1.2 with small limits. Bombs of aliases are refused while they expand.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 4 * MAX_NODES,
            max_nodes: MAX_NODES,
            max_depth: MAX_DEPTH,
            max_documents: 1,
            max_aliases: MAX_ALIASES,
            max_anchors: MAX_ALIASES,
            max_recorded_anchor_events: MAX_ALIAS_EVENTS,
            max_recorded_anchor_bytes: MAX_BYTES,
            max_total_scalar_bytes: 4 * MAX_BYTES,
            max_merge_keys: MAX_ALIASES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_ALIAS_EVENTS,
            max_replay_stack_depth: 8,
            max_alias_expansions_per_anchor: MAX_ALIASES,
        },
        strict_booleans: true,
        with_snippet: false,
    }
}

/// Splits a text into the YAML and the Markdown after it. A byte order mark is skipped.
fn split(text: &str) -> Result<(&str, &str), FrontmatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n').ok_or(FrontmatterError::Missing)?;
    if first.trim_end() != FENCE {
        return Err(FrontmatterError::Missing);
    }
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return Ok((&rest[..end], &rest[end + line.len()..]));
        }
        end += line.len();
    }
    Err(FrontmatterError::Missing)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// Returns the first top-level field that differs. Numbers are compared by value: `1.0` equals `1`.
// spec: SKILL-23
pub(crate) fn difference<'a>(left: &'a JsonObject, right: &'a JsonObject) -> Option<&'a str> {
    let changed = left
        .iter()
        .find(|(key, value)| !right.get(*key).is_some_and(|other| is_same(value, other)));
    let added = || right.keys().find(|key| !left.contains_key(*key));
    changed
        .map(|(key, _)| key)
        .or_else(added)
        .map(String::as_str)
}

fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => difference(left, right).is_none(),
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::{Value, json};

    use super::{FrontmatterError, difference, parse};

    fn read(yaml: &str) -> Result<Value, FrontmatterError> {
        let text = format!("---\n{yaml}\n---\nbody");
        parse(&text).map(|document| Value::Object(document.frontmatter))
    }

    // spec: SKILL-11
    #[test]
    fn frontmatter_keeps_every_field_as_json() {
        let yaml = "name: a\ndescription: >-\n  two\n  lines\nmetadata:\n  version: \"1.0\"\n  n: 3\n\
                    list: [yes, true, ~]\nallowed-tools: Bash(git:*) Read";
        assert_eq!(
            read(yaml).unwrap(),
            json!({
                "name": "a",
                "description": "two lines",
                "metadata": {"version": "1.0", "n": 3},
                "list": ["yes", true, null],
                "allowed-tools": "Bash(git:*) Read",
            })
        );
    }

    #[test]
    fn byte_order_mark_and_crlf_are_tolerated() {
        let document = parse("\u{feff}---\r\nname: a\r\n---\r\n# Body\r\n").unwrap();
        assert_eq!(document.frontmatter["name"], "a");
        assert_eq!(document.body, "# Body\r\n");
    }

    // spec: SKILL-05
    #[test]
    fn missing_fence_is_reported() {
        for text in [
            "",
            "---",
            "# Title\n",
            "---\nname: a\n",
            "--- x\nname: a\n---\n",
        ] {
            assert_eq!(
                parse(text).unwrap_err(),
                FrontmatterError::Missing,
                "{text:?}"
            );
        }
        assert_eq!(read("- a").unwrap_err(), FrontmatterError::NotAMapping);
    }

    #[test]
    fn malformed_yaml_is_reported_on_one_line() {
        for yaml in [
            "a: [1",
            "a: 1\na: 2",
            "a: .nan",
            "a: \"x",
            "a: b\n...\n%YAML 9\nb: c",
        ] {
            let error = read(yaml).unwrap_err();
            assert!(
                matches!(&error, FrontmatterError::Yaml(_)),
                "{yaml}: {error:?}"
            );
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }

    #[test]
    fn alias_bomb_is_refused() {
        let mut yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..10 {
            let alias = format!("*a{}", level - 1);
            let row = vec![alias; 6].join(", ");
            writeln!(yaml, "a{level}: &a{level} [{row}]").unwrap();
        }
        assert!(matches!(read(&yaml), Err(FrontmatterError::Yaml(_))));
        let deep = format!("a: {}{}", "[".repeat(5_000), "]".repeat(5_000));
        assert!(matches!(read(&deep), Err(FrontmatterError::Yaml(_))));
        let wide = format!("a: [{}]", "1,".repeat(20_000));
        assert!(matches!(read(&wide), Err(FrontmatterError::Yaml(_))));
        let long = format!("a: {}", "x".repeat(70_000));
        assert_eq!(read(&long).unwrap_err(), FrontmatterError::TooLarge);
        let shared = read("a: &x [1, 2]\nb: *x").unwrap();
        assert_eq!(shared["b"], json!([1, 2]));
    }

    // spec: SKILL-23
    #[test]
    fn difference_names_changed_and_added_fields() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let left = object(json!({"a": [1.0, {"b": 2}], "c": "x"}));
        let same = object(json!({"c": "x", "a": [1, {"b": 2}]}));
        assert_eq!(difference(&left, &same), None);
        let changed = object(json!({"a": [1, {"b": 3}], "c": "x"}));
        assert_eq!(difference(&left, &changed), Some("a"));
        let added = object(json!({"a": [1, {"b": 2}], "c": "x", "d": null}));
        assert_eq!(difference(&left, &added), Some("d"));
        assert_eq!(difference(&added, &left), Some("d"));
    }
}
