//! Limits of schemas, and of values for a schema.

use serde_json::{Value, json};

use super::{Cost, MAX_SCHEMAS};
use crate::schema::SchemaError;

fn refused(schema: &Value) -> String {
    Cost::new(schema).unwrap_err().to_string()
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
        Cost::new(&good).unwrap_or_else(|error| panic!("{good}: {error}"));
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
            Cost::new(&schema),
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
    Cost::new(&json!({"items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}})).unwrap();
}

#[test]
fn schema_beyond_a_limit_is_refused() {
    let deep = (0..70).fold(json!({}), |inner, _| json!({"items": inner}));
    assert!(refused(&deep).contains("deeper than 64"));
    let wide: Vec<_> = (0..MAX_SCHEMAS).map(|_| json!({})).collect();
    assert!(refused(&json!({"anyOf": wide})).contains("more than 4096"));
    let long = json!({"description": "x".repeat(300_000)});
    assert!(refused(&long).contains("bytes"));
}

// spec: JSCH-07
#[test]
fn costly_validation_is_refused_before_it_starts() {
    let tree = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
    let cost = Cost::new(&tree).unwrap();
    assert!(cost.check(&nested(120, "left")).is_ok());
    let numbers: Vec<_> = (0..200_000).collect();
    assert!(
        Cost::new(&json!({"items": {"type": "integer"}}))
            .unwrap()
            .check(&json!(numbers))
            .is_ok()
    );

    // Two recursive alternatives: the work doubles with each level.
    let doubling = json!({"anyOf": [
        {"properties": {"left": {"$ref": "#"}, "kind": {"const": "a"}}},
        {"properties": {"left": {"$ref": "#"}, "kind": {"const": "b"}}},
    ]});
    let cost = Cost::new(&doubling).unwrap();
    assert!(cost.check(&nested(8, "left")).is_ok());
    assert!(cost.check(&nested(100, "left")).is_err());

    // The same growth without recursion.
    let mut bomb = json!({"$defs": {"a0": {}}, "$ref": "#/$defs/a30"});
    for level in 1..=30 {
        let below = json!({"$ref": format!("#/$defs/a{}", level - 1)});
        bomb["$defs"][format!("a{level}")] = json!({"allOf": [below, below]});
    }
    assert!(Cost::new(&bomb).unwrap().check(&json!(1)).is_err());
}
