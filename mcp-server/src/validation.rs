//! Settings for the validation of arguments and results by JSON Schema.

use std::sync::Arc;

use mcp_core::schema::Validator;

/// Validation settings, in addition to decoding arguments into Rust types.
#[derive(Debug, Clone, Default)]
pub(crate) struct Validation {
    /// Strings are converted to the type that the schema asks for, such as `"5"` to `5`.
    pub(crate) lenient: bool,
    /// Validator for whole JSON Schemas (`Server::validate_with`).
    pub(crate) validator: Option<Arc<dyn Validator>>,
}
