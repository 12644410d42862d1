//! The argument schema of a route.

use std::sync::{Arc, OnceLock};

use mcp_schema::{Schema, SchemaError};
use mcp_types::JsonObject;

use crate::constraints::Constraints;

/// The argument schema of a route, which is parsed at its first use. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct InputSchema(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    json: Arc<JsonObject>,
    parsed: OnceLock<Result<Schema<'static>, SchemaError>>,
    constraints: OnceLock<Option<Constraints>>,
}

impl InputSchema {
    pub(crate) fn new(json: impl Into<Arc<JsonObject>>) -> Self {
        Self(Arc::new(Inner {
            json: json.into(),
            parsed: OnceLock::new(),
            constraints: OnceLock::new(),
        }))
    }

    pub(crate) fn json(&self) -> &Arc<JsonObject> {
        &self.0.json
    }

    /// Returns the parsed schema.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] if the schema exceeds a limit for reading.
    pub(crate) fn parsed(&self) -> Result<&Schema<'static>, &SchemaError> {
        let parse = || Schema::shared(self.0.json.clone());
        self.0.parsed.get_or_init(parse).as_ref()
    }

    /// Returns the constraints. There are none if the schema exceeds a limit for reading.
    pub(crate) fn constraints(&self) -> Option<&Constraints> {
        let compile = || Constraints::of(self.parsed().ok()?);
        self.0.constraints.get_or_init(compile).as_ref()
    }
}
