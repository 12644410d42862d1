//! JSON Schema in full, by the `jsonschema` crate, within limits.

use std::sync::Arc;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{PatternOptions, ValidationError};
use mcp_types::JsonObject;
use serde_json::Value;

use super::limits::Cost;
use super::validate::{property_path, summarize};
use super::{Check, SchemaError, Validator, Violation, Violations};

/// Checks values by all of JSON Schema: 2020-12 (also for schemas that name no dialect), 2019-09,
/// draft-07, draft-06 and draft-04.
///
/// References are followed within a schema and never beyond it. A schema may have 256 KiB, 4096
/// parts, 64 levels; a value may be looked at 5,000,000 times, and both is known before a check
/// starts. `format` is no assertion, as 2020-12 has it.
///
/// # Examples
///
/// ```
/// use mcp_core::schema::{JsonSchema, Validator};
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
// spec: JSCH-01, JSCH-03
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "its name is its value")]
pub struct JsonSchema;

/// So far may a pattern that is no regular expression in the strict sense go back.
const BACKTRACK_LIMIT: usize = 100_000;
/// The largest compiled pattern, in bytes.
const PATTERN_SIZE: usize = 1 << 20;

impl Validator for JsonSchema {
    // spec: JSCH-02, JSCH-05, JSCH-06, JSCH-07
    fn compile(&self, schema: &JsonObject) -> Result<Arc<dyn Check>, SchemaError> {
        let schema = Value::Object(schema.clone());
        let cost = Cost::of(&schema)?;
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(BACKTRACK_LIMIT)
            .size_limit(PATTERN_SIZE);
        let validator = jsonschema::options()
            .with_pattern_options(patterns)
            .offline()
            .build(&schema)
            .map_err(|error| SchemaError::Invalid(error.to_string()))?;
        Ok(Arc::new(Compiled { validator, cost }))
    }
}

#[derive(Debug)]
struct Compiled {
    validator: jsonschema::Validator,
    cost: Cost,
}

impl Check for Compiled {
    fn check(&self, value: &Value) -> Result<(), Violations> {
        let admitted = self.cost.admit(value);
        admitted.map_err(|error| Violations::from(Violation::new("", error.to_string())))?;
        let errors = self.validator.iter_errors(value);
        let violations = errors.map(|error| Violation::new(path(&error), reason(&error)));
        match Violations::gather(violations) {
            Some(violations) => Err(violations),
            None => Ok(()),
        }
    }
}

fn path(error: &ValidationError<'_>) -> String {
    let location: &Location = error.instance_path();
    let path = location
        .into_iter()
        .fold(String::new(), |path, segment| match segment {
            LocationSegment::Property(name) => property_path(&path, &name),
            LocationSegment::Index(index) => format!("{path}[{index}]"),
        });
    cut(&path)
}

/// What is expected, and what is there.
fn reason(error: &ValidationError<'_>) -> String {
    let got = || summarize(error.instance());
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            format!("missing `{}`", property.as_str().unwrap_or_default())
        }
        ValidationErrorKind::Type { kind } => {
            let kinds: Vec<_> = match kind {
                TypeKind::Single(kind) => vec![kind.to_string()],
                TypeKind::Multiple(kinds) => kinds.iter().map(|kind| kind.to_string()).collect(),
            };
            format!("expected {}, got {}", kinds.join(" or "), got())
        }
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().map_or(&[][..], Vec::as_slice);
            format!(
                "expected one of {}, got {}",
                list(options.iter().map(summarize)),
                got()
            )
        }
        ValidationErrorKind::Constant { expected_value } => {
            format!("expected {}, got {}", summarize(expected_value), got())
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let names = unexpected.iter().map(|name| format!("`{}`", cut(name)));
            format!("unknown {}", list(names))
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            alternatives(context)
        }
        ValidationErrorKind::Pattern { pattern } => {
            format!(
                "expected text that matches `{}`, got {}",
                cut(pattern),
                got()
            )
        }
        // These texts name the limit and show the value, which may be long.
        _ => cut(&error.to_string()),
    }
}

/// Why none of the alternatives fits, by the first reason of each.
fn alternatives(context: &[Vec<ValidationError<'static>>]) -> String {
    let reasons = context.iter().filter_map(|errors| {
        let error = errors.first()?;
        let violation = Violation::new(path(error), reason(error));
        Some(format!("({violation})"))
    });
    cut(&format!("fits none of the alternatives: {}", list(reasons)))
}

/// So many things are listed.
const LISTED: usize = 8;

fn list(mut items: impl Iterator<Item = String>) -> String {
    let mut listed: Vec<_> = items.by_ref().take(LISTED).collect();
    if items.next().is_some() {
        listed.push("…".to_owned());
    }
    listed.join(", ")
}

/// A text that may hold what a stranger wrote, short.
fn cut(text: &str) -> String {
    const MOST: usize = 240;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
