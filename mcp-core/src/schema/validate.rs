//! The traits of schema validation, and its errors.

use std::fmt;
use std::sync::Arc;

use mcp_types::{CallToolResult, JsonObject, shorten};
use serde_json::Value;

/// A validator of JSON Schemas: `JsonSchema` (feature `json-schema`), or an implementation of your own.
pub trait Validator: fmt::Debug + Send + Sync + 'static {
    /// Compiles a schema. Does not fetch external references.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] when the schema is invalid, exceeds a limit, or has an external
    /// reference.
    // spec: JSCH-06
    fn compile(&self, schema: &JsonObject) -> Result<Arc<dyn Check>, SchemaError>;
}

/// A compiled schema.
pub trait Check: fmt::Debug + Send + Sync {
    /// Validates a value.
    ///
    /// # Errors
    ///
    /// Returns [`Violations`] when the value does not match the schema.
    fn check(&self, value: &Value) -> Result<(), Violations>;
}

/// Longest part of a schema in an error, in characters: a reference or a pattern can be as long as the schema.
const MAX_QUOTED: usize = 1024;
/// Longest reason of a validator in an error, in characters. It may quote values of the schema.
const MAX_REASON: usize = 4096;

/// A schema that a [`Validator`] refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The schema exceeds a limit: bytes, subschemas, levels, bytes of their locations, references in a row.
    #[error("{0}")]
    TooLarge(String),
    /// Compiling the schema makes too many nodes.
    #[error(
        "compiling the schema makes more than {limit} nodes: below `unevaluatedProperties` and \
         `unevaluatedItems`, each path through references makes its own; use these keywords only in \
         the outermost schema, or fewer references"
    )]
    TooManyNodes {
        /// The node limit.
        limit: usize,
    },
    /// The regular expressions in the schema are too large, alone or together.
    #[error(
        "the patterns of the schema are too large, at {:?}: compiled, one can have {limit} \
         bytes, and all can have {total}; make them smaller, for example with `maxLength` in place \
         of a repetition", shorten(.pattern, MAX_QUOTED)
    )]
    PatternsTooLarge {
        /// The pattern that exceeds a limit.
        pattern: String,
        /// The limit of one compiled pattern in bytes.
        limit: usize,
        /// The limit of all compiled patterns in bytes.
        total: usize,
    },
    /// A reference leads out of the schema. References are not fetched.
    // spec: JSCH-06
    #[error(
        "the reference {:?} leaves the schema, and nothing is fetched; put what it names into `$defs`",
        shorten(.0, MAX_QUOTED)
    )]
    External(String),
    /// A reference has no target.
    #[error("the reference {:?} names nothing in the schema; add it to `$defs`", shorten(.0, MAX_QUOTED))]
    Unresolved(String),
    /// A reference leads back to itself without a step into the value.
    #[error("the schema refers to itself without end, at {0}")]
    Endless(String),
    /// The schema is invalid in its dialect, or the dialect is unknown.
    #[error("the schema is invalid: {}", shorten(.0, MAX_REASON))]
    Invalid(String),
}

impl SchemaError {
    /// The error for a limit of reading, or for one like it.
    #[cfg(feature = "json-schema")]
    pub(crate) fn too_large(error: mcp_schema::SchemaError) -> Self {
        Self::TooLarge(error.to_string())
    }
}

/// The violations of a schema by one value: at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations {
    found: Vec<Violation>,
    is_unchecked: bool,
}

/// One violation of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The path of the value, such as `user.address[2]`. Empty for the whole value.
    pub path: String,
    /// The expected and the actual value.
    pub reason: String,
}

impl Violation {
    /// A violation at `path`.
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            reason: reason.into(),
        }
    }
}

impl Violations {
    /// The maximum number of violations that are reported: 8.
    pub const MAX: usize = 8;

    /// Collects the first [`MAX`](Self::MAX) violations. Returns `None` when there are none.
    pub fn gather(violations: impl IntoIterator<Item = Violation>) -> Option<Self> {
        let found: Vec<_> = violations.into_iter().take(Self::MAX).collect();
        (!found.is_empty()).then_some(Self {
            found,
            is_unchecked: false,
        })
    }

    /// The value was not checked: its validation exceeds the limit of the validator.
    pub fn unchecked(reason: impl Into<String>) -> Self {
        Self {
            found: vec![Violation::new("", reason)],
            is_unchecked: true,
        }
    }

    /// Returns true if the value was not checked, so that it may match its schema. Tools refuse such
    /// values; programs that report violations report "not checked".
    pub fn is_unchecked(&self) -> bool {
        self.is_unchecked
    }

    /// Iterates over the violations.
    pub fn iter(&self) -> impl Iterator<Item = &Violation> {
        self.found.iter()
    }
}

impl From<Violation> for Violations {
    fn from(only: Violation) -> Self {
        Self {
            found: vec![only],
            is_unchecked: false,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => f.write_str(&self.reason),
            path => write!(f, "`{path}`: {}", self.reason),
        }
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.found.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{violation}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Violations {}

/// Validates the structured content of a tool result against the output schema. Results that report
/// an error need no structured content.
///
/// # Errors
///
/// Returns a description of the violations, or of the missing content.
// spec: TOOL-16, TOOL-17
pub fn check_result(check: &dyn Check, result: &CallToolResult) -> Result<(), String> {
    if result.is_error() {
        return Ok(());
    }
    let Some(content) = &result.structured_content else {
        return Err("there is no structured content".to_owned());
    };
    let value: Value = serde_json::from_str(content.get()).map_err(|error| error.to_string())?;
    check
        .check(&value)
        .map_err(|violations| violations.to_string())
}

/// Returns a short form of a value for error messages.
pub fn summarize(value: &Value) -> String {
    match value {
        Value::Array(elements) => format!("an array of {}", elements.len()),
        Value::Object(_) => "an object".to_owned(),
        other => shorten(&other.to_string(), 64).into_owned(),
    }
}

/// Appends a property to a path.
pub fn property_path(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}
