//! Edits of a typed value, applied to the JSON that the value was read from.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use serde_json::value::RawValue;

use crate::raw::RawJson;

/// Objects below this depth are written as their type writes them. `serde_json` reads no deeper values.
const MAX_DEPTH: usize = 128;

/// Appends `raw` with the changes from `before` to `after`, which are written by the same type.
///
/// An object keeps the members that `before` does not have. A list keeps its unchanged elements. A changed
/// element of a list is written as in `after`, and its unchanged members as in `raw`.
pub(super) fn patch(
    raw: RawJson<'_>,
    before: RawJson<'_>,
    after: RawJson<'_>,
    depth: usize,
    out: &mut String,
) {
    let starts_with = |first: char| {
        let mut values = [raw, before, after].into_iter();
        values.all(|value| value.as_str().starts_with(first))
    };
    if before == after {
        out.push_str(raw.as_str());
    } else if starts_with('{') && depth < MAX_DEPTH {
        patch_object(raw, before, after, depth, out);
    } else if starts_with('[') {
        patch_list(raw, before, after, out);
    } else {
        out.push_str(after.as_str());
    }
}

fn patch_object(
    raw: RawJson<'_>,
    before: RawJson<'_>,
    after: RawJson<'_>,
    depth: usize,
    out: &mut String,
) {
    let former: HashMap<_, _> = before.members().collect();
    let mut changed: HashMap<_, _> = after.members().collect();
    let mut members = ObjectWriter::new(out);
    for (key, value) in raw.members() {
        match (former.get(&key), changed.remove(&key)) {
            (Some(former), Some(changed)) => {
                patch(value, *former, changed, depth + 1, members.value(&key));
            }
            (None, Some(changed)) => members.value(&key).push_str(changed.as_str()),
            (None, None) => members.value(&key).push_str(value.as_str()),
            (Some(_), None) => {}
        }
    }
    for (key, _) in after.members() {
        // A member of both that `raw` does not have is a default, which the type always writes.
        if let Some(value) = changed.remove(&key)
            && former.get(&key) != Some(&value)
        {
            members.value(&key).push_str(value.as_str());
        }
    }
    members.end();
}

fn patch_list(raw: RawJson<'_>, before: RawJson<'_>, after: RawJson<'_>, out: &mut String) {
    let (raws, former, changed) = (elements(raw), elements(before), elements(after));
    if raws.len() != former.len() {
        out.push_str(after.as_str());
        return;
    }
    let mut places: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (index, element) in former.iter().enumerate() {
        places.entry(element.as_str()).or_default().push_back(index);
    }
    let unchanged: Vec<Option<usize>> = changed
        .iter()
        .map(|element| places.get_mut(element.as_str())?.pop_front())
        .collect();
    let edited = places.into_values().flatten();
    let members = known_members(edited.map(|index| (raws[index], former[index])));
    out.push('[');
    for (index, (element, place)) in changed.iter().zip(unchanged).enumerate() {
        if index > 0 {
            out.push(',');
        }
        match place {
            Some(place) => out.push_str(raws[place].as_str()),
            None => write_changed(*element, &members, out),
        }
    }
    out.push(']');
}

/// The members of edited elements: name and value as the type writes it, and the value as it arrived.
type KnownMembers<'a> = HashMap<(Cow<'a, str>, &'a str), RawJson<'a>>;

fn known_members<'a>(edited: impl Iterator<Item = (RawJson<'a>, RawJson<'a>)>) -> KnownMembers<'a> {
    let mut known = KnownMembers::new();
    for (raw, before) in edited {
        let arrived: HashMap<_, _> = raw.members().collect();
        for (key, value) in before.members() {
            if let Some(raw) = arrived.get(&key) {
                known.insert((key, value.as_str()), *raw);
            }
        }
    }
    known
}

fn write_changed(element: RawJson<'_>, known: &KnownMembers<'_>, out: &mut String) {
    if !element.is_object() {
        out.push_str(element.as_str());
        return;
    }
    let mut members = ObjectWriter::new(out);
    for (key, value) in element.members() {
        let arrived = known.get(&(Cow::Borrowed(&*key), value.as_str()));
        let value = arrived.unwrap_or(&value).as_str();
        members.value(&key).push_str(value);
    }
    members.end();
}

fn elements(list: RawJson<'_>) -> Vec<RawJson<'_>> {
    let elements: Vec<&RawValue> = list.read().unwrap_or_default();
    elements.into_iter().map(RawJson::new).collect()
}

/// Writes the members of an object.
struct ObjectWriter<'o> {
    out: &'o mut String,
    separator: char,
}

impl<'o> ObjectWriter<'o> {
    fn new(out: &'o mut String) -> Self {
        Self {
            out,
            separator: '{',
        }
    }

    /// Writes a name. The caller appends its value to the returned string.
    fn value(&mut self, key: &str) -> &mut String {
        self.out.push(self.separator);
        self.separator = ',';
        self.out.push_str(&serde_json::Value::from(key).to_string());
        self.out.push(':');
        self.out
    }

    fn end(self) {
        self.out
            .push_str(if self.separator == '{' { "{}" } else { "}" });
    }
}

#[cfg(test)]
mod tests {
    use super::patch;
    use crate::raw::RawJson;

    #[track_caller]
    fn check(raw: &str, before: &str, after: &str, expected: &str) {
        let [raw, before, after] = [raw, before, after].map(RawJson::from_valid);
        let mut out = String::new();
        patch(raw, before, after, 0, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn object_keeps_unknown_members_and_order() {
        check(
            r#"{"x": 1.50, "b": {"y": 1e2, "c": 1}, "a": null, "d": 4}"#,
            r#"{"b":{"c":1},"d":4,"e":5}"#,
            r#"{"a":"new","b":{"c":2},"e":5,"f":6}"#,
            r#"{"x":1.50,"b":{"y":1e2,"c":2},"a":"new","f":6}"#,
        );
        check("{}", "{}", r#"{"a":1}"#, r#"{"a":1}"#);
        check(r#"{"a":1}"#, r#"{"a":1}"#, "{}", "{}");
    }

    #[test]
    fn list_keeps_unchanged_elements_and_members() {
        check(
            r#"[{"n":"a","s":{"max":1.0},"x":1},{"n":"b","x":2},{"n":"b","x":3}]"#,
            r#"[{"n":"a","s":{"max":1}},{"n":"b"},{"n":"b"}]"#,
            r#"[{"n":"b"},{"n":"A","s":{"max":1}},{"n":"c"}]"#,
            r#"[{"n":"b","x":2},{"n":"A","s":{"max":1.0}},{"n":"c"}]"#,
        );
        check("[1.0,2.0]", "[1,2]", "[2,3]", "[2.0,3]");
        // A type that drops elements.
        check("[1.0,2.0]", "[1]", "[2]", "[2]");
    }

    #[test]
    fn changed_kind_is_written_as_edited() {
        check(r#"{"a":1}"#, r#"{"a":1}"#, "[]", "[]");
        check("null", "null", "1", "1");
    }

    #[test]
    fn deep_object_is_written_as_edited() {
        let nested = |inner: &str| format!("{}{inner}{}", r#"{"a":"#.repeat(200), "}".repeat(200));
        let mut out = String::new();
        let (raw, before, after) = (nested(r#"{"x":1}"#), nested("{}"), nested(r#"{"b":2}"#));
        let [raw, before, after] = [&*raw, &*before, &*after].map(RawJson::from_valid);
        patch(raw, before, after, 0, &mut out);
        assert_eq!(out, after.as_str());
    }
}
