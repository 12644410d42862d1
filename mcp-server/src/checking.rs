//! What a server checks beyond what types say.

use std::sync::Arc;

use mcp_core::schema::Validator;
use mcp_types::{JsonObject, RawObject};

/// Gives the arguments as a schema asks for them; `None` when they are that already.
pub(crate) type Coerce = fn(&RawObject, &JsonObject) -> Option<RawObject>;

/// How a server checks, beyond what types say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checking {
    /// Strings are read as what the schema asks for, by this: only the program of a server that is lenient
    /// has code for it.
    pub(crate) lenient: Option<Coerce>,
    pub(crate) validator: Option<Arc<dyn Validator>>,
}
