//! Client capabilities that questions need.

use std::sync::Arc;

use mcp_core::ClientContext;
use mcp_types::{
    ClientCapabilities, CreateMessageParams, ElicitParams, ExtraFields, IncludeContext,
    InputRequest, SamplingCapability,
};

use super::error::AskError;

/// Checks that the client declares the capabilities that `request` needs.
///
/// # Errors
///
/// Returns [`AskError::MissingCapability`] with the missing capabilities.
// spec: VER-14, MRTR-05, ELIC-02, SAMP-04, SAMP-05, ROOT-04
pub(super) fn check_request(
    request: &InputRequest,
    client: &ClientContext,
) -> Result<(), AskError> {
    let none = ClientCapabilities::default();
    let needed = match request {
        InputRequest::Elicit(params) => match &**params {
            ElicitParams::Url(_) => none.with_url_elicitation(),
            _ => none.with_elicitation(),
        },
        InputRequest::CreateMessage(params) => for_sampling(params, client),
        InputRequest::ListRoots => none.with_roots(),
        _ => return Ok(()),
    };
    require_declared(&needed, &client.capabilities)
}

fn for_sampling(params: &CreateMessageParams, client: &ClientContext) -> ClientCapabilities {
    let mut sampling = SamplingCapability::default();
    // spec: SAMP-04
    sampling.tools = params.needs_tools().then(ExtraFields::default);
    let includes_context = matches!(
        params.include_context,
        Some(IncludeContext::ThisServer | IncludeContext::AllServers)
    );
    // Revisions without the capability `sampling.context` allow it for every client.
    let has_capability = client.version.has_sampling_tools();
    sampling.context = (includes_context && has_capability).then(ExtraFields::default);
    let mut needed = ClientCapabilities::default();
    needed.sampling = Some(sampling);
    needed
}

/// Checks that `declared` contains all of `needed`.
///
/// # Errors
///
/// Returns [`AskError::MissingCapability`] with the missing capabilities.
pub(crate) fn require_declared(
    needed: &ClientCapabilities,
    declared: &ClientCapabilities,
) -> Result<(), AskError> {
    let mut missing = ClientCapabilities::default();
    if needed.allows_form() && !declared.allows_form() {
        missing = missing.with_elicitation();
    }
    if needed.allows_url() && !declared.allows_url() {
        missing = missing.with_url_elicitation();
    }
    if needed.roots.is_some() && declared.roots.is_none() {
        missing = missing.with_roots();
    }
    missing.sampling = match (&needed.sampling, &declared.sampling) {
        (Some(needed), None) => Some(needed.clone()),
        (Some(needed), Some(declared)) => {
            let mut parts = SamplingCapability::default();
            parts.tools = missing_setting(needed.tools.as_ref(), declared.tools.as_ref());
            parts.context = missing_setting(needed.context.as_ref(), declared.context.as_ref());
            (parts != SamplingCapability::default()).then_some(parts)
        }
        (None, _) => None,
    };
    if missing == ClientCapabilities::default() {
        return Ok(());
    }
    Err(AskError::MissingCapability {
        required: Arc::new(missing),
    })
}

fn missing_setting(
    needed: Option<&ExtraFields>,
    declared: Option<&ExtraFields>,
) -> Option<ExtraFields> {
    needed.filter(|_| declared.is_none()).cloned()
}
