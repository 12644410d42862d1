//! Schemas that are made to cost time, memory or stack, and generated ones: reading and walks end within the limits.

use std::collections::HashSet;

use allocation_counter::measure;
use mcp_schema::{Keywords, Limit, Node, Parts, Schema, SchemaError, Walk, limits};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::reading::object;

/// The stack of a thread, in bytes: a quarter of what runtimes use.
const STACK: usize = 512 << 10;

fn defs(count: usize, definition: impl Fn(usize) -> Value) -> Value {
    (0..count)
        .map(|number| (format!("d{number}"), definition(number)))
        .collect::<Map<_, _>>()
        .into()
}

fn reference(number: usize) -> Value {
    json!({"$ref": format!("#/$defs/d{number}")})
}

fn with_defs(defs: Value) -> Value {
    json!({"type": "object", "properties": {"a": reference(0)}, "$defs": defs})
}

/// Hostile schemas, and whether they are read.
fn schemas() -> Vec<(&'static str, Value, bool)> {
    let levels = |keyword: &str, width: usize, count: usize| {
        with_defs(defs(count, |number| {
            if number + 1 < count {
                json!({keyword: vec![reference(number + 1); width]})
            } else {
                json!({})
            }
        }))
    };
    let long = "x".repeat(64 << 10);
    let nested = (0..126).fold(json!({}), |inner, _| json!({"allOf": [inner]}));
    vec![
        (
            "row of references",
            with_defs(defs(2_000, |number| {
                if number < 1_999 {
                    reference(number + 1)
                } else {
                    json!({})
                }
            })),
            false,
        ),
        ("row of alternatives", levels("anyOf", 1, 1_990), true),
        ("wide allOf", levels("allOf", 100, 4), true),
        ("wide anyOf", levels("anyOf", 100, 4), true),
        ("wide oneOf", levels("oneOf", 100, 4), true),
        (
            "alternatives to the power of 8",
            levels("anyOf", 6, 9),
            true,
        ),
        (
            "circle",
            with_defs(defs(2, |number| reference(1 - number))),
            true,
        ),
        (
            "circle of alternatives",
            with_defs(defs(
                2,
                |number| json!({"anyOf": vec![reference(1 - number); 9]}),
            )),
            true,
        ),
        (
            "circle through the root",
            json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}),
            true,
        ),
        (
            "all of each other",
            with_defs(defs(
                60,
                |_| json!({"allOf": (0..60).map(reference).collect::<Vec<_>>()}),
            )),
            true,
        ),
        (
            "properties to the power of 14",
            with_defs(defs(
                15,
                |number| json!({"properties": {"a": reference(number + 1), "b": reference(number + 1)}}),
            )),
            true,
        ),
        ("deep allOf", nested, true),
        (
            "long pattern",
            json!({"pattern": long, "anyOf": vec![json!({"$ref": "#"}); 500]}),
            true,
        ),
        (
            "long name",
            json!({&*long: &*long, "properties": {&*long: {"anyOf": vec![true; 4_000]}}}),
            false,
        ),
        (
            "long reference",
            json!({"$ref": format!("#/{}", "a/".repeat(30_000))}),
            true,
        ),
        (
            "many subschemas",
            json!({"anyOf": vec![json!({}); 9_000]}),
            false,
        ),
        (
            "many references to data",
            json!({"data": vec![json!({}); 9_000], "anyOf": (0..4_000).map(|number| json!({"$ref": format!("#/data/{number}")})).collect::<Vec<_>>()}),
            false,
        ),
        (
            "references that add each other",
            json!({"a": {"b": {"c": {"$ref": "#/a/b"}, "$ref": "#/a/b/c"}, "$ref": "#/a/b"}, "$ref": "#/a"}),
            true,
        ),
    ]
}

/// Visits all paths: properties, alternatives, and what applies to the same value.
fn visit(node: Node<'_>, walk: &Walk, nested: usize) -> Result<(), SchemaError> {
    let parts = Parts::of(node, walk, nested)?;
    for inner in parts.properties().into_iter().map(|(_, inner)| inner) {
        visit(inner, walk, nested + 1)?;
    }
    for inner in parts.alternatives() {
        parts.alternative(inner, walk, nested + 1)?;
        visit(inner, walk, nested + 1)?;
    }
    Ok(())
}

/// Reads a schema and walks through it. Returns false if it is refused.
fn check(json: &Map<String, Value>) -> Result<bool, String> {
    let schema = match Schema::parse(json) {
        Ok(schema) => schema,
        Err(error) => {
            return if error.to_string().len() < 5_000 {
                Ok(false)
            } else {
                Err(error.to_string())
            };
        }
    };
    let walk = Walk::of_schema(usize::MAX);
    if let Err(error) = visit(schema.root(), &walk, 0) {
        let is_own = matches!(error.limit, Limit::Nested(_) | Limit::Steps(_));
        assert!(is_own, "{error}");
    }
    let ids: HashSet<_> = schema.nodes().map(Node::id).collect();
    let is_within = walk.taken() <= limits::STEPS && ids.len() == schema.len();
    for node in schema.nodes() {
        let same = node.parent().is_none_or(|parent| parent.id() < node.id());
        let _ = (
            node.range(),
            node.kinds(),
            node.is_null(),
            node.element(1),
            node.target(),
        );
        if !same || node.pointer().chars().count() > limits::LOCATION + 1 {
            return Err(node.pointer());
        }
    }
    if is_within {
        Ok(true)
    } else {
        Err(format!("{} steps", walk.taken()))
    }
}

#[test]
fn hostile_schemas_are_refused_or_walked_within_the_limits() {
    let run = || {
        for (name, json, is_read) in schemas() {
            let json = object(json);
            let mut result = None;
            let memory = measure(|| result = Some(check(&json)));
            assert_eq!(result, Some(Ok(is_read)), "{name}");
            assert!(memory.bytes_max < 16 << 20, "{name}: {memory:?}");
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(run).unwrap().join().unwrap();
}

/// A visit costs what its keywords cost to read, each time.
#[test]
fn long_keywords_cost_more_steps() {
    let long = "x".repeat(64 << 10);
    for (name, json, weight) in [
        (
            "text",
            json!({"pattern": long, "properties": {"a": {}}}),
            257,
        ),
        ("name", json!({&*long: true}), 257),
        (
            "name of a subschema",
            json!({"properties": {&*long: {"title": long}}}),
            257,
        ),
        ("values", json!({"enum": vec![true; 1_600]}), 101),
        ("short", json!({"type": "string", "title": "a"}), 1),
    ] {
        let json = object(json);
        let schema = Schema::parse(&json).unwrap();
        let walk = Walk::of_schema(300);
        walk.visit(schema.root(), 0).unwrap();
        assert_eq!(walk.taken(), weight, "{name}");
        let refused = walk.visit(schema.root(), 0).err().map(|error| error.limit);
        let is_refused = weight > 150;
        assert_eq!(refused, is_refused.then_some(Limit::Steps(300)), "{name}");
    }
}

/// Schemas of all keywords, with references to each other, wrong values, and depth.
fn schema() -> impl Strategy<Value = Value> {
    let texts = || {
        select(vec![
            "#",
            "#/$defs/a",
            "#/$defs/b",
            "#/properties/a",
            "#a",
            "#/x",
            "https://example.com",
            "string",
            "null",
            "a",
        ])
    };
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        texts().prop_map(Value::from),
        texts().prop_map(|text| json!({"$ref": text})),
        texts().prop_map(|text| json!({"type": text, "$anchor": "a"})),
    ];
    leaf.prop_recursive(6, 200, 8, move |inner| {
        let names = select(vec![
            "properties",
            "patternProperties",
            "$defs",
            "definitions",
            "dependencies",
            "items",
            "prefixItems",
            "additionalItems",
            "additionalProperties",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "then",
            "enum",
            "const",
            "type",
            "required",
            "minimum",
            "exclusiveMinimum",
            "minLength",
            "nullable",
            "x",
            "$id",
            "$ref",
            "$dynamicRef",
            "$dynamicAnchor",
        ]);
        let value = prop_oneof![
            inner.clone(),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((texts(), inner), 0..4).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<Map<_, _>>()
                .into()),
        ];
        prop::collection::vec((names, value), 0..6).prop_map(|keywords| {
            keywords
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<Map<_, _>>()
                .into()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_schemas_end_within_the_limits(json in schema()) {
        let json = match json {
            Value::Object(json) => json,
            other => Map::from_iter([("items".to_owned(), other)]),
        };
        let mut result = None;
        let memory = measure(|| result = Some(check(&json)));
        prop_assert!(result.is_some_and(|result| result.is_ok()));
        prop_assert!(memory.bytes_max < 16 << 20, "{memory:?}");
    }
}

/// Names that lead to the target of a reference are read each time, so they count: when a schema is read, and in walks.
#[test]
fn long_names_of_targets_cost_more() {
    let long = "x".repeat(100 << 10);
    let to_name = |count| {
        let references = vec![json!({"$ref": "#a"}); count];
        object(json!({"anyOf": references, "$defs": {&*long: {"$anchor": "a"}}}))
    };
    let refused = Schema::parse(&to_name(30)).unwrap_err();
    assert_eq!(refused.limit, Limit::Locations(limits::LOCATIONS));
    let json = to_name(2);
    let schema = Schema::parse(&json).unwrap();
    let walk = Walk::of_value();
    for reference in schema.root().list("anyOf") {
        assert!(walk.target(reference).is_some());
    }
    assert_eq!(walk.taken(), 2 * (long.len() / limits::BYTES_PER_STEP));
}

/// A reference into data finds a schema that belongs to the resource around it.
#[test]
fn target_in_data_belongs_to_the_schema_around_it() {
    let json = object(json!({
        "$ref": "#/$defs/a/data/0/x",
        "$defs": {
            "a": {"$id": "urn:a", "data": [{"x": {"$ref": "#/$defs/b"}}], "$defs": {"b": {"title": "inner"}}},
            "b": {"title": "outer"},
        },
    }));
    let schema = Schema::parse(&json).unwrap();
    let data = schema.root().target().unwrap();
    assert_eq!(data.pointer(), "/$defs/a/data/0/x");
    assert_eq!(data.parent().unwrap().pointer(), "/$defs/a");
    assert_eq!(data.target().unwrap().text("title"), Some("inner"));
}
