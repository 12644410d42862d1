//! JSON Schemas of tools: value validation, lints, and arguments that are mirrored in headers.
//!
//! | topic | items |
//! |---|---|
//! | tools that clients drop | [`lint()`], [`Lint`], [`LintProfile`], [`Severity`] |
//! | validation | [`Validator`], [`Check`], [`Violations`] |
//! | all of JSON Schema 2020-12 (feature `json-schema`) | `JsonSchema` |
//! | schemas that are refused | [`SchemaError`] |
//! | arguments in headers | [`ParamHeaders`](crate::ParamHeaders) |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/index#json-schema-usage>

#[cfg(feature = "json-schema")]
mod json_schema;
#[cfg(feature = "json-schema")]
mod limits;
mod lint;
pub(crate) mod param_headers;
#[cfg(feature = "json-schema")]
mod patterns;
mod validate;

#[cfg(feature = "json-schema")]
pub use json_schema::JsonSchema;
pub use lint::{Lint, LintProfile, Severity, lint};
pub use validate::{
    Check, SchemaError, Validator, Violation, Violations, check_result, property_path, summarize,
};
