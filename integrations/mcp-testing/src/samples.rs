//! [`samples`]: values for a JSON Schema.

mod pattern;

use std::collections::BTreeSet;
use std::iter::{once, repeat};
use std::ops::Bound;
use std::slice;

use fastrand::Rng;
use mcp::types::JsonObject;
use mcp_schema::{Keywords as _, Node, Parts, Schema, Type, Walk, limits};
use serde_json::{Map, Number, Value, json};

use self::pattern::{MAX_TEXT, Pattern};

/// Values of a sample, and bytes of their texts. What is beyond is `null`.
const MAX_SIZE: usize = 200_000;
/// Deepest nesting at which optional members and items are filled in: recursive schemas end.
const OPTIONAL_DEPTH: usize = 3;
/// Share of the size that a pattern takes for each character of its text, as it is compiled and matches the text. 25 characters
/// are added for the texts by format, and one for four bytes of the pattern.
const PATTERN_SIZE: usize = 100;

/// Texts by format. International forms have the same ones.
const FORMATS: [(&str, &str); 15] = [
    ("date-time", "2026-01-31T12:00:00Z"),
    ("date", "2026-01-31"),
    ("time", "12:00:00Z"),
    ("duration", "PT1H"),
    ("email", "ada@example.com"),
    ("hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.com/"),
    ("url", "https://example.com/"),
    ("uri-reference", "/"),
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
/// others are random. They are the same ones for the same seed, and their size is bounded, whatever the schema is. A schema
/// beyond the limits for reading (256 KiB, 4,096 subschemas, 128 levels, 64 references in a row) has `null` alone.
///
/// Most of them match the schema. `not` and conditions are not considered: check the values. A text for a `pattern` is that of
/// a format, or else a short one, such as `11111` for `^[0-9]{5}$`. Patterns with look-around, and very large ones, are not considered.
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
/// let mut samples = mcp_testing::samples(&schema, 0);
/// assert_eq!(samples.next(), Some(json!({"city": "example", "days": 2})));
/// assert_eq!(samples.next(), Some(json!({"city": "example"})));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn samples(schema: &JsonObject, seed: u64) -> impl Iterator<Item = Value> {
    let styles = [Style::Full, Style::Required].into_iter();
    let styles = (0..).zip(styles.chain(repeat(Style::Varied)));
    let schema = Schema::parse(schema);
    styles.map(move |(index, style)| {
        let Ok(schema) = &schema else {
            return Value::Null;
        };
        let mut sampler = Sampler {
            walk: Walk::of_value(),
            random: Rng::with_seed(seed ^ index),
            style,
        };
        sampler.value(vec![schema.root()], "", 0, 0)
    })
}

struct Sampler {
    walk: Walk,
    random: Rng,
    style: Style,
}

impl Sampler {
    /// Counts values or bytes. Returns false if the sample is large enough.
    fn count(&self, size: usize) -> bool {
        let steps = size.saturating_mul(limits::VALUE_STEPS / MAX_SIZE);
        self.walk.spend(steps)
    }

    /// Returns a value. The number makes items of one array different.
    fn value(&mut self, schemas: Vec<Node<'_>>, name: &str, number: usize, depth: usize) -> Value {
        let Some(parts) = self.parts(schemas, depth) else {
            return Value::Null;
        };
        if let Some(value) = self.given(&parts) {
            let is_small = self.count(value.to_string().len());
            return if is_small { value.clone() } else { Value::Null };
        }
        let is_plain = |kind: &Type| *kind != Type::Null;
        let (plain, null): (Vec<_>, Vec<_>) = parts.kinds().into_iter().partition(is_plain);
        let is_number = parts.range() != (Bound::Unbounded, Bound::Unbounded);
        match self.pick(&plain) {
            Some(Type::Object) => self.object(&parts, depth),
            Some(Type::Array) => self.array(&parts, name, depth),
            Some(Type::Integer) => self.number(&parts, number, true),
            Some(Type::Number) => self.number(&parts, number, false),
            Some(Type::Boolean) => json!(self.pick(&[true, false])),
            None if !null.is_empty() => Value::Null,
            None if is_number => self.number(&parts, number, true),
            _ => self.text(&parts, name, number),
        }
    }

    /// Collects the schemas that apply to a value, with one alternative of each. Returns `None` beyond a limit.
    fn parts<'s>(&mut self, mut schemas: Vec<Node<'s>>, depth: usize) -> Option<Parts<'s>> {
        if depth > limits::SAMPLE_DEPTH || !self.count(1) {
            return None;
        }
        let mut seen = 0;
        let mut hops = 0;
        // Each turn collects the parts of all schemas again.
        while self.walk.step(hops) {
            hops += 1;
            let parts = Parts::of_all(&schemas, &self.walk, depth).ok()?;
            let count = schemas.len();
            for node in &parts.nodes()[seen..] {
                for keyword in ["anyOf", "oneOf"] {
                    let mut plain = node.list(keyword);
                    self.walk.spend(plain.len());
                    plain.retain(|node| !node.is_null());
                    schemas.extend(self.pick(&plain));
                }
            }
            if schemas.len() == count {
                return Some(parts);
            }
            seen = parts.nodes().len();
        }
        None
    }

    /// Returns the first choice, or a random one in random samples.
    fn pick<'c, T>(&mut self, choices: &'c [T]) -> Option<&'c T> {
        let index = match self.style {
            Style::Varied if choices.len() > 1 => self.random.usize(..choices.len()),
            _ => 0,
        };
        choices.get(index)
    }

    /// Returns a value that the schema names.
    fn given<'s>(&mut self, parts: &Parts<'s>) -> Option<&'s Value> {
        let one = |keyword| parts.get(keyword).map(slice::from_ref);
        let list = |keyword| Some(parts.get(keyword)?.as_array()?.as_slice());
        let is_fit = |values: &&[Value]| !values[0].is_null() && self.style != Style::Varied;
        let default = one("default").filter(is_fit);
        let lists = [one("const"), list("enum"), list("examples"), default];
        let mut lists = lists.into_iter().flatten();
        self.pick(lists.find(|values| !values.is_empty())?)
    }

    fn object(&mut self, parts: &Parts<'_>, depth: usize) -> Value {
        let required: BTreeSet<_> = parts.required().into_iter().collect();
        let mut names: Vec<_> = parts.properties().iter().map(|(name, _)| *name).collect();
        self.walk.spend(names.len());
        names.extend(&required);
        let mut object = Map::new();
        for name in names {
            let is_full = self.style == Style::Full;
            let is_optional = is_full || self.style == Style::Varied && self.random.bool();
            let is_wanted = is_optional && depth < OPTIONAL_DEPTH || required.contains(name);
            if !object.contains_key(name)
                && is_wanted
                && self.count(name.len() + parts.nodes().len())
            {
                let mut schemas = inner(parts, |part| part.property(name));
                if schemas.is_empty() {
                    schemas = inner(parts, |part| part.subschema("additionalProperties"));
                }
                object.insert(name.to_owned(), self.value(schemas, name, 0, depth + 1));
            }
        }
        Value::Object(object)
    }

    fn array(&mut self, parts: &Parts<'_>, name: &str, depth: usize) -> Value {
        let least = limit(parts, "minItems").unwrap_or(0);
        let most = limit(parts, "maxItems").unwrap_or(usize::MAX).max(least);
        let wanted = self.pick(&[1, 0, 2, 3]).filter(|_| depth < OPTIONAL_DEPTH);
        let wanted = wanted.map_or(0, |wanted| *wanted).clamp(least, most);
        let places = ["prefixItems", "items"].map(|keyword| parts.list(keyword).len());
        let places = places[0].max(places[1]);
        let mut items = Vec::new();
        while items.len() < wanted.max(places) && self.count(parts.nodes().len()) {
            let index = items.len();
            let schemas = inner(parts, |part| part.element(index));
            let number = if index < places { 0 } else { index };
            items.push(self.value(schemas, name, number, depth + 1));
        }
        Value::Array(items)
    }

    fn number(&mut self, parts: &Parts<'_>, number: usize, is_integer: bool) -> Value {
        let step = if is_integer { 1.0 } else { 0.5 };
        let bound = |bound: Bound<&Number>, step: f64| match bound {
            Bound::Included(bound) => bound.as_f64(),
            Bound::Excluded(bound) => bound.as_f64().map(|bound| bound + step),
            Bound::Unbounded => None,
        };
        let (least, most) = parts.range();
        let (least, most) = (bound(least, step), bound(most, -step));
        let wanted = self.pick(&[1.0, -1.0, 0.0, 7.0, 100.0, 65_536.0]);
        let wanted = *wanted.unwrap_or(&1.0);
        let multiple = parts.get("multipleOf").and_then(Value::as_f64);
        let multiple = multiple.filter(|multiple| *multiple > 0.0);
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

    fn text(&mut self, parts: &Parts<'_>, name: &str, number: usize) -> Value {
        let format = parts.text("format").unwrap_or_default();
        let format = format.replace("idn-", "").replace("iri", "uri");
        let by_format = FORMATS.iter().find(|(known, _)| *known == format);
        let name = name.to_lowercase();
        let by_name = NAMES.iter().find(|(part, _)| name.contains(part));
        let known = by_format.or(by_name).map(|(_, text)| *text);
        let varied = self.pick(&VARIED).map_or("", |text| *text);
        let mut text = known.unwrap_or(varied).to_owned();
        if number > 0 && by_format.is_none() {
            text = format!("{number}{text}");
        }
        let least = limit(parts, "minLength").unwrap_or(0);
        let most = limit(parts, "maxLength").unwrap_or(usize::MAX);
        if !self.count(text.len().saturating_add(least)) {
            return Value::Null;
        }
        let fit = |text: String| -> String {
            let missing = least.saturating_sub(text.chars().count());
            (text + &"a".repeat(missing)).chars().take(most).collect()
        };
        let cost = |bytes: usize| PATTERN_SIZE * (25 + bytes / 4 + least);
        let is_small = |bytes: usize| bytes.max(least) <= MAX_TEXT && self.count(cost(bytes));
        let pattern = parts.text("pattern").filter(|text| is_small(text.len()));
        let Some(pattern) = pattern.and_then(Pattern::parse) else {
            return json!(fit(text));
        };
        let short = pattern.example(0, &self.walk);
        let length = short.as_ref().map_or(0, |text| text.chars().count());
        let more = least.saturating_sub(length).saturating_add(number);
        let long = pattern.example(more, &self.walk);
        let formats = FORMATS.iter().map(|(_, text)| (*text).to_owned());
        let formats = formats.filter(|text| number == 0 && fit(text.clone()) == *text);
        let texts = once(text.clone()).chain(formats);
        let mut texts = texts.chain(long).chain(short).map(fit);
        let found = texts.find(|text| pattern.regex.is_match(text));
        json!(found.unwrap_or_else(|| fit(text)))
    }
}

/// Returns the schemas of a member or an item, one for each part that has one.
fn inner<'s>(parts: &Parts<'s>, find: impl Fn(&Node<'s>) -> Option<Node<'s>>) -> Vec<Node<'s>> {
    parts.nodes().iter().filter_map(find).collect()
}

fn limit(parts: &Parts<'_>, keyword: &str) -> Option<usize> {
    Some(usize::try_from(parts.count(keyword)?).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::{Value, json};

    use super::{MAX_SIZE, samples};

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

    fn of(schema: &Value) -> Value {
        let schema = schema.as_object().unwrap();
        samples(schema, 0).next().unwrap()
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
            (
                "texts for patterns",
                often(&json!({"pattern": format!("^{}$", "\\w".repeat(400)), "minLength": 900})),
            ),
            (
                "large patterns",
                often(&json!({"pattern": "(a?){9999}b", "minLength": 500})),
            ),
            (
                "large classes",
                often(&json!({"pattern": r"\p{L}".repeat(190)})),
            ),
            (
                "repetitions of repetitions",
                often(&json!({"pattern": "^(((a{1000}){1000}){1000}|((b?){1000}){1000}){1000}$"})),
            ),
            (
                "as many null alternatives as are read",
                often(&json!({"anyOf": vec![json!({"type": "null"}); 4_000]})),
            ),
            (
                "as many types as are read",
                often(&json!({"type": vec!["null"; 30_000]})),
            ),
            (
                "as many constants as are read",
                often(&json!({"enum": vec![1; 100_000]})),
            ),
            (
                "as many parts with items as are read",
                json!({"type": "array", "minItems": 100_000, "allOf": vec![json!({"items": {}}); 2_000]}),
            ),
            (
                "as many parts with optional members as are read",
                often(&json!({"allOf": vec![json!({"properties": {"a": {}}}); 2_000]})),
            ),
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
