//! Where a POST goes, by its headers and its body. A pure function: no IO, no clock.
//!
//! The order of the checks is that of the ladder in HTTP-SM-22; [`modern::read`] is its
//! lower half.

use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderMap;
use mcp_core::versioning::{self, classify};
use mcp_core::{Call, ClientRequest, Fault, ParamHeaders, ServerProfile};
use mcp_core::{InboundRequest, modern};
use mcp_types::{Message, ParseError, RequestId};

use crate::headers::{self, Mirrored};

/// What a POST turned out to be.
#[derive(Debug)]
pub(super) enum Route<'a, 'h> {
    /// A request that may be served.
    Modern {
        id: RequestId,
        inbound: InboundRequest,
    },
    /// A message of the legacy era, and what its headers say.
    Legacy(Message<'a>, Mirrored<'h>),
    /// Several messages at once, as clients of the legacy era may send them.
    Batch,
    /// A notification, which needs no answer.
    Accepted,
    /// Something that cannot be served.
    Refused { id: Option<RequestId>, fault: Fault },
}

/// `serves_legacy` tells whether the legacy era is served here, `plan` which arguments of a tool
/// have headers.
// spec: HTTP-SM-22, GAP-06
pub(super) fn route<'a, 'h>(
    headers: &'h HeaderMap,
    body: &'a [u8],
    profile: &ServerProfile,
    serves_legacy: bool,
    plan: impl FnOnce(&str) -> Option<Arc<ParamHeaders>>,
) -> Route<'a, 'h> {
    let mirrored = Mirrored::of(headers);
    let request = match Message::parse(body) {
        Ok(Message::Request(request)) => request,
        // spec: HTTP-S-07, HTTP-SM-21
        Ok(note @ Message::Notification(_)) => {
            return if serves_legacy && !versioning::is_modern_version(mirrored.version()) {
                Route::Legacy(note, mirrored)
            } else {
                Route::Accepted
            };
        }
        Ok(response @ Message::Response(_)) if serves_legacy => {
            return Route::Legacy(response, mirrored);
        }
        Err(ParseError::Batch) if serves_legacy => return Route::Batch,
        // spec: HTTP-SM-01, HTTP-C-06
        Ok(_) => {
            let fault = Fault::InvalidRequest(Cow::Borrowed(
                "a POST carries one request or one notification; nobody here waits for responses",
            ));
            return Route::Refused { id: None, fault };
        }
        Err(error) => {
            let id = error.id().cloned();
            return Route::Refused {
                id,
                fault: error.into(),
            };
        }
    };
    let named = mirrored.version();
    let envelope = match classify(&request, named) {
        versioning::RequestEra::Modern(envelope) => Ok(envelope),
        versioning::RequestEra::Legacy if serves_legacy => {
            return Route::Legacy(Message::Request(request), mirrored);
        }
        versioning::RequestEra::Legacy => Err(versioning::unsupported_legacy(
            &request,
            named,
            &profile.versions,
        )),
        versioning::RequestEra::Refused(fault) => Err(fault),
        _ => Err(Fault::internal("the request belongs to an unknown era")),
    };
    let read = envelope.and_then(|envelope| {
        mirrored.verify(&request, &envelope.version)?;
        let inbound = modern::read_request(&request, envelope, profile)?;
        verify_arguments(headers, &inbound.request, plan)?;
        Ok(inbound)
    });
    match read {
        Ok(inbound) => Route::Modern {
            id: request.id,
            inbound,
        },
        Err(fault) => Route::Refused {
            id: Some(request.id),
            fault,
        },
    }
}

// spec: XHDR-17
fn verify_arguments(
    headers: &HeaderMap,
    asked: &ClientRequest,
    plan: impl FnOnce(&str) -> Option<Arc<ParamHeaders>>,
) -> Result<(), Fault> {
    let ClientRequest::Call(Call::CallTool(params)) = asked else {
        return Ok(());
    };
    match plan(&params.name) {
        Some(plan) => headers::verify_arguments(headers, &plan, params.arguments.as_ref()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
