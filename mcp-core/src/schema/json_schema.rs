//! All of JSON Schema, by the `jsonschema` crate, within limits.

use std::sync::Arc;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use mcp_schema::Keywords as _;
use mcp_types::{JsonObject, shorten};
use serde_json::Value;

use super::limits::{Cost, read};
use super::validate::{property_path, summarize};
use super::{Check, SchemaError, Validator, Violation, Violations};

/// A validator for all of JSON Schema: 2020-12 (the default), 2019-09, draft-07, draft-06 and draft-04.
///
/// References are resolved within a schema only. In a schema with references, an `$id` below the root
/// is an absolute URI in `$defs`, and no `$id` and no `$anchor` comes twice. Limits: 256 KiB, 4096
/// subschemas, 64 levels, 64 references in a row and 10,000 compiled nodes per schema, 1 MiB per
/// compiled pattern and 4 MiB for all of them, 5,000,000 units of work per validation; all are computed
/// before the work starts. A unit is the evaluation of a subschema, or what costs as much: 8
/// comparisons with options of an `enum`, 256 bytes that `maxLength` reads. `format` is an annotation
/// in all dialects, as 2020-12 specifies.
///
/// Patterns are matched in linear time. Those with look-around or back-references need backtracking and
/// are refused with [`SchemaError::Invalid`].
///
/// # Examples
///
/// ```
/// use mcp::schema::{JsonSchema, Validator};
/// use serde_json::json;
///
/// let schema = serde_json::from_value(json!({
///     "type": "object",
///     "properties": {"phone": {"type": "string"}, "email": {"type": "string"}},
///     "anyOf": [{"required": ["phone"]}, {"required": ["email"]}],
/// }))?;
/// let check = JsonSchema.compile(&schema)?;
/// assert!(check.check(&json!({"phone": "1"})).is_ok());
/// let violations = check.check(&json!({"phone": 1})).unwrap_err();
/// assert_eq!(violations.to_string(), "`phone`: expected string, got 1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
// spec: JSCH-03
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a unit struct is constructed by its name"
)]
pub struct JsonSchema;

impl Validator for JsonSchema {
    // spec: JSCH-02, JSCH-06, JSCH-07
    fn compile(&self, schema: &JsonObject) -> Result<Arc<dyn Check>, SchemaError> {
        let parsed = read(schema)?;
        let cost = Cost::new(&parsed)?;
        let schema = Value::Object(schema.clone());
        // spec: JSCH-01
        let validator = jsonschema::options()
            .with_pattern_options(cost.patterns.options())
            // An annotation in all drafts: draft-07 and older ones would parse each string.
            .should_validate_formats(false)
            .offline()
            .build(&schema)
            .map_err(|error| SchemaError::Invalid(error.to_string()))?;
        let has_alternatives = parsed.nodes().any(|node| !node.alternatives().is_empty());
        Ok(Arc::new(Compiled {
            validator,
            cost,
            has_alternatives,
        }))
    }
}

#[derive(Debug)]
struct Compiled {
    validator: jsonschema::Validator,
    cost: Cost,
    /// The schema has `anyOf` or `oneOf`, whose error contains all errors of all alternatives.
    has_alternatives: bool,
}

/// The maximum work of a validation that lists all errors, in units. An error takes about 500 bytes, a
/// unit can have 8 of them (names in `required`), and the engine collects all.
const MAX_LISTING_WORK: u64 = 10_000;

impl Check for Compiled {
    fn check(&self, value: &Value) -> Result<(), Violations> {
        let found = if self.cost.check(value)? <= MAX_LISTING_WORK {
            Violations::gather(
                self.validator
                    .iter_errors(value)
                    .map(|error| violation(&error)),
            )
        } else if !self.has_alternatives {
            let error = self.validator.validate(value).err();
            error.map(|error| violation(&error).into())
        } else if self.validator.is_valid(value) {
            None
        } else {
            let reason = "does not match the schema; the value is too large to say where";
            Some(Violation::new("", reason).into())
        };
        found.map_or(Ok(()), Err)
    }
}

fn violation(error: &ValidationError<'_>) -> Violation {
    let location: &Location = error.instance_path();
    let segments = location.into_iter();
    let path = segments.fold(String::new(), |path, segment| match segment {
        LocationSegment::Property(name) => property_path(&path, &name),
        LocationSegment::Index(index) => format!("{path}[{index}]"),
    });
    Violation::new(cut(&path), reason(error))
}

/// Describes the expected and the actual value.
fn reason(error: &ValidationError<'_>) -> String {
    let expected = match error.kind() {
        ValidationErrorKind::Required { property } => {
            return format!("missing `{}`", property.as_str().unwrap_or_default());
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let names = unexpected.iter().map(|name| format!("`{}`", cut(name)));
            return format!("unknown {}", list(names));
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            // Alternatives that all fail, by the first error of each.
            let first = context.iter().filter_map(|errors| errors.first());
            let reasons = first.map(|error| format!("({})", violation(error)));
            return cut(&format!("fits none of the alternatives: {}", list(reasons)));
        }
        ValidationErrorKind::Type { kind } => match kind {
            TypeKind::Single(kind) => kind.to_string(),
            TypeKind::Multiple(kinds) => {
                let kinds: Vec<_> = kinds.iter().map(|kind| kind.to_string()).collect();
                kinds.join(" or ")
            }
        },
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().into_iter().flatten();
            format!("one of {}", list(options.map(summarize)))
        }
        ValidationErrorKind::Constant { expected_value } => summarize(expected_value),
        ValidationErrorKind::Pattern { pattern } => format!("text that matches `{}`", cut(pattern)),
        // These messages contain the value, which may be long.
        _ => return cut(&error.to_string()),
    };
    format!("expected {expected}, got {}", summarize(error.instance()))
}

/// The maximum length of a list in an error message.
const MAX_LISTED: usize = 8;

fn list(mut items: impl Iterator<Item = String>) -> String {
    let mut listed: Vec<_> = items.by_ref().take(MAX_LISTED).collect();
    if items.next().is_some() {
        listed.push("…".to_owned());
    }
    listed.join(", ")
}

/// Truncates a text that may contain untrusted input.
fn cut(text: &str) -> String {
    shorten(text, 240).into_owned()
}

#[cfg(test)]
mod tests {
    //! Violations of schemas, as messages.

    use serde_json::{Value, json};

    use super::super::{SchemaError, Validator, Violations};
    use super::JsonSchema;

    fn check(schema: Value, value: &Value) -> Result<(), String> {
        let violations = violations(schema, value);
        violations.map_err(|violations| violations.to_string())
    }

    fn violations(schema: Value, value: &Value) -> Result<(), Violations> {
        let schema = serde_json::from_value(schema).unwrap();
        JsonSchema.compile(&schema).unwrap().check(value)
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
        let refused = violations(doubling.clone(), &value).unwrap_err();
        assert!(refused.to_string().contains("too deep"), "{refused}");
        assert!(refused.is_unchecked());
        let wrong = violations(doubling, &json!({})).unwrap_err();
        assert!(!wrong.is_unchecked());
    }

    #[test]
    fn pattern_that_needs_backtracking_is_refused() {
        for pattern in ["^(?=(a+)+$)b", "(?<!x)y", r"^(a+)\1$"] {
            for schema in [
                json!({"pattern": pattern}),
                json!({"patternProperties": {pattern: {}}}),
                json!({"$defs": {"a": {"pattern": pattern}}}),
                json!({"$ref": "#/data/0", "data": [{"pattern": pattern}]}),
            ] {
                let error = compile(schema.clone()).expect_err(&schema.to_string());
                let text = error.to_string();
                assert!(text.contains("look-around"), "{text}");
                assert!(text.contains(&format!("{pattern:?}")), "{text}");
            }
        }
        let linear = json!({"pattern": "^(a+)+$"});
        assert!(check(linear, &json!("a".repeat(100_000) + "b")).is_err());
    }

    #[test]
    fn patterns_are_limited_in_total() {
        let large = |index: usize| format!("^[a-z]{{{}}}$", 10_000 + index);
        let schema = |count: usize| {
            let alternatives: Vec<_> = (0..count)
                .map(|index| json!({"pattern": large(index)}))
                .collect();
            json!({"anyOf": alternatives})
        };
        assert_eq!(compile(schema(1)), Ok(()));
        let error = compile(schema(100)).unwrap_err();
        assert!(
            matches!(error, SchemaError::PatternsTooLarge { .. }),
            "{error}"
        );
        let alone = compile(json!({"pattern": "^[a-z]{20000}$"})).unwrap_err();
        assert!(
            matches!(alone, SchemaError::PatternsTooLarge { .. }),
            "{alone}"
        );
        let keys: serde_json::Map<_, _> =
            (0..100).map(|number| (large(number), json!({}))).collect();
        assert!(compile(json!({"patternProperties": keys})).is_err());
        // Small patterns are many.
        let small: Vec<_> = (0..500)
            .map(|number| json!({"pattern": format!("^a{number}$")}))
            .collect();
        assert_eq!(compile(json!({"anyOf": small})), Ok(()));
        // A member that only has the name of a keyword.
        assert_eq!(
            compile(json!({"properties": {"pattern": {"const": "("}}})),
            Ok(())
        );
        assert_eq!(compile(json!({"const": {"pattern": "("}})), Ok(()));
    }

    #[test]
    fn long_string_for_a_large_pattern_is_a_violation() {
        let schema = json!({"pattern": "^([a-z]|[a-f]x){1000}$"});
        let text = check(schema.clone(), &json!("a".repeat(1_000_000))).unwrap_err();
        assert!(text.contains("too large"), "{text}");
        assert_eq!(check(schema, &json!("a".repeat(1_000))), Ok(()));
        let simple = json!({"pattern": "^[a-z]+$"});
        assert_eq!(check(simple, &json!("a".repeat(1_000_000))), Ok(()));
    }
}
