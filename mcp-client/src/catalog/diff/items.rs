//! Differences of tools, prompts, resources, templates and capabilities.

use serde_json::{Map, Value};

use super::recorder::{Pair, Recorder, brief, join, pairs};
use super::schema::{Direction, compare_schemas};
use crate::catalog::difference::Impact::{Breaking, Compatible, Cosmetic};
use crate::catalog::snapshot::{LISTS, Snapshot};
use crate::catalog::template_data::template_data;

type Item = Map<String, Value>;

pub(super) fn compare(old: &Snapshot, new: &Snapshot, recorder: &mut Recorder) {
    if let (Some(old), Some(new)) = (old.capabilities(), new.capabilities()) {
        capabilities(old, new, "/capabilities", recorder);
    }
    let (old_data, new_data) = (template_data(old), template_data(new));
    let mut rows = Vec::new();
    for (list, key) in LISTS {
        let compare_items = match list {
            "tools" => tool,
            "prompts" => prompt,
            _ => resource,
        };
        let path = format!("/{list}");
        for (name, path, old, new) in pairs(old.items(list, key), new.items(list, key), &path) {
            let template = match old {
                _ if list != "resources" => None,
                Some(_) => old_data.get(name),
                None => new_data.get(name),
            };
            if let Some(template) = template {
                rows.push(((name, path, old, new), *template));
                continue;
            }
            match (old, new) {
                (Some(old), Some(new)) => compare_items(old, new, &path, recorder),
                (Some(_), None) => recorder.add(Breaking, &path, "removed; calls of it fail"),
                (None, _) => recorder.add(Compatible, &path, "added"),
            }
        }
    }
    // Last, because there can be more rows than listed differences.
    for (pair, template) in rows {
        row(pair, template, recorder);
    }
}

/// Compares a resource that is data of a template.
fn row((_, path, old, new): Pair<'_, &Item>, template: &str, recorder: &mut Recorder) {
    let data = |change: &str| format!("{change}: data of the template {template}");
    match (old, new) {
        (Some(old), Some(new)) => others(old, new, &["uri"], &path, recorder),
        (Some(_), None) => recorder.add(Cosmetic, &path, data("removed")),
        (None, _) => recorder.add(Cosmetic, &path, data("added")),
    }
}

fn tool(old: &Item, new: &Item, path: &str, recorder: &mut Recorder) {
    let empty = Value::Object(Map::new());
    let input = |item: &Item| item.get("inputSchema").cloned().unwrap_or(empty.clone());
    let schema = join(path, "inputSchema");
    compare_schemas(
        &input(old),
        &input(new),
        Direction::Input,
        &schema,
        recorder,
    );
    let schema = join(path, "outputSchema");
    match (old.get("outputSchema"), new.get("outputSchema")) {
        (Some(old), Some(new)) => {
            compare_schemas(old, new, Direction::Output, &schema, recorder);
        }
        (Some(_), None) => {
            recorder.add(
                Breaking,
                &schema,
                "removed; results have no promised structure",
            );
        }
        (None, Some(_)) => recorder.add(Compatible, &schema, "added"),
        (None, None) => {}
    }
    hints(old, new, &join(path, "annotations"), recorder);
    task_support(old, new, &join(path, "execution"), recorder);
    let compared = [
        "name",
        "inputSchema",
        "outputSchema",
        "annotations",
        "execution",
    ];
    others(old, new, &compared, path, recorder);
}

/// Compares the hints of a tool. Clients decide by them whether they ask the user, so a tool that
/// becomes less safe is breaking.
fn hints(old: &Item, new: &Item, path: &str, recorder: &mut Recorder) {
    // The name, the default, and the safe value.
    const HINTS: [(&str, bool, bool); 4] = [
        ("readOnlyHint", false, true),
        ("destructiveHint", true, false),
        ("idempotentHint", false, true),
        ("openWorldHint", true, false),
    ];
    let annotation = |item: &Item, name: &str| item.get("annotations")?.get(name).cloned();
    for (name, default, safe) in HINTS {
        let hint = |item| annotation(item, name).and_then(|hint| hint.as_bool());
        let was = hint(old).unwrap_or(default);
        let is = hint(new).unwrap_or(default);
        if was != is {
            let (impact, effect) = if is == safe {
                (Compatible, "")
            } else {
                (Breaking, "; clients may have approved the tool by it")
            };
            let reason = format!("{was} became {is}{effect}");
            recorder.add(impact, &join(path, name), reason);
        }
    }
    if annotation(old, "title") != annotation(new, "title") {
        recorder.add(Cosmetic, &join(path, "title"), "changed");
    }
}

/// Compares whether calls of a tool become tasks.
fn task_support(old: &Item, new: &Item, path: &str, recorder: &mut Recorder) {
    fn support(item: &Item) -> &str {
        let support = item
            .get("execution")
            .and_then(|value| value.get("taskSupport"));
        support.and_then(Value::as_str).unwrap_or("forbidden")
    }
    let (was, is) = (support(old), support(new));
    if was == is {
        return;
    }
    let (impact, effect) = match (was, is) {
        (_, "required") => (Breaking, "; plain calls fail"),
        (_, "forbidden") => (Breaking, "; calls as tasks fail"),
        _ => (Compatible, ""),
    };
    let reason = format!("{was} became {is}{effect}");
    recorder.add(impact, &join(path, "taskSupport"), reason);
}

fn prompt(old: &Item, new: &Item, path: &str, recorder: &mut Recorder) {
    let is_required =
        |argument: &Item| argument.get("required").and_then(Value::as_bool) == Some(true);
    let arguments_path = join(path, "arguments");
    for (_, path, was, is) in pairs(arguments(old), arguments(new), &arguments_path) {
        let change = match (was.map(is_required), is.map(is_required)) {
            (Some(_), None) => Some((Breaking, "argument removed; clients that send it may fail")),
            (None, Some(true)) => Some((
                Breaking,
                "required argument added; clients that omit it fail",
            )),
            (None, _) => Some((Compatible, "optional argument added")),
            (Some(false), Some(true)) => {
                Some((Breaking, "became required; clients that omit it fail"))
            }
            (Some(true), Some(false)) => Some((Compatible, "became optional")),
            _ => None,
        };
        if let Some((impact, reason)) = change {
            recorder.add(impact, &path, reason);
        }
        if let (Some(was), Some(is)) = (was, is) {
            others(was, is, &["name", "required"], &path, recorder);
        }
    }
    others(old, new, &["name", "arguments"], path, recorder);
}

fn arguments(prompt: &Item) -> Vec<(&str, &Item)> {
    let arguments = prompt.get("arguments").and_then(Value::as_array);
    let arguments = arguments.into_iter().flatten().filter_map(Value::as_object);
    let named = arguments.filter_map(|argument| Some((argument.get("name")?.as_str()?, argument)));
    named.collect()
}

fn resource(old: &Item, new: &Item, path: &str, recorder: &mut Recorder) {
    let mime = |item: &Item| item.get("mimeType").cloned();
    match (mime(old), mime(new)) {
        (Some(was), is) if Some(&was) != is.as_ref() => {
            let is = is.as_ref().map_or_else(|| "nothing".to_owned(), brief);
            let reason = format!(
                "{} became {is}; clients cannot read it as before",
                brief(&was)
            );
            recorder.add(Breaking, &join(path, "mimeType"), reason);
        }
        (None, Some(is)) => {
            let reason = format!("added: {}", brief(&is));
            recorder.add(Compatible, &join(path, "mimeType"), reason);
        }
        _ => {}
    }
    others(
        old,
        new,
        &["uri", "uriTemplate", "mimeType"],
        path,
        recorder,
    );
}

/// Compares the fields that no rule covers. They are texts, icons and annotations.
fn others(old: &Item, new: &Item, compared: &[&str], path: &str, recorder: &mut Recorder) {
    for (name, path, was, is) in pairs(old, new, path) {
        match (was, is) {
            _ if compared.contains(&name) => {}
            (Some(was), Some(is)) if was != is => {
                let reason = format!("{} became {}", brief(was), brief(is));
                recorder.add(Cosmetic, &path, reason);
            }
            (Some(_), None) => recorder.add(Cosmetic, &path, "removed"),
            (None, Some(_)) => recorder.add(Cosmetic, &path, "added"),
            _ => {}
        }
    }
}

/// Compares capabilities. `false` and a missing capability are the same.
fn capabilities(old: &Value, new: &Value, path: &str, recorder: &mut Recorder) {
    let is_absent = |value: &Value| matches!(value, Value::Null | Value::Bool(false));
    match (old, new) {
        (old, new) if is_absent(old) && is_absent(new) => {}
        (old, new) if is_absent(old) && !is_absent(new) => {
            recorder.add(Compatible, path, "added");
        }
        (old, new) if !is_absent(old) && is_absent(new) => {
            recorder.add(Breaking, path, "removed; clients that use it fail");
        }
        (Value::Object(was), Value::Object(is)) => {
            for (_, path, was, is) in pairs(was, is, path) {
                let (was, is) = (was.unwrap_or(&Value::Null), is.unwrap_or(&Value::Null));
                capabilities(was, is, &path, recorder);
            }
        }
        (was, is) if was != is => {
            let reason = format!("{} became {}", brief(was), brief(is));
            recorder.add(Compatible, path, reason);
        }
        _ => {}
    }
}
