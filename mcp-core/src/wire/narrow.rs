//! Value narrowing for older revisions. The types are a superset of all revisions; this module
//! removes the fields that a revision does not have, and describes content as text where possible.
//!
//! | module | content |
//! |---|---|
//! | `narrowed` | the trait of values that can be narrowed |
//! | `profile` | identity and capabilities |
//! | `definitions` | tools, resources, prompts; parameters of calls |
//! | `content`, `structure` | content blocks; structured content of tools |
//! | `elicitation`, `sampling`, `embedded` | forms; sampling and roots; requests for input inside of a result |
//!
//! Spec: `docs/spec/revisions.md` §2 and §9

mod content;
mod definitions;
mod elicitation;
mod embedded;
mod narrowed;
mod profile;
mod sampling;
mod structure;

use mcp_types::{ClientCapabilities, InputRequest, InputResponse, ProtocolVersion};

pub(super) use elicitation::widen_answer;
pub(super) use embedded::embedded;
pub(super) use narrowed::{Narrow, fitting, narrowed};
pub(super) use profile::is_modern;
pub(super) use structure::object_content;
pub use structure::wraps_structure;

use crate::message::Fault;

/// Returns a request for input without the fields that the revision does not have.
///
/// # Errors
///
/// Returns [`Fault::MissingCapability`] when the revision does not have the request, and the client does not declare
/// it.
pub(super) fn input_request(
    request: &InputRequest,
    to: ProtocolVersion,
    declared: Option<&ClientCapabilities>,
) -> Result<InputRequest, Fault> {
    let mut request = request.clone();
    match &mut request {
        InputRequest::Elicit(params) => {
            elicitation::check(params, to, declared)?;
            params.narrow(to);
        }
        InputRequest::CreateMessage(params) => {
            sampling::check(params, to)?;
            params.narrow(to);
        }
        _ => {}
    }
    Ok(request)
}

impl Narrow for InputResponse {
    fn narrow(&mut self, to: ProtocolVersion) {
        match self {
            Self::Elicit(result) => result.narrow(to),
            Self::CreateMessage(result) => result.narrow(to),
            Self::ListRoots(result) => result.narrow(to),
            _ => {}
        }
    }
}
