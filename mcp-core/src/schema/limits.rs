//! Limits for schemas and for the validation work, computed before it starts.
//!
//! Untrusted schemas have four risks: external references, circular references, subschemas that
//! evaluate the same value exponentially often, and keywords that are compiled or evaluated at a high
//! cost. All follow from the schema alone: it is a graph, and the number of paths through it bounds a
//! value's evaluations.
//!
//! ```text
//! schema ── mcp_schema: bytes, subschemas ── identifiers: references have one meaning
//!                                              ├── graph: levels, references in a row, circles, roles of subschemas
//!                                              ├── compilation: nodes that compiling makes
//!                                              ├── work: evaluations of each subschema, by the value's depth
//! value ──── size: values, bytes ──────────────┴──► units of work, compared with the limit
//! ```

mod compilation;
mod graph;
mod identifiers;
mod size;
#[cfg(test)]
mod tests;
mod work;

use mcp_schema::Schema;
use mcp_types::JsonObject;
use serde_json::Value;

use self::size::Size;
use self::work::Work;
use super::patterns::Patterns;
use super::{SchemaError, Violations};

/// The work per value, by the value's depth, and the patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cost {
    works: Vec<Work>,
    pub(crate) patterns: Patterns,
}

/// Reads a schema.
///
/// # Errors
///
/// Returns [`SchemaError`] when it exceeds a limit for reading.
// spec: JSCH-07
pub(crate) fn read(schema: &JsonObject) -> Result<Schema<'_>, SchemaError> {
    Schema::parse(schema).map_err(SchemaError::too_large)
}

impl Cost {
    /// Computes the cost of a schema.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] when the schema or a pattern exceeds a limit, and when a reference or a pattern
    /// cannot be used.
    // spec: JSCH-05, JSCH-06, JSCH-07
    pub(crate) fn new(schema: &Schema<'_>) -> Result<Self, SchemaError> {
        identifiers::check(schema)?;
        let nodes = graph::nodes(schema)?;
        let order = graph::order(&nodes)?;
        compilation::check(&nodes)?;
        let works = work::per_value(&nodes, &order);
        let patterns = Patterns::new(schema)?;
        Ok(Self { works, patterns })
    }

    /// Returns the units of work for a value.
    ///
    /// # Errors
    ///
    /// Returns unchecked [`Violations`] when the work exceeds a limit.
    // spec: JSCH-07
    pub(crate) fn check(&self, value: &Value) -> Result<u64, Violations> {
        let size = Size::of(value);
        let work = self.works.get(size.depth).or(self.works.last());
        let units = work.and_then(|work| {
            let bytes = (size.string_bytes + size.key_bytes).saturating_mul(work.matches);
            work.units(size).filter(|_| self.patterns.allow(bytes))
        });
        let refused = "the value is too large or too deep to be checked; send less";
        units.ok_or_else(|| Violations::unchecked(refused))
    }
}
