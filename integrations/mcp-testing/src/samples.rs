//! [`samples`]: values for a JSON Schema.

use std::collections::BTreeSet;
use std::iter::repeat;

use fastrand::Rng;
use mcp::schema::{Validator, target};
use mcp::types::JsonObject;
use serde_json::{Map, Value, json};

/// Values of a sample, and bytes of their texts. What is beyond is `null`.
const MAX_SIZE: usize = 200_000;
/// Maximum nesting depth of a sample, and most references in a row.
const MAX_DEPTH: usize = 32;
/// Deepest nesting at which optional members and items are filled in: recursive schemas end.
const OPTIONAL_DEPTH: usize = 3;
/// Longest text and longest list that a schema can demand.
const MAX_LENGTH: usize = 10_000;
/// Share of the size that a pattern takes, as it is compiled.
const PATTERN_SIZE: usize = MAX_SIZE / 500;

/// Texts by format.
const FORMATS: [(&str, &str); 19] = [
    ("date-time", "2026-01-31T12:00:00Z"),
    ("date", "2026-01-31"),
    ("time", "12:00:00Z"),
    ("duration", "PT1H"),
    ("email", "ada@example.com"),
    ("idn-email", "ada@example.com"),
    ("hostname", "example.com"),
    ("idn-hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.com/"),
    ("iri", "https://example.com/"),
    ("url", "https://example.com/"),
    ("uri-reference", "/"),
    ("iri-reference", "/"),
    ("uuid", "123e4567-e89b-12d3-a456-426614174000"),
    ("json-pointer", "/a"),
    ("regex", "a+"),
    ("uri-template", "https://example.com/{a}"),
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

/// Texts of random samples: other scripts, quotes, white space.
const VARIED: [&str; 5] = [
    "example",
    "Zoë 東京 🚀",
    "it's \"quoted\"",
    " two\nlines ",
    "0",
];

/// The choice of a sample's properties and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// All properties, with plain values.
    Full,
    /// Required properties, with plain values.
    Required,
    /// Random properties and values.
    Varied,
}

/// Returns values for a schema, without an end: the first one has all properties, the second one the required ones, the
/// others are random. They are the same ones for the same seed, and their size is bounded, whatever the schema is.
///
/// Most of them match the schema. `not`, conditions and rare patterns are not considered: check the values. Without a
/// validator no pattern is.
///
/// # Examples
///
/// ```
/// use mcp::types::JsonObject;
/// use serde_json::json;
///
/// let schema = json!({
///     "type": "object",
///     "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 2}},
///     "required": ["city"],
/// });
/// let schema: JsonObject = serde_json::from_value(schema)?;
/// let mut samples = mcp_testing::samples(&schema, None, 0);
/// assert_eq!(samples.next(), Some(json!({"city": "example", "days": 2})));
/// assert_eq!(samples.next(), Some(json!({"city": "example"})));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn samples<'a>(
    schema: &'a JsonObject,
    validator: Option<&'a dyn Validator>,
    seed: u64,
) -> impl Iterator<Item = Value> + use<'a> {
    let styles = [Style::Full, Style::Required].into_iter();
    let styles = (0..).zip(styles.chain(repeat(Style::Varied)));
    styles.map(move |(index, style)| {
        let mut sampler = Sampler {
            root: schema,
            validator,
            random: Rng::with_seed(seed ^ index),
            style,
            left: MAX_SIZE,
        };
        sampler.value(Some(schema), "", 0, 0)
    })
}

/// A schema, what it refers to, its parts, and one of its alternatives.
#[derive(Default)]
struct Parts<'a>(Vec<&'a JsonObject>);

impl<'a> Parts<'a> {
    fn all(&self, keyword: &str) -> impl Iterator<Item = &'a Value> {
        self.0.iter().filter_map(move |part| part.get(keyword))
    }

    fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.all(keyword).next()
    }

    fn list(&self, keyword: &str) -> Option<&'a Vec<Value>> {
        self.get(keyword).and_then(Value::as_array)
    }

    fn limit(&self, keyword: &str) -> Option<usize> {
        let limit = self.get(keyword).and_then(Value::as_u64)?;
        Some(usize::try_from(limit).map_or(MAX_LENGTH, |limit| limit.min(MAX_LENGTH)))
    }
}

struct Sampler<'a> {
    root: &'a JsonObject,
    validator: Option<&'a dyn Validator>,
    random: Rng,
    style: Style,
    /// The size that the sample may still have.
    left: usize,
}

impl<'a> Sampler<'a> {
    /// Counts values, bytes, or keywords that are read. Returns false if the sample is large enough.
    fn count(&mut self, size: usize) -> bool {
        let left = self.left.checked_sub(size);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// Returns a value. The number makes items of one array different.
    fn value(
        &mut self,
        schema: Option<&'a JsonObject>,
        name: &str,
        number: usize,
        depth: usize,
    ) -> Value {
        if depth > MAX_DEPTH || !self.count(1) {
            return Value::Null;
        }
        let Some(schema) = schema else {
            return json!("example");
        };
        let mut parts = Parts::default();
        self.collect(schema, 0, &mut parts);
        if let Some(value) = self.given(&parts) {
            let is_small = self.count(size(value));
            return if is_small { value.clone() } else { Value::Null };
        }
        match self.kind(&parts) {
            "object" => self.object(&parts, depth),
            "array" => self.array(&parts, name, depth),
            "integer" => self.number(&parts, number, true),
            "number" => self.number(&parts, number, false),
            "boolean" => json!(self.style != Style::Varied || self.random.bool()),
            "null" => Value::Null,
            _ => self.text(&parts, name, number),
        }
    }

    fn collect(&mut self, schema: &'a JsonObject, depth: usize, parts: &mut Parts<'a>) {
        if depth > MAX_DEPTH || !self.count(1) {
            return;
        }
        parts.0.push(schema);
        let mut further: Vec<_> = Vec::new();
        let reference = schema.get("$ref").and_then(Value::as_str);
        further.extend(reference.and_then(|text| target(self.root, text)));
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let Some(list) = schema.get(keyword).and_then(Value::as_array) else {
                continue;
            };
            if !self.count(list.len()) {
                return;
            }
            let schemas = list.iter().filter_map(Value::as_object);
            if keyword == "allOf" {
                further.extend(schemas);
                continue;
            }
            let is_null = |kind: &Value| kind.as_str() == Some("null");
            let plain = schemas.filter(|schema| !schema.get("type").is_some_and(is_null));
            let plain: Vec<_> = plain.collect();
            further.extend(self.pick(&plain).copied());
        }
        for schema in further {
            self.collect(schema, depth + 1, parts);
        }
    }

    /// Returns the first choice, or a random one in random samples.
    fn pick<'c, T>(&mut self, choices: &'c [T]) -> Option<&'c T> {
        let index = match self.style {
            Style::Varied if !choices.is_empty() => self.random.usize(..choices.len()),
            _ => 0,
        };
        choices.get(index)
    }

    /// Returns a value that the schema names.
    fn given(&mut self, parts: &Parts<'a>) -> Option<&'a Value> {
        let lists = ["enum", "examples"].into_iter();
        let mut lists = lists.filter_map(|keyword| parts.list(keyword));
        if let Some(value) = parts.get("const") {
            return Some(value);
        }
        if let Some(values) = lists.find(|values| !values.is_empty()) {
            return self.pick(values);
        }
        let default = parts.get("default").filter(|value| !value.is_null());
        default.filter(|_| self.style != Style::Varied)
    }

    fn kind(&mut self, parts: &Parts<'a>) -> &'a str {
        match parts.get("type") {
            Some(Value::String(kind)) => kind,
            Some(Value::Array(kinds)) if self.count(kinds.len()) => {
                let kinds = kinds.iter().filter_map(Value::as_str);
                let plain: Vec<_> = kinds.filter(|kind| *kind != "null").collect();
                self.pick(&plain).copied().unwrap_or("null")
            }
            _ if parts.get("properties").is_some() => "object",
            _ if parts.get("items").is_some() => "array",
            _ if parts.get("minimum").or(parts.get("maximum")).is_some() => "integer",
            _ => "string",
        }
    }

    fn object(&mut self, parts: &Parts<'a>, depth: usize) -> Value {
        let required = parts.all("required").filter_map(Value::as_array);
        let required: Vec<_> = required.flatten().filter_map(Value::as_str).collect();
        self.count(required.len());
        let required: BTreeSet<_> = required.into_iter().collect();
        let mut object = Map::new();
        let properties = parts.all("properties").filter_map(Value::as_object);
        for (name, property) in properties.flatten() {
            let is_optional = depth < OPTIONAL_DEPTH
                && match self.style {
                    Style::Required => false,
                    Style::Full => true,
                    Style::Varied => self.random.bool(),
                };
            if self.count(name.len()) && (is_optional || required.contains(&**name)) {
                let value = self.value(property.as_object(), name, 0, depth + 1);
                object.insert(name.clone(), value);
            }
        }
        let other = parts.get("additionalProperties").and_then(Value::as_object);
        for name in required {
            if !object.contains_key(name) && self.count(name.len()) {
                object.insert(name.to_owned(), self.value(other, name, 0, depth + 1));
            }
        }
        Value::Object(object)
    }

    fn array(&mut self, parts: &Parts<'a>, name: &str, depth: usize) -> Value {
        let least = parts.limit("minItems").unwrap_or(0);
        let most = parts.limit("maxItems").unwrap_or(MAX_LENGTH).max(least);
        let wanted = match self.style {
            _ if depth >= OPTIONAL_DEPTH => 0,
            Style::Varied => self.random.usize(..4),
            Style::Required | Style::Full => 1,
        };
        let count = wanted.clamp(least, most);
        let first = parts.list("prefixItems").into_iter().flatten();
        let mut items: Vec<_> = first
            .map(|item| self.value(item.as_object(), name, 0, depth + 1))
            .collect();
        let item = parts.get("items").and_then(Value::as_object);
        while items.len() < count && self.left > 0 {
            items.push(self.value(item, name, items.len(), depth + 1));
        }
        Value::Array(items)
    }

    fn number(&mut self, parts: &Parts<'a>, number: usize, is_integer: bool) -> Value {
        let bound = |keyword| parts.get(keyword).and_then(Value::as_f64);
        let step = if is_integer { 1.0 } else { 0.5 };
        let least = bound("exclusiveMinimum")
            .map(|bound| bound + step)
            .or(bound("minimum"));
        let most = bound("exclusiveMaximum")
            .map(|bound| bound - step)
            .or(bound("maximum"));
        let wanted = match self.style {
            Style::Varied => [-1.0, 0.0, 2.0, 7.0, 100.0, 65_536.0][self.random.usize(..6)],
            _ => 1.0,
        };
        let multiple = bound("multipleOf").filter(|multiple| *multiple > 0.0);
        let wanted = least.map_or(wanted, |least| least.max(wanted));
        let number = f64::from(u32::try_from(number).unwrap_or(0));
        let wanted = wanted + number * multiple.unwrap_or(1.0);
        let mut number = most.map_or(wanted, |most| most.min(wanted));
        if is_integer {
            number = number.ceil();
        }
        if let Some(multiple) = multiple {
            number = (number / multiple).ceil() * multiple;
        }
        if is_integer && number.abs() < 9e15 {
            #[expect(clippy::cast_possible_truncation, reason = "checked above")]
            return json!(number as i64);
        }
        json!(number)
    }

    fn text(&mut self, parts: &Parts<'a>, name: &str, number: usize) -> Value {
        let format = parts.get("format").and_then(Value::as_str);
        let by_format = FORMATS.iter().find(|(known, _)| format == Some(known));
        let name = name.to_lowercase();
        let by_name = NAMES.iter().find(|(part, _)| name.contains(part));
        let known = by_format.or(by_name).map(|(_, text)| *text);
        let varied = match self.style {
            Style::Varied => VARIED[self.random.usize(..VARIED.len())],
            _ => TEXTS[0],
        };
        let mut text = known.unwrap_or(varied).to_owned();
        if number > 0 && by_format.is_none() {
            text = format!("{number}{text}");
        }
        if let Some(pattern) = parts.get("pattern")
            && self.count(PATTERN_SIZE)
        {
            let pattern = JsonObject::from_iter([("pattern".to_owned(), pattern.clone())]);
            let check = self.validator.map(|validator| validator.compile(&pattern));
            let fits = |text: &&str| match &check {
                Some(Ok(check)) => check.check(&json!(text)).is_ok(),
                _ => true,
            };
            let further = TEXTS.into_iter().chain(FORMATS.map(|(_, text)| text));
            let found = [&*text].into_iter().chain(further).find(fits);
            text = found.unwrap_or(&text).to_owned();
        }
        let least = parts.limit("minLength").unwrap_or(0);
        let most = parts.limit("maxLength").unwrap_or(MAX_LENGTH);
        let missing = least.saturating_sub(text.chars().count());
        text.push_str(&"a".repeat(missing));
        let text: String = text.chars().take(most).collect();
        if self.count(text.len()) {
            json!(text)
        } else {
            Value::Null
        }
    }
}

/// Returns the number of values in a value, and the bytes of their texts.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len(),
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, member)| name.len() + size(member));
            1 + members.sum::<usize>()
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::{Value, json};

    use super::{MAX_SIZE, samples, size};

    fn of(schema: &Value) -> Value {
        let schema = schema.as_object().unwrap();
        samples(schema, None, 0).next().unwrap()
    }

    /// A schema whose samples have 100,000 items.
    fn often(items: &Value) -> Value {
        let items = json!({"type": "array", "minItems": 10_000, "items": items});
        json!({"type": "array", "minItems": 10, "items": items})
    }

    #[test]
    fn samples_for_hostile_schemas_are_bounded() {
        let deep = (0..30).fold(
            json!({"type": "string", "minLength": 1_000}),
            |items, _| json!({"type": "array", "items": items, "minItems": 1_000}),
        );
        let branches: serde_json::Map<String, Value> = (0..40)
            .map(|level| {
                let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
                (
                    format!("d{level}"),
                    json!({"allOf": [next, next, next], "anyOf": [next]}),
                )
            })
            .collect();
        let long = "n".repeat(1 << 20);
        let names: Vec<String> = (0..100_000).map(|number| format!("n{number}")).collect();
        for (name, schema) in [
            ("arrays of arrays", deep),
            ("branches", json!({"$ref": "#/$defs/d0", "$defs": branches})),
            (
                "a long constant",
                json!({"type": "array", "items": {"const": long}, "minItems": 1_000}),
            ),
            (
                "recursion",
                json!({"type": "object", "required": ["a", "b"], "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}),
            ),
            (
                "required names",
                json!({"type": "object", "required": names}),
            ),
            ("a reference to itself", json!({"$ref": "#"})),
            (
                "null alternatives",
                often(&json!({"anyOf": vec![json!({"type": "null"}); 100_000]})),
            ),
            ("types", often(&json!({"type": vec!["null"; 100_000]}))),
            ("constants", often(&json!({"enum": vec![1; 1_000_000]}))),
        ] {
            let start = Instant::now();
            let example = of(&schema);
            assert!(start.elapsed() < Duration::from_secs(20), "{name}");
            assert!(size(&example) <= 2 * MAX_SIZE, "{name}: {}", size(&example));
        }
    }

    #[test]
    fn parts_and_branches_are_merged() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"const": 1}},
            "allOf": [{"properties": {"b": {"type": "boolean"}}}],
            "oneOf": [{"required": ["c"], "properties": {"c": {"enum": ["x"]}}}],
        });
        assert_eq!(of(&schema), json!({"a": 1, "c": "x", "b": true}));
    }
}
