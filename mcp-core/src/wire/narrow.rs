//! What a peer may not see. The types are a superset of all revisions; here each of them loses what
//! the peer's revision does not have, and keeps the meaning in words where it can.
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

/// Loses what a revision does not have.
pub(super) trait Narrow {
    fn narrow(&mut self, to: ProtocolVersion);
}

/// The value without what a revision does not have.
pub(super) fn narrowed<T: Narrow + Clone>(value: &T, to: ProtocolVersion) -> T {
    let mut value = value.clone();
    value.narrow(to);
    value
}

/// Leaves out what a revision does not have of a value that seldom has any of it: the value is only
/// copied when `fits` says that something has to go.
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

/// What a server asks in a session, without what the revision does not have.
///
/// # Errors
///
/// [`Fault::MissingCapability`] when the revision cannot ask that at all.
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
