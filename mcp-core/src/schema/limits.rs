//! Limits for schemas and for the validation work, computed before it starts.
//!
//! Untrusted schemas have four risks: external references, circular references, subschemas that
//! evaluate the same value exponentially often, and keywords that are compiled or evaluated at a high
//! cost. All follow from the schema alone: it is a graph, and the number of paths through it bounds a
//! value's evaluations.
//!
//! | limit | module |
//! |---|---|
//! | subschemas, levels, references in a row | `graph` |
//! | nodes that compiling makes | `compilation` |
//! | work and stack of a validation | `work`, with the size of the value from `size` |

mod compilation;
mod graph;
mod size;
#[cfg(test)]
mod tests;
mod work;

use mcp_schema::{Limit, Schema};
use mcp_types::JsonObject;
use serde_json::Value;

use self::graph::Graph;
use self::size::Size;
use self::work::{MAX_NESTED, MAX_WORK, Work};
use super::SchemaError;

/// Bytes of strings that a keyword such as `maxLength` reads in one unit of work.
const BYTES_PER_UNIT: u64 = 256;

/// The work per value, by the value's depth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cost(Vec<Work>);

/// A value that is too large or too deep for its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value is too large or too deep to be checked; send less")]
pub(crate) struct TooMuchWork;

/// Reads a schema.
///
/// # Errors
///
/// Returns [`SchemaError`] when it exceeds a limit for reading.
// spec: JSCH-07
pub(crate) fn read(schema: &JsonObject) -> Result<Schema<'_>, SchemaError> {
    Schema::parse(schema).map_err(|error| {
        let location = format!("#{}", error.location);
        match error.limit {
            Limit::Bytes(limit) => {
                let bytes = serde_json::to_vec(schema).map_or(limit, |text| text.len());
                SchemaError::TooLarge { bytes, limit }
            }
            Limit::Nodes(limit) => SchemaError::TooManySchemas { limit },
            Limit::Depth(limit) => SchemaError::TooDeep { location, limit },
            Limit::Locations(limit) => SchemaError::NamesTooLong { limit },
            Limit::References(limit) => SchemaError::TooManySteps { location, limit },
            _ => SchemaError::Invalid(error.to_string()),
        }
    })
}

impl Cost {
    /// Computes the cost of a schema.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] when the schema exceeds a limit, or when a reference cannot be
    /// resolved.
    // spec: JSCH-05, JSCH-06, JSCH-07
    pub(crate) fn new(schema: &Schema<'_>) -> Result<Self, SchemaError> {
        let graph = Graph::new(schema)?;
        let order = graph.order()?;
        compilation::check(&graph)?;
        Ok(Self(work::per_value(&graph, &order)))
    }

    /// Checks that the validation of a value stays within the limits.
    ///
    /// # Errors
    ///
    /// Returns [`TooMuchWork`] when it does not.
    // spec: JSCH-07
    pub(crate) fn check(&self, value: &Value) -> Result<Affordable, TooMuchWork> {
        let size = Size::of(value);
        let index = size.depth.min(self.0.len().saturating_sub(1));
        let each = self.0.get(index).ok_or(TooMuchWork)?;
        let reads = size.string_bytes.saturating_mul(each.reads);
        let key_reads = each.evaluations.saturating_add(each.reads);
        let reads = reads.saturating_add(size.key_bytes.saturating_mul(key_reads));
        let units = (size.values.saturating_mul(each.evaluations))
            .saturating_add(reads / BYTES_PER_UNIT)
            .saturating_add(size.unique.saturating_mul(each.unique));
        if units > MAX_WORK || each.nested > MAX_NESTED {
            return Err(TooMuchWork);
        }
        Ok(Affordable {
            units,
            matched_bytes: (size.string_bytes + size.key_bytes).saturating_mul(each.matches),
        })
    }
}

/// The work of a validation that is within the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Affordable {
    /// The maximum number of units.
    pub(crate) units: u64,
    /// The maximum number of bytes that patterns read.
    pub(crate) matched_bytes: u64,
}
