//! Generated schemas, right and wrong: every definition is valid by the metaschema and by the rules of each provider.

use mcp::prelude::*;
use mcp_toolset::ToolSet;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use crate::checker::problems;
use crate::sets::{PROVIDERS, client, raw};

/// Keywords with values, as servers send them.
fn keyword() -> impl Strategy<Value = (&'static str, Value)> {
    let names = select(vec![
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "pattern",
        "format",
        "default",
        "examples",
        "title",
        "description",
        "uniqueItems",
        "additionalProperties",
        "nullable",
        "required",
        "enum",
        "const",
        "type",
        "items",
        "properties",
        "prefixItems",
        "anyOf",
        "allOf",
        "oneOf",
        "x-own",
        "$comment",
        "deprecated",
        "propertyNames",
        "if",
        "not",
        "$schema",
        "$id",
    ]);
    let values = select(vec![
        json!(0),
        json!(1),
        json!(-1),
        json!(2.5),
        json!(1e300),
        json!("1"),
        json!("x"),
        json!(""),
        json!(true),
        json!(false),
        json!("true"),
        json!("false"),
        json!(null),
        json!([]),
        json!({}),
        json!(["a", "b"]),
        json!(["a", "a", null, 1, true]),
        json!([1, 2, 2]),
        json!([""]),
        json!([{}]),
        json!([{"type": "null"}, {"type": "string"}]),
        json!("(?=a)b"),
        json!("[a-z"),
        json!("^[a-z]+$"),
        json!("\\p{L}+"),
        json!("date-time"),
        json!("uri"),
        json!("int32"),
        json!("any"),
        json!("\u{202e}"),
        json!({"a": 1}),
        json!(u64::MAX),
    ]);
    (names, values)
}

fn kind() -> impl Strategy<Value = Value> {
    select(vec![
        json!("string"),
        json!("integer"),
        json!("number"),
        json!("boolean"),
        json!("array"),
        json!("object"),
        json!("null"),
        json!("any"),
        json!("STRING"),
        json!("str"),
        json!("file"),
        json!(["string", "null"]),
        json!(["string", "string"]),
        json!(["integer", "any"]),
        json!(["object", "array", "null"]),
        json!([]),
        json!(7),
        json!(null),
        json!(["number", "boolean"]),
    ])
}

fn key() -> impl Strategy<Value = String> {
    let long = "k".repeat(80);
    let names = [
        "a",
        "b",
        "c",
        "$filter",
        "größe",
        "",
        "a b",
        "__proto__",
        &long,
    ];
    select(names.map(str::to_owned).to_vec())
}

fn object(pairs: Vec<(&'static str, Value)>, kind: Option<Value>) -> Value {
    let pairs = pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    let kind = kind.map(|kind| ("type".to_owned(), kind));
    Value::Object(pairs.chain(kind).collect())
}

fn schema() -> impl Strategy<Value = Value> {
    let keywords = || prop::collection::vec(keyword(), 0..4);
    let leaf = prop_oneof![
        8 => (keywords(), prop::option::of(kind())).prop_map(|(pairs, kind)| object(pairs, kind)),
        2 => select(vec!["#/$defs/a", "#/$defs/b", "#", "#/$defs/none", "https://a.example/"])
            .prop_map(|target| json!({"$ref": target})),
        1 => select(vec![json!(true), json!(false), json!(7), json!(null)]),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        let list = || prop::collection::vec(inner.clone(), 0..4);
        let properties = prop::collection::vec((key(), inner.clone()), 0..4);
        let required = prop::collection::vec(key(), 0..4);
        let shapes = prop_oneof![
            3 => (properties, required).prop_map(|(properties, required)| {
                let properties: Map<_, _> = properties.into_iter().collect();
                vec![("properties", Value::Object(properties)), ("required", json!(required))]
            }),
            1 => inner.clone().prop_map(|items| vec![("items", items)]),
            1 => inner.clone().prop_map(|further| vec![("additionalProperties", further)]),
            2 => list().prop_map(|list| vec![("anyOf", json!(list))]),
            1 => list().prop_map(|list| vec![("oneOf", json!(list))]),
            1 => list().prop_map(|list| vec![("allOf", json!(list))]),
        ];
        (keywords(), shapes, prop::option::of(kind())).prop_map(|(mut pairs, shape, kind)| {
            pairs.extend(shape);
            object(pairs, kind)
        })
    })
}

/// A tool schema: an object with definitions.
fn root() -> impl Strategy<Value = Value> {
    (schema(), schema(), schema()).prop_map(|(root, a, b)| {
        let mut root = root.as_object().cloned().unwrap_or_default();
        root.insert("type".to_owned(), json!("object"));
        root.insert("$defs".to_owned(), json!({"a": a, "b": b}));
        Value::Object(root)
    })
}

#[test]
fn generated_schema_has_valid_definitions_for_each_provider() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let config = Config {
        cases: 100,
        failure_persistence: None,
        max_shrink_iters: 400,
        ..Config::default()
    };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, random);
    let schemas = prop::collection::vec(root(), 1..40);
    let result = runner.run(&schemas, |schemas| {
        let named = schemas.iter().enumerate();
        let tools = named.map(|(number, schema)| raw(&format!("t{number}"), schema.clone()));
        let tools: Vec<Tool> = tools.collect();
        let found = runtime.block_on(async {
            let tools = ToolSet::from(&client(tools).await);
            let mut found = Vec::new();
            for provider in PROVIDERS {
                let definitions = tools.definitions(provider).await.unwrap();
                let count = definitions
                    .to_string()
                    .matches("\"description\":\"t")
                    .count();
                if count < schemas.len() {
                    found.push(format!("{provider:?}: {count} definitions"));
                }
                let problems = problems(provider, &definitions);
                found.extend(
                    problems
                        .iter()
                        .map(|problem| format!("{provider:?}: {problem}")),
                );
            }
            found
        });
        prop_assert!(found.is_empty(), "{:#?}", found);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
