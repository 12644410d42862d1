//! Readable differences between two JSON values.

use serde_json::Value;

/// Returns one line per difference, with its path. Items of lists are matched by name.
pub(super) fn differences(expected: &Value, actual: &Value) -> Vec<String> {
    let mut changes = Vec::new();
    compare("", expected, actual, &mut changes);
    changes
}

fn compare(path: &str, expected: &Value, actual: &Value, changes: &mut Vec<String>) {
    match (children(expected), children(actual)) {
        (Some(before), Some(after)) => {
            for (name, expected) in &before {
                let path = join(path, name);
                match after.iter().find(|(other, _)| other == name) {
                    Some((_, actual)) => compare(&path, expected, actual, changes),
                    None => {
                        changes.push(format!("{path} is missing (was {})", truncated(expected)))
                    }
                }
            }
            for (name, actual) in &after {
                if !before.iter().any(|(other, _)| other == name) {
                    changes.push(format!(
                        "{} is new: {}",
                        join(path, name),
                        truncated(actual)
                    ));
                }
            }
        }
        _ if expected == actual => {}
        _ => changes.push(format!(
            "{path}: {} became {}",
            truncated(expected),
            truncated(actual)
        )),
    }
}

/// Returns the named children of a value; `None` if the value is compared as a whole.
fn children(value: &Value) -> Option<Vec<(String, &Value)>> {
    match value {
        Value::Object(object) => {
            let named = object.iter().map(|(key, value)| (key.clone(), value));
            Some(named.collect())
        }
        Value::Array(items) => items
            .iter()
            .map(|item| Some((name_of(item)?.to_owned(), item)))
            .collect(),
        _ => None,
    }
}

/// The identifier of a tool, prompt, resource or template.
fn name_of(item: &Value) -> Option<&str> {
    let keys = ["uri", "uriTemplate", "name"];
    keys.iter().find_map(|key| item.get(key)?.as_str())
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path} / {name}")
    }
}

fn truncated(value: &Value) -> String {
    const MAX_CHARS: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
