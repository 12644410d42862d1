//! What a client has to declare before it is asked, and what a question has to be.

use mcp_core::ClientFacts;
use mcp_types::{
    ClientCapabilities, CreateMessageParams, ElicitParams, IncludeContext, InputRequest,
    SamplingCapability, Settings,
};

use super::AskError;

/// Looks for what is missing.
///
/// # Errors
///
/// [`AskError::MissingCapability`] with just that.
// spec: MRTR-05, ELIC-01, ELIC-02, SAMP-01, SAMP-04, SAMP-05, ROOT-01, ROOT-04
pub(super) fn check(request: &InputRequest, client: &ClientFacts) -> Result<(), AskError> {
    let declared = &client.capabilities;
    let none = ClientCapabilities::default();
    let required = match request {
        InputRequest::Elicit(asked) => match &**asked {
            ElicitParams::Url(_) if !declared.allows_url() => none.with_url_elicitation(),
            ElicitParams::Form(_) if !declared.allows_form() => none.with_elicitation(),
            _ => return Ok(()),
        },
        InputRequest::CreateMessage(asked) => match missing_for_sampling(asked, client) {
            Some(required) => required,
            None => return Ok(()),
        },
        InputRequest::ListRoots if declared.roots.is_none() => none.with_roots(),
        _ => return Ok(()),
    };
    Err(AskError::MissingCapability {
        required: Box::new(required),
    })
}

fn missing_for_sampling(
    asked: &CreateMessageParams,
    client: &ClientFacts,
) -> Option<ClientCapabilities> {
    let none = ClientCapabilities::default();
    let Some(declared) = &client.capabilities.sampling else {
        return Some(match asked.needs_tools() {
            true => none.with_sampling_tools(),
            false => none.with_sampling(),
        });
    };
    if asked.needs_tools() && declared.tools.is_none() {
        return Some(none.with_sampling_tools());
    }
    // Before there was a capability for it, context was everybody's.
    let others = matches!(
        asked.include_context,
        Some(IncludeContext::ThisServer | IncludeContext::AllServers)
    );
    if others && declared.context.is_none() && client.version.has_sampling_tools() {
        let mut sampling = SamplingCapability::default();
        sampling.context = Some(Settings::default());
        let mut required = none;
        required.sampling = Some(sampling);
        return Some(required);
    }
    None
}
