//! Identifiers and anchors, which can lead references elsewhere than the work of a schema was computed for.
//!
//! The `jsonschema` crate resolves identifiers as URIs, by the rules of each draft. One that is relative, comes twice, or stands
//! beside a `$ref` of draft 7 has another meaning there, and a schema of a kilobyte can then occupy a thread for hours.

use std::collections::{HashMap, HashSet};

use mcp_schema::{Keywords as _, Node, Schema};

use crate::schema::SchemaError;

/// Checks that each reference can have only one meaning. Schemas without references may have any identifier.
///
/// # Errors
///
/// Returns [`SchemaError::Invalid`] for an identifier below the root that is not a plain absolute URI of a schema in `$defs`, for
/// all of draft 7 and older ones except unique anchors, and for what comes twice.
pub(super) fn check(schema: &Schema<'_>) -> Result<(), SchemaError> {
    if !schema.nodes().any(Node::has_references) {
        return Ok(());
    }
    let has_draft = |name: &str| {
        let mut dialects = schema.nodes().filter_map(|node| node.text("$schema"));
        dialects.any(|dialect| dialect.contains(name))
    };
    let (is_old, is_oldest) = (has_draft("draft-0"), has_draft("draft-04"));
    let root = schema.root().text("$id");
    let mut known = HashSet::from([key(root.unwrap_or("json-schema:///"))]);
    let mut anchors = HashMap::new();
    for node in schema.nodes() {
        // All dynamic anchors of a name are counted.
        let mut is_new = |name, is_dynamic| {
            let before = anchors.insert((node.resource(), name), is_dynamic);
            before.is_none_or(|was_dynamic: bool| was_dynamic && is_dynamic)
        };
        let is_root = node.id() == schema.root().id();
        let own = node.text("$id").filter(|_| !is_root);
        let has_one_meaning = match own.map(|own| (own, own.strip_prefix('#'))) {
            None => true,
            Some((_, anchor)) if is_old => {
                anchor.is_some_and(|name| !is_oldest && is_new(name, false))
            }
            Some((own, _)) => {
                let is_plain = root.is_none_or(is_plain) && is_plain(own);
                is_plain && is_in_definitions(node) && known.insert(key(own))
            }
        };
        let mut names = [("$anchor", false), ("$dynamicAnchor", true)].into_iter();
        let has_own_anchors = names.all(|(keyword, is_dynamic)| {
            let name = node.text(keyword);
            name.is_none_or(|name| !is_old && is_new(name, is_dynamic))
        });
        let has_oldest = is_oldest && !is_root && node.text("id").is_some();
        if !has_one_meaning || !has_own_anchors || has_oldest {
            return Err(SchemaError::Invalid(format!(
                "the identifier or anchor at #{} can mean several schemas; leave it out, and refer to `#/$defs/…`",
                node.pointer()
            )));
        }
    }
    Ok(())
}

/// Returns the form of an identifier that is the same for all of its spellings.
fn key(identifier: &str) -> String {
    identifier.trim_end_matches(['#', '/']).to_ascii_lowercase()
}

/// Returns true for an absolute URI that stays as it is when it is resolved and normalized.
fn is_plain(identifier: &str) -> bool {
    let identifier = identifier.trim_end_matches('#');
    let is_plain = |rest: &str, others: &[u8]| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || others.contains(&byte);
        rest.bytes().all(is_plain) && !rest.contains("/.") && !rest.contains("json-schema.org")
    };
    let web = identifier.strip_prefix("https://");
    let web = web.or_else(|| identifier.strip_prefix("http://"));
    let name = identifier.strip_prefix("urn:");
    web.is_some_and(|rest| is_plain(rest, b"/._-"))
        || name.is_some_and(|rest| is_plain(rest, b":._-"))
}

/// Returns true for a schema to which names in `$defs` alone lead: in other places drafts differ.
fn is_in_definitions(node: Node<'_>) -> bool {
    let pointer = node.pointer();
    let mut keywords = pointer.split('/').skip(1).step_by(2);
    let is_whole = !pointer.ends_with('…') && pointer.matches('/').count().is_multiple_of(2);
    is_whole && keywords.all(|keyword| keyword == "$defs")
}

#[cfg(test)]
mod tests {
    use mcp_types::JsonObject;
    use serde_json::{Value, json};

    use super::super::tests::cost_of;

    /// A schema whose work doubles at each of 26 levels if `link` leads to the definition with a name at the root.
    fn doubling(dialect: &str, keyword: &str, link: impl Fn(&str) -> Value) -> Value {
        let level = |level: usize| {
            let next = link(&format!("d{}", level + 1));
            let both = json!({"allOf": [next, {"allOf": [next]}]});
            (format!("d{level}"), both)
        };
        let mut definitions: JsonObject = (0..26).map(level).collect();
        definitions.insert("d26".to_owned(), json!({"type": "object"}));
        let mut schema =
            json!({keyword: definitions, "allOf": [{"$ref": format!("#/{keyword}/d0")}]});
        if !dialect.is_empty() {
            schema["$schema"] = dialect.into();
        }
        schema
    }

    fn old(number: usize) -> String {
        format!("http://json-schema.org/draft-0{number}/schema#")
    }

    /// Definitions that accept everything.
    fn nothing() -> JsonObject {
        (0..27)
            .map(|level| (format!("d{level}"), json!({})))
            .collect()
    }

    /// References that the nearest identifier leads to a definition that accepts everything.
    fn identified() -> Vec<(&'static str, Value)> {
        let own = |keyword: &'static str, id: &'static str, draft: &str| {
            doubling(
                draft,
                keyword,
                |to| json!({"$id": id, "$ref": format!("#/{keyword}/{to}"), keyword: {to: {}}}),
            )
        };
        let named = |id: &str| {
            let mut named = doubling("", "$defs", |to| json!({"$ref": format!("#/$defs/{to}")}));
            named[id] = "urn:a".into();
            named
        };

        vec![
            (
                "beside a reference of draft 7",
                own("definitions", "urn:s", &old(7)),
            ),
            ("an empty fragment", own("$defs", "#", "")),
            ("empty", own("$defs", "", "")),
            ("of the root", own("$defs", "json-schema:///", "")),
            (
                "of the root, not normalized",
                own("$defs", "json-schema:///a/..", ""),
            ),
            ("relative", own("$defs", "?", "")),
            (
                "no keyword of draft 4",
                doubling(
                    &old(4),
                    "definitions",
                    |to| json!({"$id": "urn:s", "allOf": [{"$ref": format!("#/definitions/{to}")}], "definitions": {to: {}}}),
                ),
            ),
            (
                "of draft 4",
                json!({"$schema": old(4), "allOf": [named("id")], "$defs": nothing()}),
            ),
            (
                "twice",
                json!({"$ref": "urn:a#/$defs/d0", "$defs": {"a": {"items": named("$id")}, "b": {"$id": "urn:a", "$defs": nothing()}}}),
            ),
            (
                "in other spelling",
                json!({"$ref": "http://a/#/$defs/d0", "$defs": {"a": {"$id": "HTTP://A"}, "b": {"$id": "http://a/"}}}),
            ),
            (
                "anchor twice",
                json!({"$ref": "#a", "$defs": {"a": {"$anchor": "a"}, "b": {"$dynamicAnchor": "a"}}}),
            ),
        ]
    }

    /// References whose target depends on the way to them.
    fn dynamic() -> Vec<(&'static str, Value)> {
        let inner = |level: usize| {
            let next = format!("#/$defs/d{}", level + 1);
            let twice = json!({"allOf": [{"$ref": next}, {"title": "", "$ref": next}]});
            (format!("d{level}"), twice)
        };
        let data: JsonObject = (0..26).map(inner).collect();
        let to_data = |level| {
            (
                format!("d{level}"),
                json!({"$ref": format!("urn:r#/$defs/s/data/d{level}")}),
            )
        };
        let mut definitions: JsonObject = (0..26).map(to_data).collect();
        definitions.insert("d26".to_owned(), json!({}));
        let mut with_data = nothing();
        with_data.insert(
            "s".to_owned(),
            json!({"$id": "urn:s", "data": data, "$defs": definitions}),
        );
        let anchored = |reference: Value| {
            json!({
                "$dynamicAnchor": "n",
                "properties": {"a": {"allOf": [{"$ref": "urn:s"}, {"title": "", "$ref": "urn:s"}]}},
                "$defs": {"s": {"$id": "urn:s", "allOf": [reference], "$defs": {"n": {"$dynamicAnchor": "n"}}}},
            })
        };
        let recursive = json!({"$ref": "urn:s#/$defs/k"});

        vec![
            (
                "data of a resource",
                json!({"$id": "urn:r", "$ref": "#/$defs/s/data/d0", "$defs": with_data}),
            ),
            (
                "dynamic, with a resource",
                anchored(json!({"$dynamicRef": "urn:s#n"})),
            ),
            ("to a dynamic anchor", anchored(json!({"$ref": "urn:s#n"}))),
            (
                "recursive",
                json!({
                    "$schema": "https://json-schema.org/draft/2019-09/schema",
                    "$recursiveAnchor": true,
                    "properties": {"a": {"allOf": [recursive, {"allOf": [recursive]}]}},
                    "$defs": {"s": {"$id": "urn:s", "$recursiveAnchor": true, "$defs": {"k": {"$recursiveRef": "#"}}}},
                }),
            ),
            (
                "recursive to a name",
                json!({"$recursiveRef": "#a", "$defs": {"a": {"$anchor": "a"}}}),
            ),
        ]
    }

    /// The validator takes each of these references for one to another schema. The work of the schema that it evaluates counts.
    #[test]
    fn reference_with_another_meaning_for_the_validator_is_refused_or_counted() {
        let deep = (0..26).fold(json!({"b": 1}), |inner, _| json!({"a": inner}));
        for (name, schema) in identified().into_iter().chain(dynamic()) {
            let cost = cost_of(&schema);
            let is_refused = cost.is_err() || cost.is_ok_and(|cost| cost.check(&deep).is_err());
            assert!(is_refused, "{name}");
        }
        for schema in [
            json!({"$id": "https://a/b.json", "$ref": "#/definitions/a", "definitions": {"a": {}}}),
            json!({"$schema": old(7), "$id": "x", "properties": {"a": {"$id": "#/properties/a"}, "id": {"$ref": "#/properties/a"}}}),
            json!({"$schema": old(4), "id": "urn:r", "properties": {"id": {"$ref": "#/definitions/a"}}, "definitions": {"a": {}}}),
            json!({"$schema": old(6), "properties": {"a": {"$id": "https://a/b"}, "b": {"$id": "c"}}}),
            json!({"$ref": "https://a/b#/$defs/d", "$defs": {"c": {"$id": "https://a/b", "$defs": {"d": {}}}}}),
        ] {
            let cost = cost_of(&schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
            cost.check(&deep).unwrap();
        }
    }
}
