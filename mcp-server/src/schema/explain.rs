//! Mistakes in arguments, in terms of the schema that the language model knows.
//!
//! This runs only after decoding or a check has failed. It finds all mistakes at once: missing and unknown
//! names, wrong types, values that are not in a list. Bounds, lengths and patterns are found by
//! [`Constraints`](crate::constraints::Constraints).

use std::collections::HashSet;

use mcp_core::schema::{Violation, Violations, summarize};
use mcp_schema::{Keywords, Node, Parts, Type, Walk};
use mcp_types::{JsonObject, RawObject, escape_line, shorten};
use serde_json::Value;

use super::input::InputSchema;
use crate::constraints::{ArgumentFormat, Path, all_of, is_blank, parts, step};
use crate::rejection::ArgumentError;

/// Limit on the expected names or values in one message.
const MAX_LISTED: usize = 16;

/// Limit on the unknown names in one message.
const MAX_UNKNOWN: usize = 4;

/// Maximum length of a name in a message, in characters.
const MAX_NAME_CHARS: usize = 64;

/// Adds all mistakes in the arguments to the error of their decoder or check.
pub(crate) fn explain(
    error: ArgumentError,
    schema: &InputSchema,
    arguments: &RawObject,
    format: ArgumentFormat,
) -> ArgumentError {
    let Ok(arguments) = arguments.parse::<Value>() else {
        return error;
    };
    let found = mistakes(error.first_path(), schema, &arguments, format);
    error.merge(found)
}

/// Returns the mistakes in arguments, at most [`Violations::MAX`]. The value at the path `failed` cannot be
/// decoded.
pub(super) fn mistakes(
    failed: &str,
    schema: &InputSchema,
    arguments: &Value,
    format: ArgumentFormat,
) -> Vec<Violation> {
    let Ok(parsed) = schema.parsed() else {
        return Vec::new();
    };
    let mut explainer = Explainer {
        walk: Walk::of_value(),
        format,
        failed,
        found: Vec::new(),
    };
    explainer.object(parsed.root(), arguments, Path::Root, 0);
    let mut found = explainer.found;
    let bounds = schema.constraints().into_iter();
    let mut bounds: Vec<_> = bounds
        .flat_map(|bounds| bounds.find_violations(arguments, format))
        .collect();
    bounds.retain(|bound| found.iter().all(|known| known.path != bound.path));
    found.extend(bounds);
    found.truncate(Violations::MAX);
    found
}

struct Explainer<'a> {
    walk: Walk,
    format: ArgumentFormat,
    /// The path of a value that cannot be decoded.
    failed: &'a str,
    found: Vec<Violation>,
}

impl<'a> Explainer<'a> {
    fn report(&mut self, path: Path<'_>, reason: String) {
        if self.found.len() < Violations::MAX {
            self.found.push(Violation::new(path.to_text(), reason));
        }
    }

    /// Reports a value that is not one of those that the schema expects.
    fn mismatch(&mut self, path: Path<'_>, expected: &[String], value: &Value) {
        let expected = join_or(expected);
        let got = self.describe(value, &expected);
        self.report(path, format!("expected {expected}, got {got}"));
    }

    /// Explains one value: a mismatch of the value itself, else mistakes inside it.
    fn value(&mut self, schema: Node<'_>, value: &Value, path: Path<'_>) {
        let is_needed = |_: &str| expected_by(schema, value, &self.walk, 0).is_some();
        let value = self.format.decode(value, is_needed);
        if let Some(expected) = expected_by(schema, &value, &self.walk, 0) {
            self.mismatch(path, &expected, &value);
        } else if value.is_string()
            && let Some(format) = self.format_of(schema, 0)
            && path.to_text() == self.failed
        {
            let got = summarize(&value);
            self.report(
                path,
                format!("expected {}, got {got}", format_phrase(format)),
            );
        } else {
            self.object(schema, &value, path, 0);
        }
    }

    /// Returns the `format` of a schema or its parts.
    fn format_of<'s>(&self, schema: Node<'s>, hops: usize) -> Option<&'s str> {
        if !self.walk.step(hops) {
            return None;
        }
        let mut parts = parts(schema, &self.walk).into_iter();
        let own = schema.text("format");
        own.or_else(|| parts.find_map(|part| self.format_of(part, hops + 1)))
    }

    /// Explains the members or elements of a value.
    fn object(&mut self, schema: Node<'_>, value: &Value, path: Path<'_>, hops: usize) {
        if self.found.len() >= Violations::MAX || !step(schema, &self.walk, hops) {
            return;
        }
        match value {
            Value::Object(members) => self.members(schema, members, path),
            Value::Array(elements) => {
                for (index, value) in elements.iter().enumerate() {
                    if let Some(schema) = schema.element(index) {
                        self.value(schema, value, Path::Element(&path, index));
                    }
                }
            }
            _ => {}
        }
        for part in all_of(schema, &self.walk) {
            self.object(part, value, path, hops + 1);
        }
        for keyword in ["anyOf", "oneOf"] {
            let alternatives = schema.list(keyword);
            if !alternatives.is_empty() {
                self.alternatives(&alternatives, value, path, hops);
            }
        }
    }

    /// Reports missing and unknown names, and explains the members.
    fn members(&mut self, schema: Node<'_>, members: &JsonObject, path: Path<'_>) {
        let required = schema.required();
        let is_json = self.format == ArgumentFormat::Json;
        let blank = members.iter().filter(|(name, member)| {
            let own = schema.property(name).filter(|_| is_json);
            let is_required = required.contains(&name.as_str());
            own.is_some_and(|own| is_blank(member, own, is_required, &self.walk))
        });
        let blank: HashSet<_> = blank.map(|(name, _)| name.as_str()).collect();
        let missing = required.iter();
        let missing = missing.filter(|name| !members.contains_key(**name) || blank.contains(*name));
        let missing: Vec<_> = missing.map(|name| quoted(name)).collect();
        if !missing.is_empty() {
            self.report(path, format!("missing {}", join(&missing)));
        }
        let others = schema.subschema("additionalProperties");
        // Names that a closed schema does not know are reported as unknown.
        let (is_closed, others) = (
            others.is_some_and(Node::is_false),
            others.filter(|others| !others.is_false()),
        );
        if is_closed && schema.get("patternProperties").is_none() {
            let is_unknown = |name: &&String| schema.property(name).is_none();
            let unknown = members.keys().filter(is_unknown).take(MAX_UNKNOWN);
            let unknown: Vec<_> = unknown.map(|name| quoted(name)).collect();
            if !unknown.is_empty() {
                let known = schema.properties().into_iter();
                let known: Vec<_> = known.map(|(name, _)| quoted(name)).collect();
                let expected = if known.is_empty() {
                    "no arguments".to_owned()
                } else {
                    join(&known)
                };
                let unknown = join(&unknown);
                self.report(path, format!("unknown {unknown}, expected {expected}"));
            }
        }
        for (name, member) in members {
            let own = schema.property(name);
            // An optional property may be `null`, although the schema does not say so.
            let is_null = member.is_null() && own.is_some() && !required.contains(&name.as_str());
            if is_null || blank.contains(name.as_str()) {
                continue;
            }
            if let Some(schema) = own.or(others) {
                self.value(schema, member, Path::Member(&path, name));
            }
        }
    }

    /// Explains a value that none of the alternatives accepts, by the alternative that fits best.
    fn alternatives(
        &mut self,
        alternatives: &[Node<'_>],
        value: &Value,
        path: Path<'_>,
        hops: usize,
    ) {
        if self.wrong_tag(alternatives, value, path)
            || self.wrong_members(alternatives, value, path)
        {
            return;
        }
        let before = std::mem::take(&mut self.found);
        let mut candidates = Vec::new();
        for &alternative in alternatives {
            if expected_by(alternative, value, &self.walk, 0).is_some() {
                continue;
            }
            self.object(alternative, value, path, hops + 1);
            let is_meant = self.has_its_constants(alternative, value);
            candidates.push((!is_meant, std::mem::take(&mut self.found)));
            // Each further one would double the work at each level of a recursive schema.
            if is_meant {
                break;
            }
        }
        self.found = before;
        let candidates = candidates.into_iter();
        let best = candidates.min_by_key(|(is_other, found)| (*is_other, found.len()));
        self.found
            .extend(best.into_iter().flat_map(|(_, found)| found));
        self.found.truncate(Violations::MAX);
    }

    /// Reports a value whose tag no alternative has, with all tags. Returns false if the alternatives have no
    /// tags, or the value has a known one.
    fn wrong_tag(&mut self, alternatives: &[Node<'_>], value: &Value, path: Path<'_>) -> bool {
        let Some(members) = value.as_object() else {
            return false;
        };
        let objects = self.objects(alternatives);
        let Some((first, _)) = objects
            .split_first()
            .filter(|(_, others)| !others.is_empty())
        else {
            return false;
        };
        // The member with a constant in each alternative, such as `#[serde(tag = "kind")]`.
        for (name, _) in first.properties() {
            let constants = objects.iter();
            let constants = constants.map(|object| object.property(name)?.listed());
            let tags: Option<Vec<_>> = constants.collect();
            let (Some(tags), Some(tag)) = (tags, members.get(name)) else {
                continue;
            };
            let tags: Vec<_> = tags.into_iter().flatten().collect();
            if tags.iter().any(|allowed| is_same(allowed, tag)) {
                return false;
            }
            let tags: Vec<_> = tags.into_iter().map(summarize).collect();
            self.mismatch(Path::Member(&path, name), &tags, tag);
            return true;
        }
        // One member whose name is the tag.
        let names = objects.iter().map(|object| match object.properties()[..] {
            [(name, _)] => Some(name),
            _ => None,
        });
        let names: Option<Vec<_>> = names.collect();
        let Some(names) = names else {
            return false;
        };
        let is_own = |name: &&str| names.iter().filter(|other| *other == name).count() == 1;
        let is_tagged = names.iter().all(is_own);
        let [unknown] = members.keys().collect::<Vec<_>>()[..] else {
            return false;
        };
        if !is_tagged || names.contains(&unknown.as_str()) {
            return false;
        }
        let names: Vec<_> = names.iter().map(|name| quoted(name)).collect();
        let unknown = quoted(unknown);
        self.report(
            path,
            format!("unknown {unknown}, expected {}", join_or(&names)),
        );
        true
    }

    /// Reports the members whose type none of the alternatives with this member accepts: an alternative that
    /// needs no member would hide such mistakes. Returns false if there are none, or a constant says which
    /// alternative is meant.
    fn wrong_members(&mut self, alternatives: &[Node<'_>], value: &Value, path: Path<'_>) -> bool {
        let Some(members) = value.as_object() else {
            return false;
        };
        let mut meant = alternatives.iter();
        if meant.any(|alternative| self.has_its_constants(*alternative, value)) {
            return false;
        }
        let objects = self.objects(alternatives);
        let mut is_wrong = false;
        for (name, member) in members {
            let own = objects.iter().filter_map(|object| object.property(name));
            let refused = own.map(|own| expected_by(own, member, &self.walk, 0));
            let refused: Option<Vec<_>> = refused.collect();
            let mut expected: Vec<_> = refused.into_iter().flatten().flatten().collect();
            if expected.is_empty() {
                continue;
            }
            expected.sort_unstable();
            expected.dedup();
            self.mismatch(Path::Member(&path, name), &expected, member);
            is_wrong = true;
        }
        is_wrong
    }

    /// Returns the alternatives that have properties, with the schemas that they refer to.
    fn objects<'s>(&self, alternatives: &[Node<'s>]) -> Vec<Parts<'s>> {
        let objects = alternatives.iter();
        let objects = objects.filter_map(|object| Parts::of(*object, &self.walk, 0).ok());
        objects
            .filter(|object| object.get("properties").is_some_and(Value::is_object))
            .collect()
    }

    /// Returns whether the value has a constant member that identifies the alternative, such as its tag.
    fn has_its_constants(&self, alternative: Node<'_>, value: &Value) -> bool {
        let objects = self.objects(&[alternative]).into_iter();
        let mut properties = objects.flat_map(|object| object.properties());
        properties.any(|(name, schema)| {
            let is_constant = schema.listed().is_some_and(|values| values.len() == 1);
            let member = value.get(name).filter(|_| is_constant);
            member.is_some_and(|member| expected_by(schema, member, &self.walk, 0).is_none())
        })
    }

    /// Names the type of a value, or the value itself where its type does not help.
    fn describe(&self, value: &Value, expected: &str) -> String {
        let shows_value = self.format == ArgumentFormat::Strings || expected.contains('"');
        match value {
            Value::String(_) if shows_value => summarize(value),
            Value::String(_) => "a string".to_owned(),
            Value::Number(_) if shows_value || expected.contains("number") => summarize(value),
            Value::Number(_) => "a number".to_owned(),
            Value::Array(_) => "an array".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            Value::Bool(_) | Value::Null => value.to_string(),
        }
    }
}

/// Returns what the schema expects instead of the value; `None` if the value fits, regardless of the
/// values inside it.
pub(super) fn expected_by(
    schema: Node<'_>,
    value: &Value,
    walk: &Walk,
    hops: usize,
) -> Option<Vec<String>> {
    if schema.is_false() {
        return Some(vec!["nothing".to_owned()]);
    }
    if !step(schema, walk, hops) {
        return None;
    }
    if let Some(listed) = schema.listed() {
        let fits = listed.iter().any(|allowed| is_same(allowed, value));
        let names = listed.iter().take(MAX_LISTED).map(summarize);
        return (!fits).then(|| names.collect());
    }
    let types = schema.types();
    if !types.is_empty() && !types.iter().any(|kind| kind.accepts(value)) {
        return Some(types.into_iter().map(type_phrase).collect());
    }
    let mut parts = all_of(schema, walk).into_iter();
    if let Some(expected) = parts.find_map(|part| expected_by(part, value, walk, hops + 1)) {
        return Some(expected);
    }
    for keyword in ["anyOf", "oneOf"] {
        let refused = schema.list(keyword).into_iter();
        let refused = refused.map(|alternative| expected_by(alternative, value, walk, hops + 1));
        // `None` if an alternative fits.
        let refused: Option<Vec<_>> = refused.collect();
        let mut expected = Vec::new();
        for name in refused.into_iter().flatten().flatten() {
            if !expected.contains(&name) && name != "null" {
                expected.push(name);
            }
        }
        if !expected.is_empty() {
            return Some(expected);
        }
    }
    None
}

fn is_same(allowed: &Value, value: &Value) -> bool {
    allowed == value || (allowed.as_f64().is_some() && allowed.as_f64() == value.as_f64())
}

fn type_phrase(kind: Type) -> String {
    let phrase = match kind {
        Type::String => "a string",
        Type::Integer => "a whole number",
        Type::Number => "a number",
        Type::Boolean => "true or false",
        Type::Array => "an array",
        Type::Object => "an object",
        Type::Null => "null",
    };
    phrase.to_owned()
}

/// Returns the name of a `format`, with an example.
fn format_phrase(format: &str) -> String {
    let example = match format {
        "date-time" => "2026-01-02T03:04:05Z",
        "partial-date-time" => "2026-01-02T03:04:05",
        "date" => "2026-01-02",
        "time" => "03:04:05Z",
        "partial-time" => "03:04:05",
        "duration" => "PT1H30M",
        "uuid" => "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "ip" | "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "url" => "https://example.com/a",
        "email" => "ada@example.com",
        "hostname" => "example.com",
        _ => return escape_line(&shorten(format, MAX_NAME_CHARS)).into_owned(),
    };
    format!("{format}, such as {example}")
}

fn quoted(name: &str) -> String {
    let name: String = name.chars().take(MAX_NAME_CHARS).collect();
    format!("`{name}`")
}

fn join(names: &[String]) -> String {
    let listed: Vec<_> = names.iter().take(MAX_LISTED).map(String::as_str).collect();
    let more = if names.len() > MAX_LISTED {
        ", …"
    } else {
        ""
    };
    listed.join(", ") + more
}

fn join_or(names: &[String]) -> String {
    match names {
        [one, two] => format!("{one} or {two}"),
        [one] => one.clone(),
        many => format!("one of {}", join(many)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::constraints::ArgumentFormat;
    use crate::schema::InputSchema;

    /// Returns the mistakes of the one property `p`.
    fn mistakes(schema: Value, value: Value, format: ArgumentFormat) -> Vec<String> {
        let schema = json!({
            "type": "object",
            "properties": {"p": schema},
            "required": ["p"],
            "$defs": {"level": {"enum": ["low", "high"]}, "loop": {"$ref": "#/$defs/loop"}, "tile": {"properties": {"kind": {"enum": ["tile"]}}}},
        });
        let schema = InputSchema::new(schema.as_object().unwrap().clone());
        let found = super::mistakes("p", &schema, &json!({"p": value}), format);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn mistake_deep_in_a_recursive_type_is_named() {
        let operation = |name: &str| {
            let operand = json!({"$ref": "#/properties/p"});
            json!({
                "type": "object",
                "properties": {"op": {"const": name}, "l": operand, "r": operand},
                "required": ["op", "l", "r"],
            })
        };
        let number = json!({
            "type": "object",
            "properties": {"op": {"const": "num"}, "v": {"type": "integer"}},
            "required": ["op", "v"],
        });
        let operations = ["add", "sub", "mul", "div"].map(operation);
        let kinds: Vec<Value> = operations.into_iter().chain([number]).collect();
        let mut value = json!({"op": "num", "v": "two"});
        for _ in 0..6 {
            value = json!({"op": "add", "l": {"op": "num", "v": 1}, "r": value});
        }
        assert_eq!(
            mistakes(json!({"oneOf": kinds}), value, ArgumentFormat::Json),
            ["`p.r.r.r.r.r.r.v`: expected a whole number, got a string"]
        );
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table of mistakes")]
    fn mismatch_is_named_by_json_types() {
        let circle = json!({
            "type": "object",
            "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
            "required": ["kind", "radius"],
        });
        let square = json!({
            "type": "object",
            "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
            "required": ["kind", "side"],
        });
        let disc = json!({"properties": {"kind": {"enum": ["disc"]}}});
        let tile = json!({
            "properties": {"kind": {"enum": ["tile"]}, "side": {"type": "number"}},
        });
        for (schema, value, expected) in [
            (
                json!({"type": "integer"}),
                json!("5"),
                "expected a whole number, got a string",
            ),
            (
                json!({"type": "integer"}),
                json!(5.5),
                "expected a whole number, got 5.5",
            ),
            (
                json!({"type": "number"}),
                json!(true),
                "expected a number, got true",
            ),
            (
                json!({"type": "boolean"}),
                json!(1),
                "expected true or false, got a number",
            ),
            (
                json!({"type": "string"}),
                json!(null),
                "expected a string, got null",
            ),
            (
                json!({"type": ["string", "array"]}),
                json!({}),
                "expected a string or an array, got an object",
            ),
            (
                json!({"enum": ["a", "b"]}),
                json!("c"),
                "expected \"a\" or \"b\", got \"c\"",
            ),
            (
                json!({"$ref": "#/$defs/level"}),
                json!("mid"),
                "expected \"low\" or \"high\", got \"mid\"",
            ),
            (
                json!({"oneOf": [{"const": "a"}, {"enum": ["b", "c"]}]}),
                json!("d"),
                "expected one of \"a\", \"b\", \"c\", got \"d\"",
            ),
            (
                json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
                json!("x"),
                "expected a whole number, got a string",
            ),
            (
                json!({"oneOf": [circle, square]}),
                json!({"kind": "square", "side": "x"}),
                "side`: expected a number, got a string",
            ),
            // A wrong tag is told all tags, and nothing about the members of one of them.
            (
                json!({"oneOf": [circle, square]}),
                json!({"kind": "cube", "size": 1}),
                "kind`: expected \"circle\" or \"square\", got \"cube\"",
            ),
            (
                json!({"anyOf": [disc, {"$ref": "#/$defs/tile"}, {"type": "null"}]}),
                json!({"kind": 7}),
                "kind`: expected \"disc\" or \"tile\", got 7",
            ),
            (
                json!({"anyOf": [
                    {"type": "string", "enum": ["None"]},
                    {"type": "object", "properties": {"Disc": {}}, "required": ["Disc"], "additionalProperties": false},
                    {"type": "object", "properties": {"Tile": {}}, "required": ["Tile"], "additionalProperties": false},
                ]}),
                json!({"Cube": 1}),
                "`p`: unknown `Cube`, expected `Disc` or `Tile`",
            ),
            // The first alternative has as many mistakes; the tag tells which one is meant.
            (
                json!({"anyOf": [disc, tile]}),
                json!({"kind": "tile", "side": "x"}),
                "side`: expected a number, got a string",
            ),
        ] {
            let found = mistakes(schema.clone(), value, ArgumentFormat::Json);
            let [only] = &found[..] else {
                panic!("{schema}: {found:?}")
            };
            assert!(only.ends_with(expected), "{schema}: {only}");
        }
    }

    #[test]
    fn value_that_fits_has_no_mistake() {
        for (schema, value) in [
            (json!({"type": "integer"}), json!(5.0)),
            (json!({}), json!([1])),
            (json!(true), json!("x")),
            (json!({"$ref": "#/$defs/loop"}), json!("x")),
            (json!({"$ref": "#/$defs/none"}), json!("x")),
            (
                json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
                json!(null),
            ),
        ] {
            let found = mistakes(schema.clone(), value, ArgumentFormat::Json);
            assert!(found.is_empty(), "{schema}: {found:?}");
        }
    }

    #[test]
    fn branching_references_end_at_the_step_limit() {
        let branch = json!({"$ref": "#/properties/p"});
        let branches = json!({"anyOf": vec![branch; 8], "$comment": "refers to itself"});
        assert!(mistakes(branches, json!("x"), ArgumentFormat::Json).is_empty());
    }

    #[test]
    fn string_argument_is_decoded_where_schema_accepts_none() {
        let integer = json!({"type": "integer", "minimum": 0});
        let strings = ArgumentFormat::Strings;
        assert!(mistakes(integer.clone(), json!("5"), strings).is_empty());
        assert_eq!(
            mistakes(integer.clone(), json!("five"), strings),
            ["`p`: expected a whole number, got \"five\""]
        );
        assert_eq!(
            mistakes(integer, json!("-1"), strings),
            ["`p`: -1 is out of range, expected at least 0"]
        );
    }
}
