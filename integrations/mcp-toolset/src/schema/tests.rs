//! Schemas that are made to cost time, stack or memory.

use std::time::{Duration, Instant};

use allocation_counter::measure;
use mcp_types::JsonObject;
use serde_json::{Map, Value, json};

use super::{restore, rewrite};
use crate::provider::Provider;

const PROVIDERS: [Provider; 5] = [
    Provider::Anthropic,
    Provider::OpenAiChat,
    Provider::OpenAiResponses,
    Provider::OpenAiResponsesStrict,
    Provider::Gemini,
];
/// The steps that one walk may take, and far more than a test needs.
const LIMIT: usize = 10_000;
const MANY: usize = 1_000_000;
/// The stack of a worker, in bytes: a quarter of what runtimes use by default.
const STACK: usize = 512 << 10;

fn defs(count: usize, definition: impl Fn(usize) -> Value) -> Value {
    let defs = (0..count).map(|number| (format!("d{number}"), definition(number)));
    Value::Object(defs.collect())
}

fn reference(number: usize) -> Value {
    json!({"$ref": format!("#/$defs/d{number}")})
}

fn references(count: usize, number: usize) -> Vec<Value> {
    vec![reference(number); count]
}

/// The hostile schemas: each with a property `a`.
#[expect(clippy::too_many_lines, reason = "a table of schemas")]
fn schemas() -> Vec<(&'static str, JsonObject)> {
    let with_a =
        |a: Value, defs: Value| json!({"type": "object", "properties": {"a": a}, "$defs": defs});
    let last = |is_last: bool, other: Value| {
        if is_last {
            json!({"type": "string"})
        } else {
            other
        }
    };
    let in_levels = |keyword: &str, width: usize| {
        defs(4, |number| {
            last(number == 3, json!({keyword: references(width, number + 1)}))
        })
    };
    let deep = |levels: usize, keyword: &str| {
        (0..levels).fold(
            json!({"type": "string"}),
            |inner, _| json!({keyword: [inner]}),
        )
    };
    let long = "x".repeat(64 << 10);
    let names: Map<String, Value> = (0..4_000)
        .map(|n| (format!("p{n}"), reference(1)))
        .collect();
    let list = vec![
        (
            "chain of references",
            with_a(
                reference(0),
                defs(2_000, |n| last(n == 1_999, reference(n + 1))),
            ),
        ),
        (
            "chain of alternatives",
            with_a(
                reference(0),
                defs(1_990, |n| {
                    last(n == 1_989, json!({"anyOf": references(1, n + 1)}))
                }),
            ),
        ),
        ("wide allOf", with_a(reference(0), in_levels("allOf", 100))),
        ("wide anyOf", with_a(reference(0), in_levels("anyOf", 100))),
        ("wide oneOf", with_a(reference(0), in_levels("oneOf", 100))),
        (
            "alternatives to the power of 8",
            with_a(
                reference(0),
                defs(9, |n| last(n == 8, json!({"anyOf": references(6, n + 1)}))),
            ),
        ),
        (
            "properties to the power of 14",
            with_a(
                reference(0),
                defs(15, |n| {
                    last(
                        n == 14,
                        json!({"type": "object", "properties": {"a": reference(n + 1), "b": reference(n + 1)}}),
                    )
                }),
            ),
        ),
        (
            "circle",
            with_a(reference(0), defs(2, |n| reference(1 - n))),
        ),
        (
            "circle of alternatives",
            with_a(
                reference(0),
                defs(2, |n| json!({"anyOf": references(9, 1 - n)})),
            ),
        ),
        (
            "circle through the root",
            with_a(json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}), json!({})),
        ),
        (
            "all of each other",
            with_a(
                reference(0),
                defs(
                    60,
                    |_| json!({"anyOf": (0..60).map(reference).collect::<Vec<_>>()}),
                ),
            ),
        ),
        ("deep allOf", with_a(deep(50, "allOf"), json!({}))),
        ("deep anyOf", with_a(deep(50, "anyOf"), json!({}))),
        (
            "long pattern",
            with_a(json!({"type": "string", "pattern": long}), json!({})),
        ),
        (
            "long enum",
            with_a(json!({"type": "string", "enum": vec![&long; 3]}), json!({})),
        ),
        (
            "long keyword",
            with_a(json!({"type": "string", &*long: &*long}), json!({})),
        ),
        (
            "long reference",
            with_a(
                json!({"$ref": format!("#/{}", "a/".repeat(30_000))}),
                json!({}),
            ),
        ),
        (
            "long text at many references",
            with_a(
                json!({"anyOf": references(1_000, 0)}),
                defs(1, |_| json!({"type": "string", "const": long})),
            ),
        ),
        (
            "wide objects at many references",
            with_a(
                json!({"anyOf": references(1_000, 0)}),
                defs(2, |n| {
                    if n == 0 {
                        json!({"properties": names})
                    } else {
                        json!({"type": "string"})
                    }
                }),
            ),
        ),
    ];
    let list = list.into_iter().map(|(name, schema)| match schema {
        Value::Object(schema) => (name, schema),
        _ => (name, JsonObject::new()),
    });
    list.collect()
}

/// Runs on a small stack, which a walk without a limit overflows.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(test).unwrap().join().unwrap();
}

#[test]
fn hostile_schema_is_rewritten_or_refused_within_the_steps() {
    on_a_small_stack(|| {
        for (name, schema) in schemas() {
            for provider in PROVIDERS {
                let mut steps = MANY;
                let rewritten = rewrite(&schema, provider.profile(), &mut steps);
                assert!(MANY - steps <= LIMIT, "{name}: {} steps", MANY - steps);
                let size = rewritten.map_or(0, |schema| schema.to_string().len());
                assert!(size < 4_000_000, "{name}: {size} bytes");
            }
        }
    });
}

#[test]
fn arguments_for_hostile_schema_are_handled_within_step_limit() {
    on_a_small_stack(|| {
        let many: Vec<_> = (0..2_000).map(|number| json!({"a": number})).collect();
        for (name, schema) in schemas() {
            for given in [
                json!("x"),
                json!("{\"a\": 1}"),
                json!(null),
                json!(many),
                json!({"a": {"b": []}}),
            ] {
                let mut steps = MANY;
                let restored = restore(json!({ "a": given }), &schema, &mut steps);
                assert!(MANY - steps <= LIMIT, "{name}: {} steps", MANY - steps);
                assert!(restored.is_err() || restored.is_ok_and(|restored| restored.is_object()));
            }
        }
    });
}

#[test]
fn schema_with_paths_without_end_is_refused_with_the_reason() {
    let schemas: std::collections::HashMap<_, _> = schemas().into_iter().collect();
    for (name, reason) in [
        ("chain of alternatives", "more than 128 steps"),
        ("long text at many references", "more than 10000 schemas"),
    ] {
        let profile = Provider::Anthropic.profile();
        let error = rewrite(&schemas[name], profile, &mut MANY.clone()).unwrap_err();
        assert!(error.to_string().contains(reason), "{name}: {error}");
    }
    let chain = &schemas["chain of alternatives"];
    let error = restore(json!({"a": "x"}), chain, &mut MANY.clone()).unwrap_err();
    assert!(error.to_string().contains("more than 128 steps"), "{error}");
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(schema) => schema,
        other => panic!("{other} is not an object"),
    }
}

/// References name a long keyword at many places: each place costs what its note shows.
#[test]
fn long_keywords_at_many_places_cost_what_is_shown() {
    const LONG: usize = 150_000;
    const PLACES: usize = 80;
    // One long text, and many short ones.
    let texts = vec!["x".repeat(100); LONG / 200];
    let long = json!({"const": ["x".repeat(LONG / 2), texts]});
    let names = (0..PLACES).map(|n| (format!("p{n}"), reference(0)));
    let names: Map<String, Value> = names.collect();
    for keyword in [
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "items",
        "prefixItems",
        "additionalItems",
        "unevaluatedItems",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "contentSchema",
        "patternProperties",
        "dependentSchemas",
        "dependencies",
    ] {
        for kind in ["array", "object"] {
            let value = match keyword {
                "prefixItems" => json!([long]),
                "patternProperties" | "dependentSchemas" | "dependencies" => json!({"a": long}),
                _ => long.clone(),
            };
            let schema = object(json!({
                "type": "object",
                "properties": names,
                "$defs": {"d0": {"type": kind, keyword: value}},
            }));
            for provider in PROVIDERS {
                let mut rewritten = None;
                let memory = measure(|| {
                    rewritten = Some(rewrite(&schema, provider.profile(), &mut MANY.clone()));
                });
                let bytes = memory.bytes_total as usize;
                let allowed = match rewritten.unwrap() {
                    // Half of the keyword at all places. Schemas that are part of the result are copied.
                    Ok(schema) => LONG * PLACES / 2 + 20 * schema.to_string().len(),
                    // A step for each kilobyte that is copied.
                    Err(_) => LIMIT << 10,
                };
                assert!(
                    bytes < allowed + (1 << 20),
                    "{keyword}, {kind}, {provider:?}: {bytes} bytes of {allowed}"
                );
            }
        }
    }
}

/// The limit is for debug builds on slow machines: comparing each alternative with all others takes ten times as long.
#[test]
fn alternatives_cost_linear_time() {
    let texts: Vec<Value> = (0..9_000)
        .map(|n| json!({"description": n.to_string()}))
        .collect();
    let constants: Vec<Value> = (0..6_500)
        .map(|n| json!({"type": "string", "const": n.to_string()}))
        .collect();
    for alternatives in [texts, constants] {
        let schema =
            object(json!({"type": "object", "properties": {"a": {"anyOf": alternatives}}}));
        for provider in PROVIDERS {
            let start = Instant::now();
            let _ = rewrite(&schema, provider.profile(), &mut MANY.clone());
            let time = start.elapsed();
            assert!(time < Duration::from_secs(4), "{provider:?}: {time:?}");
        }
    }
}

/// Gemini takes alternatives without a description beside them.
#[test]
fn long_description_is_not_repeated_at_all_alternatives() {
    let lengths = (0..1_500).map(|n| json!({"type": "string", "maxLength": n + 1}));
    let lengths: Vec<Value> = lengths.collect();
    for (length, described) in [(150_000, 2), (10, 1_500)] {
        let text = "x".repeat(length);
        let schema = object(json!({
            "type": "object",
            "properties": {"a": {"description": text, "anyOf": lengths}},
        }));
        let profile = Provider::Gemini.profile();
        let rewritten = rewrite(&schema, profile, &mut MANY.clone()).unwrap();
        assert_eq!(rewritten.to_string().matches(&text).count(), described);
        assert!(rewritten.to_string().len() < 800_000);
    }
}
