//! What a client has to declare before it is asked.

use std::sync::Arc;

use mcp_core::ClientFacts;
use mcp_types::{
    ClientCapabilities, CreateMessageParams, ElicitParams, ExtraFields, IncludeContext,
    InputRequest, SamplingCapability,
};

use super::AskError;

/// Looks for what a request needs and the client does not declare.
///
/// # Errors
///
/// [`AskError::MissingCapability`] with just that.
// spec: MRTR-05, ELIC-01, ELIC-02, SAMP-01, SAMP-04, SAMP-05, ROOT-01, ROOT-04
#[inline]
pub(crate) fn check(request: &InputRequest, client: &ClientFacts) -> Result<(), AskError> {
    let none = ClientCapabilities::default();
    let needed = match request {
        InputRequest::Elicit(asked) => match &**asked {
            ElicitParams::Url(_) => none.with_url_elicitation(),
            _ => none.with_elicitation(),
        },
        InputRequest::CreateMessage(asked) => for_sampling(asked, client),
        InputRequest::ListRoots => none.with_roots(),
        _ => return Ok(()),
    };
    compare(&needed, &client.capabilities)
}

#[inline]
fn for_sampling(asked: &CreateMessageParams, client: &ClientFacts) -> ClientCapabilities {
    let mut sampling = SamplingCapability::default();
    sampling.tools = asked.needs_tools().then(ExtraFields::default);
    // Before there was a capability for it, context was everybody's.
    let others = matches!(
        asked.include_context,
        Some(IncludeContext::ThisServer | IncludeContext::AllServers)
    );
    let declares = client.version.has_sampling_tools();
    sampling.context = (others && declares).then(ExtraFields::default);
    let mut needed = ClientCapabilities::default();
    needed.sampling = Some(sampling);
    needed
}

/// Looks for what is needed and not declared.
///
/// # Errors
///
/// [`AskError::MissingCapability`] with just that.
#[inline]
pub(crate) fn compare(
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
            parts.tools = lacking(needed.tools.as_ref(), declared.tools.as_ref());
            parts.context = lacking(needed.context.as_ref(), declared.context.as_ref());
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

#[inline]
fn lacking(needed: Option<&ExtraFields>, declared: Option<&ExtraFields>) -> Option<ExtraFields> {
    needed.filter(|_| declared.is_none()).cloned()
}
