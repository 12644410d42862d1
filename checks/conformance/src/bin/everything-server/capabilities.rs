//! Extractors that require a capability of the client.

use std::sync::Arc;

use mcp::core::Fault;
use mcp::types::ClientCapabilities;
use mcp::{CallContext, FromCall, Rejection};

/// Requires that the client declares sampling.
pub(crate) struct Sampling;

impl FromCall for Sampling {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        if call.facts().capabilities.sampling.is_some() {
            return Ok(Self);
        }
        let required = Arc::new(ClientCapabilities::default().with_sampling());
        Err(Fault::MissingCapability { required }.into())
    }
}
