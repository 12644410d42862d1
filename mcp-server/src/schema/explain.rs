//! Mistakes in arguments, in terms of the schema that the language model knows.
//!
//! This runs only after decoding or a check has failed. It finds all mistakes at once: missing and unknown
//! names, wrong types, values that are not in a list. Bounds, lengths and patterns are found by
//! [`Constraints`].

use mcp_core::schema::{Violation, Violations, summarize};
use mcp_types::{JsonObject, RawObject};
use serde_json::Value;

use crate::constraints::{ArgumentFormat, Constraints, Path, Walk, element, listed_values, names};

/// Keywords whose schemas all apply to the same value.
const ALL: &[&str] = &["allOf"];

/// Limit on the expected names or values in one message.
const MAX_LISTED: usize = 16;

/// Limit on the unknown names in one message.
const MAX_UNKNOWN: usize = 4;

/// Maximum length of a name in a message, in characters.
const MAX_NAME_CHARS: usize = 64;

/// Returns the mistakes in arguments, at most [`Violations::MAX`].
pub(crate) fn explain(
    schema: &JsonObject,
    arguments: &RawObject,
    format: ArgumentFormat,
) -> Vec<Violation> {
    let Ok(arguments) = arguments.parse::<Value>() else {
        return Vec::new();
    };
    let mut explainer = Explainer {
        walk: Walk::new(schema),
        format,
        found: Vec::new(),
    };
    explainer.object(schema, &arguments, Path::Root, 0);
    let mut found = explainer.found;
    if let Some(constraints) = Constraints::from_schema(schema) {
        let bounds = constraints.find_violations(&arguments, format);
        let is_new = |bound: &Violation| found.iter().all(|known| known.path != bound.path);
        let bounds: Vec<_> = bounds.into_iter().filter(is_new).collect();
        found.extend(bounds);
    }
    found.truncate(Violations::MAX);
    found
}

struct Explainer<'a> {
    walk: Walk<'a>,
    format: ArgumentFormat,
    found: Vec<Violation>,
}

impl<'a> Explainer<'a> {
    fn report(&mut self, path: Path<'_>, reason: String) {
        if self.found.len() < Violations::MAX {
            self.found.push(Violation::new(path.to_text(), reason));
        }
    }

    /// Explains one value: a mismatch of the value itself, else mistakes inside it.
    fn value(&mut self, schema: &'a Value, value: &Value, path: Path<'_>) {
        let is_needed = |_: &str| self.expected_instead(schema, value, 0).is_some();
        let value = self.format.decode(value, is_needed);
        if let Some(expected) = self.expected_instead(schema, &value, 0) {
            let expected = join_or(&expected);
            let got = self.describe(&value, &expected);
            self.report(path, format!("expected {expected}, got {got}"));
            return;
        }
        if let Some(schema) = schema.as_object() {
            self.object(schema, &value, path, 0);
        }
    }

    /// Explains the members or elements of a value.
    fn object(&mut self, schema: &'a JsonObject, value: &Value, path: Path<'_>, hops: usize) {
        if self.found.len() >= Violations::MAX || !self.walk.step(hops) {
            return;
        }
        match value {
            Value::Object(members) => self.members(schema, members, path),
            Value::Array(elements) => {
                for (index, value) in elements.iter().enumerate() {
                    if let Some(schema) = element(schema, index) {
                        self.value(schema, value, Path::Element(&path, index));
                    }
                }
            }
            _ => {}
        }
        for part in self.walk.parts(schema, ALL) {
            self.object(part, value, path, hops + 1);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(alternatives) = schema.get(keyword).and_then(Value::as_array) {
                self.alternatives(alternatives, value, path, hops);
            }
        }
    }

    /// Reports missing and unknown names, and explains the members.
    fn members(&mut self, schema: &'a JsonObject, members: &JsonObject, path: Path<'_>) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required: Vec<_> = names(schema, "required").collect();
        let missing = required.iter().filter(|name| !members.contains_key(**name));
        let missing: Vec<_> = missing.map(|name| quoted(name)).collect();
        if !missing.is_empty() {
            self.report(path, format!("missing {}", join(&missing)));
        }
        let others = schema.get("additionalProperties");
        let is_closed = others == Some(&Value::Bool(false));
        // Names that a closed schema does not know are reported as unknown.
        let others = others.filter(|_| !is_closed);
        let is_known = |name: &str| properties.is_some_and(|known| known.contains_key(name));
        if is_closed && !schema.contains_key("patternProperties") {
            let unknown = members.keys().filter(|name| !is_known(name));
            let unknown = unknown.take(MAX_UNKNOWN).map(|name| quoted(name));
            let unknown: Vec<_> = unknown.collect();
            if !unknown.is_empty() {
                let known = properties.into_iter().flatten();
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
            let own = properties.and_then(|properties| properties.get(name));
            // An optional property may be `null`, although the schema does not say so.
            if member.is_null() && own.is_some() && !required.contains(&name.as_str()) {
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
        alternatives: &'a [Value],
        value: &Value,
        path: Path<'_>,
        hops: usize,
    ) {
        let before = std::mem::take(&mut self.found);
        let mut best: Option<Vec<Violation>> = None;
        for alternative in alternatives {
            if self.expected_instead(alternative, value, 0).is_some() {
                continue;
            }
            if let Some(alternative) = alternative.as_object() {
                self.object(alternative, value, path, hops + 1);
            }
            let found = std::mem::take(&mut self.found);
            if self.has_its_constants(alternative, value) {
                best = Some(found);
                break;
            }
            if best.as_ref().is_none_or(|best| found.len() < best.len()) {
                best = Some(found);
            }
        }
        self.found = before;
        self.found.extend(best.into_iter().flatten());
        self.found.truncate(Violations::MAX);
    }

    /// Returns whether the value has a constant member that identifies the alternative, such as its tag.
    fn has_its_constants(&self, alternative: &'a Value, value: &Value) -> bool {
        let properties = alternative.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().any(|(name, schema)| {
            let values = schema.as_object().and_then(listed_values);
            let is_constant = values.is_some_and(|values| values.len() == 1);
            let member = value.get(name).filter(|_| is_constant);
            member.is_some_and(|member| self.expected_instead(schema, member, 0).is_none())
        })
    }

    /// Returns what the schema expects instead of the value; `None` if the value fits, regardless of the
    /// values inside it.
    fn expected_instead(
        &self,
        schema: &'a Value,
        value: &Value,
        hops: usize,
    ) -> Option<Vec<String>> {
        match schema {
            Value::Bool(false) => Some(vec!["nothing".to_owned()]),
            Value::Object(schema) => self.expected_by(schema, value, hops),
            _ => None,
        }
    }

    fn expected_by(
        &self,
        schema: &'a JsonObject,
        value: &Value,
        hops: usize,
    ) -> Option<Vec<String>> {
        if !self.walk.step(hops) {
            return None;
        }
        if let Some(listed) = listed_values(schema) {
            let fits = listed.iter().any(|allowed| is_same(allowed, value));
            let names = listed.iter().take(MAX_LISTED).map(summarize);
            return (!fits).then(|| names.collect());
        }
        let types: Vec<_> = names(schema, "type").collect();
        if !types.is_empty() && !types.iter().any(|name| is_of_type(value, name)) {
            return Some(types.into_iter().map(type_phrase).collect());
        }
        for part in self.walk.parts(schema, ALL) {
            if let Some(expected) = self.expected_by(part, value, hops + 1) {
                return Some(expected);
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(alternatives) = schema.get(keyword).and_then(Value::as_array) else {
                continue;
            };
            let mut expected = Vec::new();
            let fits = alternatives.iter().any(|alternative| {
                match self.expected_instead(alternative, value, hops + 1) {
                    None => true,
                    Some(more) => {
                        for name in more {
                            if !expected.contains(&name) && name != "null" {
                                expected.push(name);
                            }
                        }
                        false
                    }
                }
            });
            if !fits && !expected.is_empty() {
                return Some(expected);
            }
        }
        None
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

fn is_same(allowed: &Value, value: &Value) -> bool {
    allowed == value || (allowed.as_f64().is_some() && allowed.as_f64() == value.as_f64())
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => match value {
            Value::Number(number) => {
                let is_whole = |float: f64| float.fract() == 0.0;
                number.is_i64() || number.is_u64() || number.as_f64().is_some_and(is_whole)
            }
            _ => false,
        },
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn type_phrase(name: &str) -> String {
    let phrase = match name {
        "string" => "a string",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "an array",
        "object" => "an object",
        other => other,
    };
    phrase.to_owned()
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
    use mcp_types::RawObject;
    use serde_json::{Value, json};

    use super::explain;
    use crate::constraints::ArgumentFormat;

    /// Returns the mistakes of the one property `p`.
    fn mistakes(schema: Value, value: Value, format: ArgumentFormat) -> Vec<String> {
        let schema = json!({
            "type": "object",
            "properties": {"p": schema},
            "required": ["p"],
            "$defs": {"level": {"enum": ["low", "high"]}, "loop": {"$ref": "#/$defs/loop"}},
        });
        let arguments = RawObject::from_value(&json!({"p": value})).unwrap();
        let found = explain(schema.as_object().unwrap(), &arguments, format);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
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
    fn references_that_branch_end_at_the_limit_of_steps() {
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
