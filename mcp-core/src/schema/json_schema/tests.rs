//! Violations of schemas, as messages.

use serde_json::{Value, json};

use super::super::{SchemaError, Validator};
use super::JsonSchema;

fn check(schema: Value, value: &Value) -> Result<(), String> {
    let schema = serde_json::from_value(schema).unwrap();
    let check = JsonSchema.compile(&schema).unwrap();
    check
        .check(value)
        .map_err(|violations| violations.to_string())
}

fn compile(schema: Value) -> Result<(), SchemaError> {
    let schema = serde_json::from_value(schema).unwrap();
    JsonSchema.compile(&schema).map(drop)
}

#[test]
fn violation_says_expected_and_actual_value() {
    let schema = json!({
        "type": "object",
        "properties": {
            "user": {"type": "object", "properties": {"age": {"type": "integer", "maximum": 150}}},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": true},
            "id": {"type": ["string", "null"], "pattern": "^x"},
            "how": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["by"]}]},
            "one": {"const": 1},
        },
        "required": ["user"],
        "additionalProperties": false,
    });
    for (value, expected) in [
        (json!({"user": {}, "how": "x", "one": 1, "id": null}), ""),
        (json!([]), "expected object, got an array of 0"),
        (json!({}), "missing `user`"),
        (
            json!({"user": {"age": "5"}}),
            "`user.age`: expected integer, got \"5\"",
        ),
        (
            json!({"user": {"age": 200}}),
            "`user.age`: 200 is greater than the maximum of 150",
        ),
        (
            json!({"user": {}, "tags": ["a", "c"]}),
            "`tags[1]`: expected one of \"a\", \"b\", got \"c\"",
        ),
        (
            json!({"user": {}, "id": "y"}),
            "`id`: expected text that matches `^x`, got \"y\"",
        ),
        (json!({"user": {}, "one": 2}), "`one`: expected 1, got 2"),
        (json!({"user": {}, "x": 1, "y": 2}), "unknown `x`, `y`"),
        (
            json!({"user": {}, "how": {}}),
            "`how`: fits none of the alternatives: (`how`: expected string, got an object), (`how`: missing `by`)",
        ),
        (
            json!({"user": 1, "id": 2}),
            "`user`: expected object, got 1; `id`: expected null or string, got 2",
        ),
    ] {
        let result = check(schema.clone(), &value).err().unwrap_or_default();
        let (mut parts, mut expected): (Vec<_>, Vec<_>) =
            (result.split("; ").collect(), expected.split("; ").collect());
        parts.sort_unstable();
        expected.sort_unstable();
        assert_eq!(parts, expected, "{value}");
    }
}

#[test]
fn long_violation_is_truncated() {
    let long = "x".repeat(100_000);
    for schema in [
        json!({"type": "integer"}),
        json!({"maxLength": 1}),
        json!({"enum": [1]}),
    ] {
        let text = check(schema, &json!(long)).unwrap_err();
        assert!(text.len() < 400, "{}", text.len());
    }
    let named = json!({"additionalProperties": {"type": "integer"}});
    let text = check(named, &json!({long.clone(): "x"})).unwrap_err();
    assert!(text.len() < 400, "{}", text.len());
    let text = check(json!({"additionalProperties": false}), &json!({long: "x"})).unwrap_err();
    assert!(text.len() < 400, "{}", text.len());
    let many: Vec<_> = (0..1000).map(|_| "x").collect();
    let text = check(json!({"items": {"type": "integer"}}), &json!(many)).unwrap_err();
    assert_eq!(text.matches("expected integer").count(), 8);
}

// spec: JSCH-01, JSCH-02, JSCH-04, JSCH-05
#[test]
fn all_dialects_are_supported() {
    // A keyword of 2020-12 applies by default, and not in draft-07.
    let prefix = json!({"prefixItems": [{"type": "string"}]});
    assert!(check(prefix.clone(), &json!([1])).is_err());
    let mut old = prefix;
    old["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    assert_eq!(check(old, &json!([1])), Ok(()));
    for invalid in [
        json!({"$schema": "https://example.com/my-dialect"}),
        json!({"type": "strnig"}),
        json!({"required": null}),
        json!({"pattern": "("}),
    ] {
        assert!(
            matches!(compile(invalid.clone()), Err(SchemaError::Invalid(_))),
            "{invalid}"
        );
    }
    let external = compile(json!({"properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}));
    assert!(
        matches!(external, Err(SchemaError::External(_))),
        "{external:?}"
    );
}

// spec: JSCH-07
#[test]
fn costly_value_is_a_violation() {
    let doubling = json!({"anyOf": [
        {"properties": {"a": {"$ref": "#"}, "b": {"const": 1}}, "required": ["b"]},
        {"properties": {"a": {"$ref": "#"}, "c": {"const": 2}}, "required": ["c"]},
    ]});
    let value = (0..100).fold(json!({}), |inner, _| json!({"a": inner}));
    let text = check(doubling, &value).unwrap_err();
    assert!(text.contains("too deep"), "{text}");
    let catastrophic = json!({"pattern": "^(?=(a+)+$)b"});
    assert!(check(catastrophic, &json!("a".repeat(5_000))).is_err());
}
