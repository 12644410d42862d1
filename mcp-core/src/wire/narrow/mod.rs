//! What a peer may not see. The types are a superset of all revisions; here each of them loses what
//! the peer's revision does not have, and keeps the meaning in words where it can.
//!
//! Spec: `docs/spec/revisions.md` §2 and §9

mod content;
mod definitions;
mod elicitation;
mod profile;
mod sampling;

use std::borrow::Cow;

use mcp_types::{InputRequest, InputRequests, InputResponse, ProtocolVersion, RawObject};

pub(super) use elicitation::widen_answer;
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

/// What a server asks, without what the revision does not have.
///
/// # Errors
///
/// [`Fault::MissingCapability`] when the revision cannot ask that at all.
pub(super) fn ask(request: &InputRequest, to: ProtocolVersion) -> Result<InputRequest, Fault> {
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

/// The requests that a modern result holds. What cannot be read stays as it is.
// spec: META-17
pub(super) fn asks(raw: RawObject, to: ProtocolVersion) -> RawObject {
    let Ok(requests) = raw.parse::<InputRequests>() else {
        return raw;
    };
    let narrowed: Option<InputRequests> = requests
        .iter()
        .map(|(key, request)| Some((key.clone(), ask(request, to).ok()?)))
        .collect();
    match narrowed {
        Some(narrowed) if narrowed != requests => RawObject::from_value(&narrowed).unwrap_or(raw),
        _ => raw,
    }
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
