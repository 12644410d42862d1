//! Pairs of schemas that are made to cost time, memory or stack, and large ones of real servers: comparisons end within the steps.

use allocation_counter::measure;
use mcp::catalog::Impact;
use serde_json::{Map, Value, json};

use super::schemas::{check, diff};

fn definitions(count: usize, definition: impl Fn(usize) -> Value) -> Value {
    let all = (0..count).map(|number| (format!("d{number}"), definition(number)));
    json!({"$ref": "#/$defs/d0", "$defs": all.collect::<Map<_, _>>()})
}

fn reference(number: usize) -> Value {
    json!({"$ref": format!("#/$defs/d{number}")})
}

/// A recursive schema of `count` definitions: each of them refers to the next one, and to one twice as far.
fn wheel(count: usize) -> Value {
    definitions(count, |number| {
        json!({"properties": {
            "a": reference((number + 1) % count),
            "b": reference((2 * number + 1) % count),
        }})
    })
}

/// Each definition has the next one twice: a power of two of paths.
fn doubling(count: usize, last: &Value) -> Value {
    definitions(count + 1, |number| {
        let next = || reference(number + 1);
        if number == count {
            last.clone()
        } else {
            json!({"properties": {"a": next(), "b": next()}})
        }
    })
}

/// Two ways to write the same recursion, and schemas that are shared by many others, are compared pair by pair.
#[test]
fn each_pair_is_compared_once() {
    let list = |count: usize| {
        definitions(
            count,
            |number| json!({"properties": {"next": reference((number + 1) % count)}}),
        )
    };
    let changed = |schema: Value, name: &str, value: Value| {
        let mut schema = schema;
        schema["$defs"][name]["description"] = value;
        schema
    };
    check(&[
        (list(1), list(7), "--", "--"),
        (list(5), list(7), "--", "--"),
        (wheel(5), wheel(7), "--", "--"),
        (
            doubling(40, &json!({"type": "string"})),
            changed(
                doubling(40, &json!({"type": "string"})),
                "other",
                json!("new"),
            ),
            "--",
            "--",
        ),
        (
            doubling(40, &json!({"type": "string"})),
            changed(doubling(40, &json!({"type": "string"})), "d0", json!("new")),
            "TT",
            "TT",
        ),
    ]);
}

/// A union of which one alternative is new, in the middle, has most alternatives as before.
#[test]
fn wide_union_is_compared_within_the_steps() {
    let union = |skipped: usize| {
        let kinds = (0..40).filter(|kind| *kind != skipped);
        let all = kinds.map(|kind| {
            let mut fields: Map<_, _> = (0..8)
                .map(|field| (format!("f{field}"), json!({"type": "string"})))
                .collect();
            fields.insert("kind".to_owned(), json!({"const": kind}));
            json!({"type": "object", "properties": fields, "required": ["kind"]})
        });
        json!({"oneOf": all.collect::<Vec<_>>()})
    };
    check(&[(union(40), union(39), "BC", "CB")]);
    check(&[(union(20), union(99), "CB", "BC")]);
}

/// Hostile pairs of schemas: an older one, and a newer one with a breaking change for arguments.
fn hostile() -> Vec<(&'static str, Value, Value)> {
    let (number, integer) = (json!({"type": "number"}), json!({"type": "integer"}));
    let values = |from: usize, count: usize| (from..from + count).collect::<Vec<_>>();
    let union = |first: &Value, width: usize| {
        definitions(1, |_| {
            let mut all = vec![first.clone()];
            all.extend(
                (0..width)
                    .map(|kind| json!({"properties": {"k": {"const": kind}, "x": reference(0)}})),
            );
            json!({"anyOf": all})
        })
    };
    let long = "x".repeat(20 << 10);
    let named = |values: Vec<usize>| json!({"properties": {&*long: {"properties": {&*long: {"enum": values}}}}});
    let chain = |last: &Value| {
        definitions(2_000, |number| {
            if number == 1_999 {
                last.clone()
            } else {
                json!({"anyOf": [{"properties": {"x": reference(number + 1)}}, {"type": "null"}]})
            }
        })
    };
    let nested =
        |last: &Value| (0..120).fold(last.clone(), |inner, _| json!({"properties": {"a": inner}}));
    let shared = |last: &Value| {
        let big = json!({"not": {"allOf": vec![json!({"minimum": 1}); 1_500]}});
        let mut schema = doubling(40, last);
        let all = schema["$defs"].as_object_mut().unwrap();
        for (_, definition) in all {
            definition["properties"]["big"] = json!({"$ref": "#/big"});
            definition["not"] = json!({"$ref": "#/big"});
        }
        schema["big"] = big;
        schema
    };
    let optional = |width: usize, first: Value| {
        let mut all = vec![first];
        all.extend((0..width).map(|kind| json!({"required": [kind.to_string()]})));
        json!({"anyOf": all})
    };
    let ladder = |last: &Value| {
        definitions(30, |level| {
            let next = if level == 29 {
                last.clone()
            } else {
                reference(level + 1)
            };
            json!({"anyOf": [{"properties": {"a": next}}, {"items": next}, {"allOf": [next]}, next]})
        })
    };
    vec![
        ("product", wheel(61), wheel(59)),
        ("doubling", doubling(60, &number), doubling(60, &integer)),
        (
            "recursion unrolled",
            wheel(1),
            definitions(1, |_| nested(&integer)),
        ),
        (
            "wide recursive union",
            union(&number, 200),
            union(&integer, 200),
        ),
        (
            "wide union",
            optional(1_500, json!({"required": ["x"]})),
            optional(1_500, json!({"required": ["y"]})),
        ),
        (
            "long list",
            json!({"enum": values(0, 30_000)}),
            json!({"enum": values(29_000, 30_000)}),
        ),
        (
            "long names",
            named(values(0, 9_000)),
            named(values(8_000, 9_000)),
        ),
        ("chain", chain(&number), chain(&integer)),
        ("depth", nested(&number), nested(&integer)),
        ("large shared schema", shared(&number), shared(&integer)),
        (
            "alternatives in alternatives",
            ladder(&number),
            ladder(&integer),
        ),
        (
            "a megabyte",
            json!({"const": "x".repeat(1 << 20)}),
            json!({"const": "y"}),
        ),
    ]
}

/// The stack of a thread, in bytes: half of what runtimes use.
const STACK: usize = 1 << 20;

#[test]
fn hostile_pairs_end_within_the_steps() {
    let check = || {
        for (name, old, new) in hostile() {
            let mut impact = None;
            let memory = measure(|| impact = diff("inputSchema", &old, &new).impact());
            assert_eq!(impact, Some(Impact::Breaking), "{name}");
            assert!(memory.bytes_max < 64 << 20, "{name}: {memory:?}");
            assert!(memory.count_total < 600_000, "{name}: {memory:?}");
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn(check).unwrap().join().unwrap();
}

#[test]
fn pair_beyond_the_steps_is_too_large_to_compare() {
    let (_, old, new) = hostile().swap_remove(0);
    let reasons = diff("inputSchema", &old, &new).to_string();
    let expected = "too large or too deep to compare; the server may refuse arguments";
    assert!(reasons.contains(expected), "{reasons}");
}
