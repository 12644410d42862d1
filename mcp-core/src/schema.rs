//! JSON Schemas of tools: what clients make of them, and how values are checked by them.
//!
//! | you look for | it is in |
//! |---|---|
//! | which client drops a tool, and why | [`lint`], [`Lint`] |
//! | a check by a whole schema | [`Validator`], [`Check`], [`Violations`] |
//! | JSON Schema 2020-12 in full (feature `json-schema`) | `JsonSchema` |
//! | which schemas are refused | [`SchemaError`] |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#json-schema-usage>

#[cfg(feature = "json-schema")]
mod json_schema;
#[cfg(feature = "json-schema")]
mod limits;
mod lint;
mod validate;
mod walk;

#[cfg(feature = "json-schema")]
pub use json_schema::JsonSchema;
pub use lint::{Lint, Severity, lint};
pub use validate::{
    Check, SchemaError, Validator, Violation, Violations, check_result, property_path, summarize,
};
pub(crate) use walk::{Subschema, subschemas};
