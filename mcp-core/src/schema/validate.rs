//! Checking values by whole schemas. Who does it is a value that programs give or leave out.

use std::fmt;
use std::sync::Arc;

use mcp_types::{CallToolResult, JsonObject};
use serde_json::Value;

/// Checks values by JSON Schemas: `JsonSchema` (feature `json-schema`), or one of your own.
pub trait Validator: fmt::Debug + Send + Sync + 'static {
    /// Makes a check of a schema, once. Nothing is fetched.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] when the schema is invalid or too costly, or refers to something elsewhere.
    // spec: JSCH-02, JSCH-05, JSCH-06
    fn compile(&self, schema: &JsonObject) -> Result<Arc<dyn Check>, SchemaError>;
}

/// The check of one schema.
pub trait Check: fmt::Debug + Send + Sync {
    /// Checks a value.
    ///
    /// # Errors
    ///
    /// [`Violations`], several at once.
    fn check(&self, value: &Value) -> Result<(), Violations>;
}

/// A schema that no value is checked by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Its text is too long.
    #[error("the schema has {bytes} bytes, and at most {limit} are taken; make it smaller")]
    TooLarge {
        /// The length of its text.
        bytes: usize,
        /// The longest that is taken.
        limit: usize,
    },
    /// Its parts lie too deep in each other.
    #[error(
        "the schema is deeper than {limit} levels, at {location}; make it flatter with `$defs`"
    )]
    TooDeep {
        /// Where: a JSON Pointer.
        location: String,
        /// The deepest that is taken.
        limit: usize,
    },
    /// It has too many parts.
    #[error("the schema is made of more than {limit} schemas; make it smaller")]
    TooManySchemas {
        /// The most that are taken.
        limit: usize,
    },
    /// A reference leaves the schema. None is ever fetched.
    // spec: JSCH-05, JSCH-06
    #[error(
        "the reference {0:?} leaves the schema, and nothing is fetched; put what it names into `$defs`"
    )]
    External(String),
    /// A reference names nothing.
    #[error("the reference {0:?} names nothing in the schema; add it to `$defs`")]
    Unresolved(String),
    /// A reference leads back to itself without a step into the value.
    #[error("the schema refers to itself without end, at {0}")]
    Endless(String),
    /// It is no valid schema of its dialect, or its dialect is unknown.
    // spec: JSCH-02, JSCH-04
    #[error("the schema is invalid: {0}")]
    Invalid(String),
}

/// What is wrong with a value, and where: at least one thing, several as far as they say something
/// new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations(Vec<Violation>);

/// One thing that is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Where: a path such as `user.address[2]`; empty for the whole.
    pub path: String,
    /// What is expected, and what is there.
    pub reason: String,
}

impl Violation {
    /// Something is wrong at `path`.
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            reason: reason.into(),
        }
    }
}

impl Violations {
    /// So many are told at once.
    pub const MAX: usize = 8;

    /// The first [`MAX`](Self::MAX) of them; `None` when there are none.
    pub fn gather(violations: impl IntoIterator<Item = Violation>) -> Option<Self> {
        let found: Vec<_> = violations.into_iter().take(Self::MAX).collect();
        (!found.is_empty()).then_some(Self(found))
    }

    /// One by one.
    pub fn iter(&self) -> impl Iterator<Item = &Violation> {
        self.0.iter()
    }
}

impl From<Violation> for Violations {
    fn from(only: Violation) -> Self {
        Self(vec![only])
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
        for (index, violation) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{violation}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Violations {}

/// Compares the result of a tool with its output schema. Failures need no structured content.
///
/// # Errors
///
/// What does not fit.
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

/// A value as a message shows it: short.
pub fn summarize(value: &Value) -> String {
    const MAX: usize = 64;
    let text = match value {
        Value::Array(elements) => return format!("an array of {}", elements.len()),
        Value::Object(_) => return "an object".to_owned(),
        other => other.to_string(),
    };
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Appends a member to a path.
pub fn property_path(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}
