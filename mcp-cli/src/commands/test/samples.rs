//! Arguments made from a schema: bounded, and the same ones for the same seed.

use std::sync::Arc;

use mcp::schema::{Check, JsonSchema, Validator as _, target};
use mcp::types::Tool;
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// Values of one sample. Further ones are `null`.
const MAX_NODES: usize = 500;
/// Levels of objects, arrays and references.
const MAX_DEPTH: usize = 12;
/// Longest text and longest list that a schema can demand.
const MAX_LENGTH: usize = 10_000;

/// Texts by format.
const FORMATS: [(&str, &str); 14] = [
    ("date-time", "2026-01-31T12:00:00Z"),
    ("date", "2026-01-31"),
    ("time", "12:00:00Z"),
    ("duration", "PT1H"),
    ("email", "ada@example.com"),
    ("idn-email", "ada@example.com"),
    ("hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.com/"),
    ("uri-reference", "https://example.com/"),
    ("uuid", "123e4567-e89b-12d3-a456-426614174000"),
    ("json-pointer", "/a"),
    ("regex", "a+"),
];

/// Texts by a part of the property's name.
const NAMES: [(&str, &str); 9] = [
    ("url", "https://example.com/"),
    ("uri", "https://example.com/"),
    ("email", "ada@example.com"),
    ("timezone", "UTC"),
    ("path", "example.txt"),
    ("date", "2026-01-31"),
    ("time", "12:00"),
    ("expression", "1 + 2"),
    ("sql", "SELECT 1"),
];

/// Texts that patterns often ask for.
const TEXTS: [&str; 16] = [
    "example",
    "a",
    "A",
    "1",
    "123",
    "abc",
    "ABC",
    "2026-01-31",
    "12:00",
    "en-US",
    "#1a2b3c",
    "1.2.3",
    "AB-123",
    "ada@example.com",
    "https://example.com/",
    "+1 555 0100",
];

/// Texts of varied samples: other scripts, quotes, white space.
const VARIED: [&str; 5] = [
    "example",
    "Zoë 東京 🚀",
    "it's \"quoted\"",
    " two\nlines ",
    "0",
];

/// A generator of numbers that only tests need (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `count`, which is not 0.
    fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        usize::try_from(self.next() % count.max(1)).unwrap_or(0)
    }
}

/// The choice of a sample's properties and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Required properties, with plain values.
    Required,
    /// All properties, with plain values.
    Full,
    /// Random properties and values.
    Varied,
}

/// A compiled input schema, and arguments that match it.
pub(super) struct Samples {
    /// `None` if the schema cannot be compiled.
    pub(super) check: Option<Arc<dyn Check>>,
    /// All properties first, if possible.
    pub(super) valid: Vec<Object>,
}

impl Samples {
    pub(super) fn new(tool: &Tool, seed: u64) -> Self {
        let schema = &*tool.input_schema;
        let check = JsonSchema.compile(schema).ok();
        let mut valid: Vec<Object> = Vec::new();
        let styles = [Style::Full, Style::Required, Style::Varied, Style::Varied];
        for (index, style) in (0..).zip(styles) {
            let mut sampler = Sampler {
                root: schema,
                random: Random(seed ^ index),
                style,
                nodes: 0,
            };
            let Value::Object(args) = sampler.value(&Value::Object(schema.clone()), "", 0) else {
                continue;
            };
            let value = Value::Object(args.clone());
            let matches = check
                .as_ref()
                .is_none_or(|check| check.check(&value).is_ok());
            if matches && !valid.contains(&args) {
                valid.push(args);
            }
        }
        Self { check, valid }
    }
}

struct Sampler<'a> {
    root: &'a Object,
    random: Random,
    style: Style,
    nodes: usize,
}

impl Sampler<'_> {
    fn value(&mut self, schema: &Value, name: &str, depth: usize) -> Value {
        self.nodes += 1;
        if self.nodes > MAX_NODES || depth > MAX_DEPTH {
            return Value::Null;
        }
        let Value::Object(schema) = schema else {
            return json!("example");
        };
        if let Some(merged) = self.merged(schema) {
            return self.value(&Value::Object(merged), name, depth + 1);
        }
        if let Some(value) = self.given(schema) {
            return value;
        }
        match self.kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, name, depth),
            "integer" => self.number(schema, true),
            "number" => self.number(schema, false),
            "boolean" => json!(self.style != Style::Varied || self.random.below(2) == 0),
            "null" => Value::Null,
            _ => json!(self.text(schema, name)),
        }
    }

    /// Resolves one step: a reference, the parts of `allOf`, or one of several alternatives.
    fn merged(&mut self, schema: &Object) -> Option<Object> {
        let mut rest = schema.clone();
        if let Some(reference) = rest.remove("$ref") {
            if let Some(found) = reference.as_str().and_then(|text| target(self.root, text)) {
                merge(&mut rest, found);
            }
            return Some(rest);
        }
        if let Some(parts) = rest.remove("allOf") {
            for part in parts.as_array().into_iter().flatten() {
                if let Value::Object(part) = part {
                    merge(&mut rest, part);
                }
            }
            return Some(rest);
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(variants)) = rest.remove(keyword) else {
                continue;
            };
            let is_null = |variant: &&Value| variant.get("type") == Some(&json!("null"));
            let plain: Vec<_> = variants
                .iter()
                .filter(|variant| !is_null(variant))
                .collect();
            if let Some(Value::Object(variant)) = self.pick(&plain) {
                merge(&mut rest, variant);
            }
            return Some(rest);
        }
        None
    }

    /// Returns the first choice, or a random one in varied samples.
    fn pick<'s, T>(&mut self, choices: &'s [T]) -> Option<&'s T> {
        let index = match self.style {
            Style::Varied => self.random.below(choices.len()),
            _ => 0,
        };
        choices.get(index)
    }

    /// Returns a value that the schema names.
    fn given(&mut self, schema: &Object) -> Option<Value> {
        if let Some(value) = schema.get("const") {
            return Some(value.clone());
        }
        let list = |keyword| schema.get(keyword).and_then(Value::as_array);
        for keyword in ["enum", "examples"] {
            let Some(values) = list(keyword).filter(|values| !values.is_empty()) else {
                continue;
            };
            return self.pick(values).cloned();
        }
        let default = schema.get("default").filter(|value| !value.is_null());
        default.filter(|_| self.style != Style::Varied).cloned()
    }

    fn kind<'s>(&mut self, schema: &'s Object) -> &'s str {
        match schema.get("type") {
            Some(Value::String(kind)) => kind,
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Value::as_str);
                let plain: Vec<_> = kinds.filter(|kind| *kind != "null").collect();
                self.pick(&plain).copied().unwrap_or("null")
            }
            _ if schema.contains_key("properties") => "object",
            _ if schema.contains_key("items") => "array",
            _ if schema.contains_key("minimum") || schema.contains_key("maximum") => "integer",
            _ => "string",
        }
    }

    fn object(&mut self, schema: &Object, depth: usize) -> Value {
        let required = schema.get("required").and_then(Value::as_array);
        let required: Vec<_> = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut object = Object::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let is_wanted = match self.style {
                Style::Required => false,
                // Optional parts of deep objects would let recursive schemas grow.
                Style::Full => depth < MAX_DEPTH / 2,
                Style::Varied => depth < MAX_DEPTH / 2 && self.random.below(2) == 0,
            };
            if is_wanted || required.contains(&name.as_str()) {
                object.insert(name.clone(), self.value(property, name, depth + 1));
            }
        }
        for name in required {
            if !object.contains_key(name) {
                object.insert(name.to_owned(), json!("example"));
            }
        }
        Value::Object(object)
    }

    fn array(&mut self, schema: &Object, name: &str, depth: usize) -> Value {
        let least = limit(schema, "minItems").unwrap_or(0);
        let most = limit(schema, "maxItems").unwrap_or(MAX_LENGTH).max(least);
        let wanted = match self.style {
            Style::Required | Style::Full => 1,
            Style::Varied => self.random.below(4),
        };
        let count = wanted.clamp(least, most);
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let mut items: Vec<_> = first
            .into_iter()
            .flatten()
            .map(|item| self.value(item, name, depth + 1))
            .collect();
        let item = schema.get("items").cloned().unwrap_or(Value::Bool(true));
        while items.len() < count && self.nodes <= MAX_NODES {
            items.push(self.value(&item, name, depth + 1));
        }
        Value::Array(items)
    }

    fn number(&mut self, schema: &Object, is_integer: bool) -> Value {
        let bound = |keyword| schema.get(keyword).and_then(Value::as_f64);
        let step = if is_integer { 1.0 } else { 0.5 };
        let least = bound("exclusiveMinimum")
            .map(|bound| bound + step)
            .or(bound("minimum"));
        let most = bound("exclusiveMaximum")
            .map(|bound| bound - step)
            .or(bound("maximum"));
        let wanted = match self.style {
            Style::Varied => [-1.0, 0.0, 2.0, 7.0, 100.0, 65_536.0][self.random.below(6)],
            _ => 1.0,
        };
        let mut number: f64 = match (least, most) {
            (Some(least), _) if wanted < least => least,
            (_, Some(most)) if wanted > most => most,
            _ => wanted,
        };
        if is_integer {
            number = number.ceil();
        }
        if let Some(multiple) = bound("multipleOf").filter(|multiple| *multiple > 0.0) {
            number = (number / multiple).ceil() * multiple;
        }
        if is_integer && number.abs() < 9e15 {
            #[expect(clippy::cast_possible_truncation, reason = "checked above")]
            return json!(number as i64);
        }
        json!(number)
    }

    fn text(&mut self, schema: &Object, name: &str) -> String {
        let format = schema.get("format").and_then(Value::as_str);
        let by_format = FORMATS.iter().find(|(known, _)| format == Some(known));
        let name = name.to_lowercase();
        let by_name = NAMES.iter().find(|(part, _)| name.contains(part));
        let known = by_format.or(by_name).map(|(_, text)| *text);
        let mut text = match (known, self.style) {
            (Some(text), _) => text,
            (None, Style::Varied) => VARIED[self.random.below(VARIED.len())],
            (None, _) => TEXTS[0],
        }
        .to_owned();
        if let Some(pattern) = schema.get("pattern") {
            let pattern = json!({"pattern": pattern});
            let check = pattern
                .as_object()
                .and_then(|only| JsonSchema.compile(only).ok());
            let fits = |text: &&str| {
                let check = check.as_ref();
                check.is_some_and(|check| check.check(&json!(text)).is_ok())
            };
            let candidates = std::iter::once(&*text)
                .chain(TEXTS)
                .chain(FORMATS.map(|(_, text)| text));
            let found = candidates.into_iter().find(fits).map(str::to_owned);
            text = found.unwrap_or(text);
        }
        let least = limit(schema, "minLength").unwrap_or(0);
        let most = limit(schema, "maxLength").unwrap_or(MAX_LENGTH);
        let length = text.chars().count();
        if length < least {
            text.push_str(&"a".repeat(least - length));
        }
        text.chars().take(most).collect()
    }
}

/// Adds the keywords of `part` that `schema` does not have, and the properties of both.
fn merge(schema: &mut Object, part: &Object) {
    for (keyword, value) in part {
        match (schema.get_mut(keyword), value) {
            (Some(Value::Object(own)), Value::Object(further)) if keyword == "properties" => {
                own.extend(further.clone());
            }
            (Some(Value::Array(own)), Value::Array(further)) if keyword == "required" => {
                own.extend(further.iter().cloned());
            }
            (Some(_), _) => {}
            (None, _) => {
                schema.insert(keyword.clone(), value.clone());
            }
        }
    }
}

fn limit(schema: &Object, keyword: &str) -> Option<usize> {
    let limit = schema.get(keyword).and_then(Value::as_u64)?;
    Some(usize::try_from(limit).map_or(MAX_LENGTH, |limit| limit.min(MAX_LENGTH)))
}

#[cfg(test)]
mod tests {
    use mcp::types::Tool;
    use serde_json::{Value, json};

    use super::Samples;

    fn samples(schema: &Value, seed: u64) -> Vec<Value> {
        let tool = Tool::new("a").input_schema(schema.as_object().unwrap().clone());
        let valid = Samples::new(&tool, seed).valid;
        valid.into_iter().map(Value::Object).collect()
    }

    #[test]
    fn samples_match_their_schema() {
        for property in [
            json!({"type": "string", "minLength": 30, "maxLength": 31}),
            json!({"type": "string", "pattern": "^[A-Z]{2}-\\d+$"}),
            json!({"type": "integer", "exclusiveMinimum": 3, "maximum": 4}),
            json!({"type": "number", "maximum": -2.5}),
            json!({"type": "integer", "multipleOf": 7}),
            json!({"type": ["string", "null"], "enum": ["x", "y"]}),
            json!({"anyOf": [{"type": "null"}, {"type": "boolean"}]}),
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 3}),
            json!({"type": "array", "prefixItems": [{"const": 1}, {"const": "b"}]}),
            json!({"$ref": "#/$defs/node"}),
            json!({"allOf": [{"$ref": "#/$defs/node"}, {"required": ["value"]}]}),
        ] {
            let schema = json!({
                "type": "object", "properties": {"p": property}, "required": ["p"],
                "$defs": {"node": {"type": "object", "properties": {
                    "next": {"$ref": "#/$defs/node"}, "value": {"type": "integer"},
                }}},
            });
            let made = samples(&schema, 7);
            assert!(!made.is_empty(), "{schema}");
            assert_eq!(made, samples(&schema, 7));
        }
    }

    #[test]
    fn hostile_schemas_end() {
        let endless = json!({"type": "object", "properties": {"p": {"$ref": "#/properties/p"}}, "required": ["p"]});
        samples(&endless, 0);
        let wide = json!({"type": "array", "minItems": 1e18, "items": {"$ref": "#/properties/p"}});
        let schema = json!({"type": "object", "properties": {"p": wide}, "required": ["p"]});
        assert!(samples(&schema, 0).is_empty());
        let long = json!({"type": "string", "minLength": u64::MAX});
        let schema = json!({"type": "object", "properties": {"p": long}, "required": ["p"]});
        assert!(samples(&schema, 0).is_empty());
    }
}
