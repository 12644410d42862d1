//! Limits of schemas, and of values for a schema.

use allocation_counter::measure;
use mcp_types::JsonObject;
use serde_json::{Value, json};

use super::{Cost, read};
use crate::schema::{JsonSchema, SchemaError, Validator};

pub(super) fn cost_of(schema: &Value) -> Result<Cost, SchemaError> {
    Cost::new(&read(schema.as_object().unwrap())?)
}

fn refused(schema: &Value) -> String {
    cost_of(schema).unwrap_err().to_string()
}

fn nested(depth: usize, name: &str) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!({name: inner}))
}

// spec: JSCH-05, JSCH-06
#[test]
fn external_reference_is_refused() {
    for good in [
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}),
        json!({"$ref": "#a", "$defs": {"x": {"$anchor": "a"}}}),
        json!({"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": {}}}),
        json!({"$ref": "urn:x", "$defs": {"a": {"$id": "urn:x"}}}),
        json!({"$ref": "urn:x#/$defs/b", "$defs": {"a": {"$id": "urn:x", "$defs": {"b": {}}}}}),
        json!({"properties": {"a": {"$ref": "#"}}}),
        json!({"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a"}}}),
        // Data that resembles a reference.
        json!({"const": {"$ref": "https://example.com"}, "default": {"$ref": "#/nowhere"}}),
    ] {
        cost_of(&good).unwrap_or_else(|error| panic!("{good}: {error}"));
    }
    for external in [
        "https://example.com/x.json",
        "other.json#/a",
        "file:///etc/passwd",
        "//host",
    ] {
        let schema = json!({"properties": {"a": {"$ref": external}}});
        assert!(
            refused(&schema).contains("nothing is fetched"),
            "{external}"
        );
    }
    for missing in ["#/$defs/a", "#a", "#/%ff"] {
        let schema = json!({"$ref": missing});
        assert_eq!(
            cost_of(&schema),
            Err(SchemaError::Unresolved(missing.to_owned()))
        );
    }
    // Anchors belong to their resource.
    let schema = json!({"$ref": "#/$defs/b", "$defs": {"a": {"$id": "urn:x", "$defs": {"b": {}}}}});
    assert!(refused(&schema).contains("names nothing"));
}

#[test]
fn circular_reference_without_a_step_is_refused() {
    for endless in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
    ] {
        assert!(refused(&endless).contains("without end"), "{endless}");
    }
    cost_of(&json!({"items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}})).unwrap();
}

#[test]
fn schema_beyond_a_limit_is_refused() {
    let deep = (0..70).fold(json!({}), |inner, _| json!({"items": inner}));
    assert!(refused(&deep).contains("deeper than 64"));
    let wide: Vec<_> = (0..mcp_schema::limits::NODES).map(|_| json!({})).collect();
    assert!(refused(&json!({"anyOf": wide})).contains("more than 4096"));
    let long = json!({"description": "x".repeat(300_000)});
    assert!(refused(&long).contains("bytes"));
}

// spec: JSCH-07
#[test]
fn costly_validation_is_refused_before_it_starts() {
    let tree = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
    let cost = cost_of(&tree).unwrap();
    assert!(cost.check(&nested(120, "left")).is_ok());
    let numbers: Vec<_> = (0..200_000).collect();
    assert!(
        cost_of(&json!({"items": {"type": "integer"}}))
            .unwrap()
            .check(&json!(numbers))
            .is_ok()
    );

    // Two recursive alternatives: the work doubles with each level.
    let doubling = json!({"anyOf": [
        {"properties": {"left": {"$ref": "#"}, "kind": {"const": "a"}}},
        {"properties": {"left": {"$ref": "#"}, "kind": {"const": "b"}}},
    ]});
    let cost = cost_of(&doubling).unwrap();
    assert!(cost.check(&nested(8, "left")).is_ok());
    assert!(cost.check(&nested(100, "left")).is_err());

    // The same growth without recursion.
    let mut bomb = json!({"$defs": {"a0": {}}, "$ref": "#/$defs/a30"});
    for level in 1..=30 {
        let below = json!({"$ref": format!("#/$defs/a{}", level - 1)});
        bomb["$defs"][format!("a{level}")] = json!({"allOf": [below, below]});
    }
    assert!(cost_of(&bomb).unwrap().check(&json!(1)).is_err());
}

/// Returns definitions `d0` to `dN`, each made by `part` of the reference to the next.
fn chain(length: usize, part: impl Fn(Value, usize) -> Value) -> Value {
    let reference = |level: usize| json!({"$ref": format!("#/$defs/d{level}")});
    let defs: serde_json::Map<_, _> = (0..length)
        .map(|level| (format!("d{level}"), part(reference(level + 1), level)))
        .chain([(format!("d{length}"), json!({"type": "object"}))])
        .collect();
    json!({"$ref": "#/$defs/d0", "$defs": defs})
}

/// The name of a schema that grows with a number.
type Growing = (&'static str, fn(usize) -> Value);

const SCHEMAS: &[Growing] = &[
    ("two references below unevaluatedProperties", |n| {
        chain(
            n,
            |next, _| json!({"anyOf": [next, next], "unevaluatedProperties": false}),
        )
    }),
    ("two references below unevaluatedItems", |n| {
        chain(
            n,
            |next, _| json!({"oneOf": [next, next], "unevaluatedItems": false}),
        )
    }),
    ("two references below both", |n| {
        chain(
            n,
            |next, _| json!({"allOf": [next, next], "unevaluatedItems": {}, "unevaluatedProperties": {}}),
        )
    }),
    ("conditions below unevaluatedProperties", |n| {
        chain(
            n,
            |next, _| json!({"if": next, "then": next, "else": next, "unevaluatedProperties": false}),
        )
    }),
    ("dependent schemas below unevaluatedProperties", |n| {
        chain(
            n,
            |next, _| json!({"dependentSchemas": {"a": next, "b": next}, "unevaluatedProperties": false}),
        )
    }),
    ("one keyword for all branches", |n| {
        let mut schema = chain(n, |next, _| json!({"anyOf": [next, next]}));
        schema["unevaluatedProperties"] = json!(false);
        schema
    }),
    ("a chain of references", |n| chain(n, |next, _| next)),
    ("a chain below unevaluatedProperties", |n| {
        chain(n, |mut next, _| {
            next["unevaluatedProperties"] = json!(false);
            next
        })
    }),
    ("deep steps below unevaluatedProperties", |n| {
        chain(n, |next, _| {
            let mut schema = (0..20).fold(next, |inner, _| json!({"allOf": [inner]}));
            schema["unevaluatedProperties"] = json!(false);
            schema
        })
    }),
    ("deep members between references", |n| {
        chain(n, |next, _| {
            (0..50).fold(next, |inner, _| json!({"properties": {"a": inner}}))
        })
    }),
    ("nested unevaluatedProperties", |n| {
        (0..n.min(60)).fold(
            json!({}),
            |inner, _| json!({"allOf": [inner], "unevaluatedProperties": false}),
        )
    }),
    (
        "recursion through members below unevaluatedProperties",
        |n| {
            chain(n, |next, _| {
                let member =
                    json!({"allOf": [next, {"$ref": "#"}], "unevaluatedProperties": false});
                json!({"allOf": [{"properties": {"a": member}}], "unevaluatedProperties": false})
            })
        },
    ),
    ("names in all branches", |n| {
        let names: serde_json::Map<_, _> = (0..200)
            .map(|i| (format!("name{i}"), json!(true)))
            .collect();
        chain(
            n,
            |next, _| json!({"anyOf": [next, next], "properties": names, "unevaluatedProperties": false}),
        )
    }),
    ("options in all branches", |n| {
        let options: Vec<_> = (0..200).map(|i| json!([i])).collect();
        chain(
            n,
            |next, _| json!({"anyOf": [next, {"enum": options}], "unevaluatedProperties": false}),
        )
    }),
    ("dynamic references", |n| {
        let defs: serde_json::Map<_, _> = (0..n)
            .map(|level| {
                let next = json!({"$dynamicRef": format!("#a{}", level + 1)});
                let schema = json!({
                    "$dynamicAnchor": format!("a{level}"),
                    "anyOf": [next, next],
                    "unevaluatedProperties": false,
                });
                (format!("d{level}"), schema)
            })
            .chain([("end".to_owned(), json!({"$dynamicAnchor": format!("a{n}")}))])
            .collect();
        json!({"$ref": "#/$defs/d0", "$defs": defs})
    }),
    ("spellings of a reference", |n| {
        let spelled = |i: usize| {
            let name: String = (0..8)
                .map(|bit| if i >> bit & 1 == 1 { "%61" } else { "a" })
                .collect();
            json!({"$ref": format!("#/$defs/{name}")})
        };
        let members: serde_json::Map<_, _> = (0..n.min(256))
            .map(|i| (format!("m{i}"), spelled(i)))
            .collect();
        json!({"$ref": "#/$defs/aaaaaaaa", "$defs": {"aaaaaaaa": {"properties": members}}})
    }),
    ("long name above many schemas", |n| {
        let members: serde_json::Map<_, _> = (0..4 * n)
            .map(|i| (format!("m{i}"), json!({"type": "string"})))
            .collect();
        let name = "n".repeat(150 * n);
        json!({"properties": {name: {"properties": members}}})
    }),
    ("resources", |n| {
        let defs: serde_json::Map<_, _> = (0..n)
            .flat_map(|level| ["a", "b"].map(|side| (level, side)))
            .map(|(level, side)| {
                let to = |side: &str| json!({"$ref": format!("urn:{side}{}", level + 1)});
                let schema =
                    json!({"$id": format!("urn:{side}{level}"), "anyOf": [to("a"), to("b")]});
                (format!("{side}{level}"), schema)
            })
            .chain(["a", "b"].map(|side| {
                (
                    format!("{side}{n}"),
                    json!({"$id": format!("urn:{side}{n}")}),
                )
            }))
            .collect();
        json!({"$ref": "urn:a0", "$defs": defs})
    }),
];

/// The memory of a compiled schema, and of compiling it.
const MAX_MEMORY: u64 = 64 << 20;

// spec: JSCH-07
#[test]
fn compiling_has_bounded_memory_for_all_shapes() {
    for (name, schema) in SCHEMAS {
        for n in [1, 2, 4, 8, 10, 12, 14, 18, 24, 60, 100, 900] {
            let schema = schema(n);
            let object: JsonObject = serde_json::from_value(schema).unwrap();
            let mut result = None;
            let memory = measure(|| result = Some(JsonSchema.compile(&object).map(drop)));
            let is_compiled = matches!(result, Some(Ok(())));
            if n <= 2 {
                assert!(is_compiled, "{name}, {n}: {result:?}");
            }
            let peak = memory.bytes_max;
            assert!(peak < MAX_MEMORY, "{name}, {n}: {peak} bytes");
        }
    }
}

fn repeated(count: usize, schema: &Value) -> Value {
    json!({"allOf": vec![schema; count]})
}

fn text(megabytes: usize) -> Value {
    json!("a".repeat(megabytes << 20))
}

/// A keyword whose evaluation costs more the larger its schema or its value is.
struct Row {
    name: &'static str,
    /// A schema and a value.
    make: fn(usize) -> (Value, Value),
    /// A size that is checked, and one that is refused.
    sizes: (usize, usize),
}

const KEYWORDS: &[Row] = &[
    Row {
        name: "enum of arrays",
        make: |n| {
            let options: Vec<_> = (0..n).map(|i| json!([i])).collect();
            let values: Vec<_> = (0..2 * n).map(|_| json!([-1])).collect();
            (json!({"items": {"enum": options}}), json!(values))
        },
        sizes: (200, 12_000),
    },
    Row {
        name: "enum of numbers",
        make: |n| {
            let options: Vec<_> = (0..n).map(|i| json!(i)).collect();
            (json!({"items": {"enum": options}}), json!(vec![0.5; n]))
        },
        sizes: (200, 12_000),
    },
    Row {
        name: "const of an array",
        make: |n| {
            let large: Vec<_> = (0..100).collect();
            let values = vec![&large; n];
            (json!({"items": {"const": large}}), json!(values))
        },
        sizes: (50, 5_000),
    },
    Row {
        name: "uniqueItems of arrays",
        make: |n| {
            let values: Vec<_> = (0..n).map(|i| json!([i])).collect();
            (json!({"uniqueItems": true}), json!(values))
        },
        sizes: (5_000, 30_000),
    },
    Row {
        name: "maxLength",
        make: |n| (repeated(n, &json!({"maxLength": 20_000_000})), text(2)),
        sizes: (10, 700),
    },
    Row {
        name: "minLength of a name",
        make: |n| {
            let schema = repeated(n, &json!({"propertyNames": {"minLength": 1}}));
            (schema, json!({"a".repeat(2 << 20): 1}))
        },
        sizes: (5, 300),
    },
    Row {
        name: "enum of texts",
        make: |n| {
            let long = "a".repeat(100);
            (repeated(n, &json!({"enum": [long, "b"]})), text(2))
        },
        sizes: (10, 700),
    },
    Row {
        name: "contentEncoding",
        make: |n| {
            let dialect = "http://json-schema.org/draft-07/schema#";
            let mut schema = repeated(n, &json!({"contentEncoding": "base64"}));
            schema["$schema"] = json!(dialect);
            (schema, text(2))
        },
        sizes: (2, 100),
    },
    Row {
        name: "pattern",
        make: |n| (repeated(n, &json!({"pattern": "^a+$"})), text(1)),
        sizes: (1, 100),
    },
    Row {
        name: "required",
        make: |n| {
            let names: Vec<_> = (0..n).map(|i| format!("name{i}")).collect();
            let values: Vec<_> = (0..n).map(|_| json!({})).collect();
            (json!({"items": {"required": names}}), json!(values))
        },
        sizes: (300, 10_000),
    },
    Row {
        name: "properties with a long name",
        make: |n| {
            let schema = repeated(n, &json!({"properties": {"a": true}}));
            (schema, json!({"a".repeat(2 << 20): 1}))
        },
        sizes: (5, 400),
    },
    Row {
        name: "contains",
        make: |n| {
            let schema = repeated(n, &json!({"contains": {"const": 0}}));
            (schema, json!(vec![0; 20_000]))
        },
        sizes: (10, 200),
    },
    Row {
        name: "unevaluatedProperties in unevaluatedProperties",
        make: |n| {
            let schema = (0..n).fold(
                json!({"properties": {"a": true}}),
                |inner, _| json!({"anyOf": [inner], "unevaluatedProperties": false}),
            );
            (schema, json!({"a": 1}))
        },
        sizes: (10, 30),
    },
    Row {
        name: "unevaluatedItems in unevaluatedItems",
        make: |n| {
            let schema = (0..n).fold(
                json!({"items": true}),
                |inner, _| json!({"anyOf": [inner], "unevaluatedItems": false}),
            );
            (schema, json!([1]))
        },
        sizes: (10, 30),
    },
    Row {
        name: "nested evaluations",
        make: |n| {
            let member = json!({"properties": {"a": {"$ref": "#"}}});
            let schema = (1..n).fold(member, |inner, _| json!({"allOf": [inner]}));
            (schema, nested(120, "a"))
        },
        sizes: (7, 20),
    },
];

// spec: JSCH-07
#[test]
fn cost_for_each_keyword_is_bounded() {
    for Row { name, make, sizes } in KEYWORDS {
        let check = |n: usize| {
            let (schema, value) = make(n);
            let schema: JsonObject = serde_json::from_value(schema).unwrap();
            let check = JsonSchema.compile(&schema);
            let check = check.unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut result = Ok(());
            let memory = measure(|| result = check.check(&value)).bytes_max;
            assert!(memory < MAX_MEMORY, "{name}, {n}: {memory} bytes");
            result.is_err_and(|violations| violations.is_unchecked())
        };
        assert!(!check(sizes.0), "{name}, {}: refused", sizes.0);
        assert!(check(sizes.1), "{name}, {}: not refused", sizes.1);
    }
}

#[test]
fn value_with_many_errors_needs_little_memory() {
    let values = json!(vec![1; 200_000]);
    for (schema, message) in [
        (
            json!({"items": {"type": "string"}}),
            "`[0]`: expected string, got 1",
        ),
        (
            json!({"anyOf": [{"items": {"type": "string"}}]}),
            "does not match the schema; the value is too large to say where",
        ),
    ] {
        let schema: JsonObject = serde_json::from_value(schema).unwrap();
        let check = JsonSchema.compile(&schema).unwrap();
        let mut result = Ok(());
        let memory = measure(|| result = check.check(&values)).bytes_max;
        assert!(memory < 1 << 20, "{memory} bytes");
        let violations = result.unwrap_err();
        assert!(!violations.is_unchecked());
        assert_eq!(violations.to_string(), message);
    }
    let strings = json!(vec!["x"; 200_000]);
    let schema = serde_json::from_value(json!({"items": {"type": "string"}})).unwrap();
    assert!(JsonSchema.compile(&schema).unwrap().check(&strings).is_ok());
}

#[test]
fn dynamic_references_with_many_targets_need_little_memory() {
    let anchors = (0..2_000).map(|index| (index.to_string(), json!({"$dynamicAnchor": "a"})));
    let references: Vec<_> = (0..2_000).map(|_| json!({"$dynamicRef": "#a"})).collect();
    let schema = json!({"$defs": serde_json::Map::from_iter(anchors), "prefixItems": references});
    let used = measure(|| {
        assert!(refused(&schema).contains("use fewer references"));
    });
    assert!(used.bytes_max < 8 << 20, "{}", used.bytes_max);
}
