//! Resources that are data: rows of a listed template.

use std::collections::BTreeMap;

use mcp_types::uri_template::{Part, parts};
use serde_json::Value;

use crate::catalog::snapshot::Snapshot;

/// Steps of all matches in one snapshot. Resources that would need more are not data.
const MAX_STEPS: usize = 50_000_000;

/// Bytes of a first literal that are compared in one step.
const COMPARED_BYTES: usize = 16;

impl Snapshot {
    /// Returns the snapshot without resources that a listed template matches: the template's rows are data, which
    /// changes while the server stays the same.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::catalog::Snapshot;
    ///
    /// let snapshot: Snapshot = r#"{
    ///     "resources": [{"uri": "users://7", "name": "Ada"}, {"uri": "help://all", "name": "help"}],
    ///     "resourceTemplates": [{"uriTemplate": "users://{id}", "name": "user"}]
    /// }"#.parse()?;
    /// let snapshot = snapshot.without_template_data();
    /// let resources = &snapshot.as_value()["resources"];
    /// assert_eq!(resources.as_array().map(Vec::len), Some(1));
    /// assert_eq!(resources[0]["uri"], "help://all");
    /// # Ok::<(), mcp::catalog::SnapshotError>(())
    /// ```
    #[must_use]
    pub fn without_template_data(&self) -> Self {
        let rows = template_data(self);
        let mut value = self.0.clone();
        if let Some(Value::Array(resources)) = value.get_mut("resources") {
            resources.retain(|resource| {
                let uri = resource.get("uri").and_then(Value::as_str);
                uri.is_none_or(|uri| !rows.contains_key(uri))
            });
        }
        Self(value)
    }
}

/// Returns the resources of a snapshot that a listed template matches: each URI with its template.
pub(super) fn template_data(snapshot: &Snapshot) -> BTreeMap<&str, &str> {
    let templates = snapshot.items("resourceTemplates", "uriTemplate");
    let templates = templates.into_iter().filter(|(text, _)| has_scheme(text));
    let patterns = templates.map(|(text, _)| (text, parts(text).collect::<Vec<_>>()));
    let patterns: Vec<(&str, Vec<Part<'_>>)> = patterns.collect();
    let mut steps = MAX_STEPS;
    let resources = snapshot.items("resources", "uri").into_iter();
    let rows = resources.filter_map(|(uri, _)| {
        if steps == 0 {
            return None;
        }
        let mut all = patterns.iter();
        let (text, _) = all.find(|(_, parts)| matches(parts, uri, &mut steps))?;
        Some((uri, *text))
    });
    rows.collect()
}

/// Returns true if the scheme of a template is fixed. Templates such as `{+uri}` match all resources, and so
/// say nothing about one.
fn has_scheme(template: &str) -> bool {
    matches!(parts(template).next(), Some(Part::Literal(text)) if text.contains(':'))
}

/// Returns true if a URI can be an expansion of a template. The states are the offsets at which the parts so
/// far may end, so a byte of the URI is read at most once for each part. `steps` limits the work.
fn matches(parts: &[Part<'_>], uri: &str, steps: &mut usize) -> bool {
    let first = match parts.first() {
        Some(Part::Literal(text)) => text,
        _ => "",
    };
    *steps = steps.saturating_sub(1 + first.len() / COMPARED_BYTES);
    if !uri.starts_with(first) {
        return false;
    }
    let bytes = uri.as_bytes();
    let mut ends = vec![false; bytes.len() + 1];
    ends[0] = true;
    for part in parts {
        let length = match part {
            Part::Literal(text) => text.len(),
            Part::Expression { .. } => 1,
        };
        let Some(rest) = steps.checked_sub(ends.len() * length) else {
            *steps = 0;
            return false;
        };
        *steps = rest;
        ends = match part {
            Part::Literal(text) => after_literal(text.as_bytes(), bytes, &ends),
            Part::Expression { operator, .. } => after_expression(*operator, bytes, &ends),
        };
    }
    ends.last() == Some(&true)
}

fn after_literal(text: &[u8], uri: &[u8], starts: &[bool]) -> Vec<bool> {
    let mut ends = vec![false; starts.len()];
    for (at, end) in ends.iter_mut().enumerate().skip(text.len()) {
        let start = at - text.len();
        *end = starts[start] && uri[start..].starts_with(text);
    }
    ends
}

/// `{id}` and `{+path}` have at least one character. Other expressions are empty, or start with their operator.
fn after_expression(operator: Option<char>, uri: &[u8], starts: &[bool]) -> Vec<bool> {
    let excluded: &[u8] = match operator {
        Some('+' | '#') => b"",
        Some('?' | '&') => b"#",
        Some('/') => b"?#",
        _ => b"/?#",
    };
    let prefix = operator.filter(|operator| *operator != '+');
    let mut ends = match prefix {
        Some(_) => starts.to_vec(),
        None => vec![false; starts.len()],
    };
    let mut is_inside = false;
    for (at, byte) in uri.iter().enumerate() {
        let is_plain = !excluded.contains(byte);
        is_inside = match prefix {
            Some(prefix) => {
                let is_prefix = u32::from(*byte) == u32::from(prefix);
                starts[at] && is_prefix || is_inside && is_plain
            }
            None => (starts[at] || is_inside) && is_plain,
        };
        ends[at + 1] |= is_inside;
    }
    ends
}

#[cfg(test)]
mod tests {
    use mcp_types::uri_template::parts;

    use super::{MAX_STEPS, has_scheme, matches, template_data};
    use crate::catalog::Snapshot;

    fn is_data(template: &str, uri: &str) -> bool {
        let parts: Vec<_> = parts(template).collect();
        has_scheme(template) && matches(&parts, uri, &mut { MAX_STEPS })
    }

    #[test]
    fn expansions_of_a_template_are_its_data() {
        for (template, uri) in [
            ("users://{id}", "users://7"),
            ("users://{id}", "users://a%2Fb:c"),
            ("users://{id}/{name}.json", "users://7/a.json.json"),
            ("users://{id}/x/{name}", "users://a/x/x"),
            ("file:///{+path}", "file:///etc/hosts"),
            ("db://{+path}/end{?a}", "db://a/end/b/end?a=1"),
            ("db://{table}{/a,b}", "db://t"),
            ("db://{table}{/a,b}", "db://t/1/2"),
            ("db://{table}{?a,b}", "db://t?b=2&a=1"),
            ("db://t?fixed=1{&a}", "db://t?fixed=1&a=2"),
            ("db://t{.kind}{;x}{#part}", "db://t.csv;x=1#a/b"),
            ("db://{a}{b}", "db://xy"),
            ("config://app", "config://app"),
        ] {
            assert!(is_data(template, uri), "{template} {uri}");
        }
        for (template, uri) in [
            ("users://{id}", "users://"),
            ("users://{id}", "users://7/photo"),
            ("users://{id}", "users://7?page=1"),
            ("users://{id}", "user://7"),
            ("users://{id}/photo", "users://7"),
            ("users://{id}.json", "users://7.xml"),
            ("db://{a}{b}", "db://x"),
            ("db://{table}{/a}", "db://t?x"),
            ("db://{table}{?a}", "db://t#x"),
            ("db://{table", "db://t"),
            ("", ""),
            // They match everything.
            ("{+uri}", "users://7"),
            ("{scheme}://{+rest}", "users://7"),
            ("{+uri}:", "users:"),
        ] {
            assert!(!is_data(template, uri), "{template} {uri}");
        }
    }

    #[test]
    fn work_of_one_snapshot_is_limited() {
        let template = format!("x:{}", "{+a}a".repeat(1000));
        let resource =
            |number: usize| serde_json::json!({"uri": format!("x:{number}{}", "a".repeat(4000))});
        let snapshot = Snapshot::from_value(serde_json::json!({
            "resourceTemplates": [{"uriTemplate": template}],
            "resources": (0..100).map(resource).collect::<Vec<_>>(),
        }));
        let snapshot = snapshot.unwrap();
        let mut steps = MAX_STEPS;
        let parts: Vec<_> = parts(&template).collect();
        let uri = format!("x:0{}", "a".repeat(4000));
        assert!(matches(&parts, &uri, &mut steps));
        assert_eq!(MAX_STEPS - steps, 1 + 4004 * 2002);
        assert_eq!(template_data(&snapshot).len(), 6);
        assert!(!matches(&parts, &uri, &mut 1_000));
    }

    #[test]
    fn first_literal_that_does_not_match_costs_its_length() {
        let prefix = format!("x:{}", "a".repeat(2000));
        let (template, uri) = (format!("{prefix}b{{id}}"), format!("{prefix}c1"));
        let parts: Vec<_> = parts(&template).collect();
        let mut steps = MAX_STEPS;
        assert!(!matches(&parts, &uri, &mut steps));
        assert_eq!(MAX_STEPS - steps, 1 + 2003 / 16);
        assert!(!matches(&parts, &uri, &mut 100));
    }
}
