//! What a server checks beyond what types say.

use std::sync::Arc;

use mcp_core::schema::Validator;

/// How a server checks, beyond what types say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checking {
    /// Strings are read as what the schema asks for.
    pub(crate) lenient: bool,
    pub(crate) validator: Option<Arc<dyn Validator>>,
}
