//! Narrowing of values for older revisions. The types are a superset of all revisions; this module
//! removes the fields that a revision does not have, and describes content as text where possible.
//!
//! Spec: `docs/spec/revisions.md` §2 and §9

mod content;
mod definitions;
mod elicitation;
mod embedded;
mod profile;
mod sampling;

use std::borrow::Cow;

use mcp_types::{InputRequest, InputResponse, ProtocolVersion};

pub(super) use elicitation::widen_answer;
pub(super) use embedded::embedded;
pub(super) use profile::is_modern;

use crate::Fault;

/// Removes from a value the fields that a revision does not have.
pub(super) trait Narrow {
    fn narrow(&mut self, to: ProtocolVersion);
}

/// Returns a copy without the fields that a revision does not have.
pub(super) fn narrowed<T: Narrow + Clone>(value: &T, to: ProtocolVersion) -> T {
    let mut value = value.clone();
    value.narrow(to);
    value
}

/// Returns the value without the fields that a revision does not have. Copies it only when `fits`
/// returns false.
pub(super) fn fitting<T: Narrow + Clone>(
    value: &T,
    to: ProtocolVersion,
    fits: impl FnOnce(&T) -> bool,
) -> Cow<'_, T> {
    if fits(value) {
        Cow::Borrowed(value)
    } else {
        Cow::Owned(narrowed(value, to))
    }
}

/// Returns a request for input without the fields that the revision does not have.
///
/// # Errors
///
/// Returns [`Fault::MissingCapability`] when the revision does not have the request.
pub(super) fn input_request(
    request: &InputRequest,
    to: ProtocolVersion,
) -> Result<InputRequest, Fault> {
    let mut request = request.clone();
    match &mut request {
        InputRequest::Elicit(params) => {
            elicitation::check(params, to)?;
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
