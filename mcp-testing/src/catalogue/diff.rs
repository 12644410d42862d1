//! What has changed between two values, as lines for people.

use serde_json::Value;

/// What has changed, a line per change: where, and what. Items of lists go by their names.
pub(super) fn changes(kept: &Value, found: &Value) -> Vec<String> {
    let mut changes = Vec::new();
    compare("", kept, found, &mut changes);
    changes
}

fn compare(place: &str, kept: &Value, found: &Value, changes: &mut Vec<String>) {
    match (parts(kept), parts(found)) {
        (Some(before), Some(after)) => {
            for (name, kept) in &before {
                let inner = join(place, name);
                match after.iter().find(|(other, _)| other == name) {
                    Some((_, found)) => compare(&inner, kept, found, changes),
                    None => changes.push(format!("{inner} is gone (was {})", short(kept))),
                }
            }
            for (name, found) in &after {
                if !before.iter().any(|(other, _)| other == name) {
                    changes.push(format!("{} is new: {}", join(place, name), short(found)));
                }
            }
        }
        _ if kept == found => {}
        _ => changes.push(format!("{place}: {} became {}", short(kept), short(found))),
    }
}

/// The parts of a value by their names; `None` when it is compared as a whole.
fn parts(value: &Value) -> Option<Vec<(String, &Value)>> {
    match value {
        Value::Object(members) => {
            let named = members.iter().map(|(key, value)| (key.clone(), value));
            Some(named.collect())
        }
        Value::Array(items) => items
            .iter()
            .map(|item| Some((name_of(item)?.to_owned(), item)))
            .collect(),
        _ => None,
    }
}

/// What a tool, prompt, resource or template goes by.
fn name_of(item: &Value) -> Option<&str> {
    let keys = ["uri", "uriTemplate", "name"];
    keys.iter().find_map(|key| item.get(key)?.as_str())
}

fn join(place: &str, name: &str) -> String {
    if place.is_empty() {
        name.to_owned()
    } else {
        format!("{place} / {name}")
    }
}

fn short(value: &Value) -> String {
    const LENGTH: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
