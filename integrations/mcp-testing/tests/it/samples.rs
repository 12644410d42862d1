//! Values for schemas. The `jsonschema` crate checks them.

use fastrand::Rng;
use mcp::schema::{JsonSchema, Validator as _};
use serde_json::{Map, Value, json};

/// Returns the first sample for a schema, and whether it matches.
fn sample(schema: &Value) -> (Value, bool) {
    let object = schema.as_object().unwrap();
    let value = mcp_testing::samples(object, 0).next().unwrap();
    let is_valid = jsonschema::validator_for(schema).unwrap().is_valid(&value);
    (value, is_valid)
}

#[test]
fn pattern_has_a_short_example() {
    for (pattern, text) in [
        ("^[0-9]{5}$", "11111"),
        (r"^[A-Z]{2}-\d+$", "AA-1"),
        ("^https?://", "https://example.com/"),
        ("^ftps?://", "ftp://"),
        ("foo", "foo"),
        ("amp", "example"),
        ("^(cat|dog)s?$", "cat"),
        (r"^[\w.-]+@[\w-]+\.[a-z]{2,}$", "ada@example.com"),
        (r"^\d{4}-\d{2}-\d{2}$", "2026-01-31"),
        ("^(?:#[0-9a-f]{6}|none)$", "#aaaaaa"),
        (r"^(\d{1,3}\.){3}\d{1,3}$", "192.0.2.1"),
        (r"^\p{Lu}\p{Ll}+$", "Aa"),
        (r"^\p{Cyrillic}{2}$", "ЀЀ"),
        ("^[äöü]$", "ä"),
        ("(?i)^YES$", "YES"),
        ("^[^a-z/]$", "A"),
        (r"^\w{1,255}-\W$", "a-!"),
        (r"^\s$", " "),
        (r"\bword\b", "word"),
        ("^(?:a{2}){3}$", "aaaaaa"),
        ("^$", ""),
        ("^\u{1}+$", "\u{1}"),
    ] {
        let (value, is_valid) = sample(&json!({"type": "string", "pattern": pattern}));
        assert_eq!(value, text, "{pattern}");
        assert!(is_valid, "{pattern}");
    }
}

#[test]
fn text_without_an_example_does_not_consider_the_pattern() {
    for pattern in ["a^b", "(?=a)b", r"(a)\1", r"^[^\s\S]$", "(", "a{1000000}"] {
        let schema = json!({"pattern": pattern});
        let value = mcp_testing::samples(schema.as_object().unwrap(), 0).next();
        assert_eq!(value, Some(json!("example")), "{pattern}");
    }
}

#[test]
fn example_has_the_length_that_the_schema_demands() {
    for (pattern, least, most, text) in [
        (r"^\d+$", 10, 10, "1111111111"),
        ("^[a-z]+$", 9, 99, "exampleaa"),
        ("^[A-Z]{2,8}(-[0-9]{3})*$", 10, 99, "AAAAAAAA-111"),
        ("^ftps?://", 12, 99, "ftps://aaaaa"),
        ("^(x?)y+$", 2, 2, "xy"),
        ("^[A-Z]+", 0, 3, "A"),
        (r"^\p{Greek}{2,}$", 4, 4, "ͰͰͰͰ"),
    ] {
        let schema = json!({"pattern": pattern, "minLength": least, "maxLength": most});
        let (value, is_valid) = sample(&schema);
        assert_eq!(value, text, "{schema}");
        assert!(is_valid, "{schema}");
    }
}

#[test]
fn items_with_a_pattern_are_unique() {
    let items = json!({"type": "string", "pattern": r"^[A-Z]{2}-\d+$"});
    let schema = json!({"type": "array", "items": items, "minItems": 4, "uniqueItems": true});
    let (value, is_valid) = sample(&schema);
    assert_eq!(value, json!(["AA-1", "AA-11", "AA-111", "AA-1111"]));
    assert!(is_valid);
}

#[test]
fn parts_references_and_older_drafts_are_read_as_validators_do() {
    let (draft_4, draft_7) = (
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-07/schema#",
    );
    for schema in [
        json!({"allOf": [{"properties": {"a": {"minLength": 10}}}, {"properties": {"a": {"type": "string"}}}], "required": ["a"]}),
        json!({"properties": {"a": {"type": "string"}}, "oneOf": [{"properties": {"a": {"const": "b"}}}], "required": ["a"]}),
        json!({"$ref": "#/%24defs/a%25~1b", "$defs": {"a%/b": {"type": "integer"}}}),
        json!({"$ref": "#kind", "$defs": {"a": {"$anchor": "kind", "type": "integer"}}}),
        json!({"$schema": draft_7, "type": "array", "items": [{"type": "integer"}, {"const": 2}], "minItems": 3, "additionalItems": {"type": "null"}}),
        json!({"$schema": draft_4, "type": "integer", "minimum": 7, "exclusiveMinimum": true}),
        json!({"type": "string", "minLength": 20_000}),
    ] {
        let (value, is_valid) = sample(&schema);
        assert!(is_valid, "{schema}: {value}");
    }
}

/// Samples that match their schema are those that `mcp test` calls tools with.
#[test]
fn most_generated_schemas_have_a_sample() {
    const SCHEMAS: usize = 2000;
    let (mut refused, mut first, mut any) = (0, 0, 0);
    for seed in 0..SCHEMAS {
        let schema = generated(&mut Rng::with_seed(seed as u64));
        let object = schema.as_object().unwrap();
        let Ok(check) = JsonSchema.compile(object) else {
            refused += 1;
            continue;
        };
        let independent = jsonschema::validator_for(&schema).unwrap();
        let values: Vec<_> = mcp_testing::samples(object, 0).take(4).collect();
        let again = mcp_testing::samples(object, 0).take(4);
        assert!(again.eq(values.iter().cloned()), "{schema}");
        let matches = |value: &Value| {
            let is_valid = check.check(value).is_ok();
            assert_eq!(is_valid, independent.is_valid(value), "{schema}: {value}");
            is_valid
        };
        let is_valid: Vec<_> = values.iter().map(matches).collect();
        first += usize::from(is_valid[0]);
        any += usize::from(is_valid.contains(&true));
    }
    let compiled = SCHEMAS - refused;
    let found = format!("{any} of {compiled} have one; for {first} it is the first");
    println!("{found}");
    assert!(compiled > SCHEMAS * 9 / 10, "{found}");
    assert!(any > compiled * 98 / 100, "{found}");
    assert!(first > compiled * 80 / 100, "{found}");
}

/// An object schema as servers write them, with definitions that refer to each other.
fn generated(random: &mut Rng) -> Value {
    let mut schema = object(random, 0);
    let definitions = ["a", "b", "c"].map(|name| (name.to_owned(), any(random, 2)));
    schema["$defs"] = Map::from_iter(definitions).into();
    schema
}

fn any(random: &mut Rng, depth: usize) -> Value {
    let low = random.u8(..5);
    let high = low + random.u8(..5);
    match random.u8(..if depth < 4 { 17 } else { 10 }) {
        0 => json!({"type": "string"}),
        1 => json!({"type": "string", "minLength": low * 3, "maxLength": high * 3}),
        2 => {
            let patterns = [
                "^[0-9]{5}$",
                r"^[A-Z]{2}-\d+$",
                "^https?://",
                "[abc]+x",
                r"^\p{L}+$",
                "^(red|green)$",
            ];
            json!({"type": "string", "pattern": random.choice(patterns)})
        }
        3 => {
            json!({"type": "string", "pattern": "^[0-9]+$", "minLength": low, "maxLength": high + 1})
        }
        4 => json!({"type": "integer", "minimum": low, "maximum": high}),
        5 => json!({"type": "integer", "exclusiveMinimum": low, "multipleOf": high + 1}),
        6 => json!({"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": high + 1}),
        7 => {
            let formats = ["date", "email", "uri", "uuid", "date-time", "idn-email"];
            json!({"type": ["string", "null"], "format": random.choice(formats)})
        }
        8 => random
            .choice([
                json!({"enum": ["x", 1, null]}),
                json!({"const": [1]}),
                json!({"type": "boolean", "default": false}),
                json!(true),
            ])
            .unwrap(),
        9 => json!({"$ref": format!("#/$defs/{}", random.choice(["a", "b", "c"]).unwrap())}),
        10..=12 => object(random, depth),
        13 => json!({
            "type": "array", "items": any(random, depth + 1), "minItems": low, "maxItems": high,
            "uniqueItems": random.bool(),
        }),
        14 => json!({
            "type": "array", "prefixItems": [any(random, depth + 1), any(random, depth + 1)],
            "items": random.bool(), "minItems": 2,
        }),
        15 => json!({"anyOf": [{"type": "null"}, any(random, depth + 1)]}),
        _ => {
            json!({"allOf": [object(random, depth + 1), {"properties": {"a": {"type": "string"}}}]})
        }
    }
}

fn object(random: &mut Rng, depth: usize) -> Value {
    let names = ["a", "b", "email", "url", "other"];
    let mut properties = Map::new();
    for name in &names[..4] {
        if random.bool() {
            properties.insert((*name).to_owned(), any(random, depth + 1));
        }
    }
    let is_closed = random.bool();
    let known = |name: &&str| !is_closed || properties.contains_key(*name);
    let required: Vec<_> = names
        .into_iter()
        .filter(known)
        .filter(|_| random.u8(..4) == 0)
        .collect();
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    if is_closed {
        schema["additionalProperties"] = false.into();
    }
    schema
}
