//! The steps of a walk that follows references.

use mcp_types::JsonObject;

use super::check_bytes;
use super::compilation::{BYTES_PER_NODE, MAX_NESTED, MAX_NODES};
use super::size::keyword_bytes;
use crate::schema::SchemaError;

/// Counts the steps of a walk that follows a foreign schema's references, within the limits for compiling a schema.
///
/// # Examples
///
/// ```
/// use mcp::schema::{SchemaError, Steps, target};
/// use mcp::types::JsonObject;
/// use serde_json::{Value, json};
///
/// let schema = json!({"$ref": "#/$defs/loop", "$defs": {"loop": {"$ref": "#/$defs/loop"}}});
/// let root: JsonObject = serde_json::from_value(schema)?;
/// let mut steps = Steps::new(&root, 1_000)?;
/// let (mut schema, mut nested) = (&root, 0);
/// let error = loop {
///     if let Err(error) = steps.visit(schema, nested) {
///         break error;
///     }
///     let reference = schema["$ref"].as_str().unwrap();
///     (schema, nested) = (target(&root, reference).unwrap(), nested + 1);
/// };
/// assert!(matches!(error, SchemaError::TooManySteps { limit: 128, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Steps {
    max: usize,
    left: usize,
}

impl Steps {
    /// Starts a walk with at most `max` steps.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError::TooLarge`] if the schema has more than 256 KiB.
    pub fn new(schema: &JsonObject, max: usize) -> Result<Self, SchemaError> {
        check_bytes(schema)?;
        let max = max.min(MAX_NODES);
        Ok(Self { max, left: max })
    }

    /// Returns the number of steps so far.
    pub fn taken(&self) -> usize {
        self.max - self.left
    }

    /// Counts a visit of a schema on a path with `nested` schemas: one step, and one more for each 256 bytes of
    /// keywords.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError::TooManySteps`] if the path has more than 128 schemas, and
    /// [`SchemaError::TooManySchemas`] if the walk takes more than 10,000 steps, or the given maximum.
    pub fn visit(&mut self, schema: &JsonObject, nested: usize) -> Result<(), SchemaError> {
        if nested > MAX_NESTED {
            let reference = schema.get("$ref").and_then(|reference| reference.as_str());
            return Err(SchemaError::TooManySteps {
                location: reference.unwrap_or("#").to_owned(),
                limit: MAX_NESTED,
            });
        }
        let steps = 1 + keyword_bytes(schema) / BYTES_PER_NODE;
        let limit = self.max;
        let left = self.left.checked_sub(steps);
        self.left = left.unwrap_or_default();
        left.map(|_| ())
            .ok_or(SchemaError::TooManySchemas { limit })
    }
}
