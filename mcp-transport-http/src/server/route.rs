//! Where a POST goes, by its headers and its body. A pure function: no IO, no clock.
//!
//! The order of the checks is that of the ladder in HTTP-SM-22; [`modern::read`] is its
//! lower half.

use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderMap;
use mcp_core::front::modern::{self, Inbound};
use mcp_core::versioning::{self, classify};
use mcp_core::{Asked, Call, Fault, ParamHeaders, ServerProfile};
use mcp_types::{Message, Request, RequestId};

use crate::headers;

/// What a POST turned out to be.
#[derive(Debug)]
pub(super) enum Route {
    /// A request that may be served.
    Modern {
        id: RequestId,
        inbound: Box<Inbound>,
    },
    /// A notification, which needs no answer.
    Accepted,
    /// Something that cannot be served.
    Refused { id: Option<RequestId>, fault: Fault },
}

/// `plan` tells which arguments of a tool have headers.
// spec: HTTP-SM-22, GAP-06
pub(super) fn route(
    headers: &HeaderMap,
    body: &[u8],
    profile: &ServerProfile,
    plan: impl FnOnce(&str) -> Option<Arc<ParamHeaders>>,
) -> Route {
    let request = match Message::parse(body) {
        Ok(Message::Request(request)) => request,
        // spec: HTTP-S-07, HTTP-SM-21
        Ok(Message::Notification(_)) => return Route::Accepted,
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
    let read = read(headers, &request, profile).and_then(|inbound| {
        verify_arguments(headers, &inbound.asked, plan)?;
        Ok(inbound)
    });
    match read {
        Ok(inbound) => Route::Modern {
            id: request.id,
            inbound: Box::new(inbound),
        },
        Err(fault) => Route::Refused {
            id: Some(request.id),
            fault,
        },
    }
}

fn read(
    headers: &HeaderMap,
    request: &Request<'_>,
    profile: &ServerProfile,
) -> Result<Inbound, Fault> {
    let named = headers::version(headers);
    let envelope = match classify(request, named) {
        versioning::Route::Modern(envelope) => *envelope,
        versioning::Route::Legacy => {
            return Err(versioning::too_old(request, named, &profile.versions));
        }
        versioning::Route::Refuse(fault) => return Err(fault),
        _ => return Err(Fault::internal("the request belongs to an unknown era")),
    };
    headers::verify(headers, request, &envelope.version)?;
    modern::read(request, envelope, profile)
}

// spec: XHDR-17
fn verify_arguments(
    headers: &HeaderMap,
    asked: &Asked,
    plan: impl FnOnce(&str) -> Option<Arc<ParamHeaders>>,
) -> Result<(), Fault> {
    let Asked::Call(Call::CallTool(params)) = asked else {
        return Ok(());
    };
    match plan(&params.name) {
        Some(plan) => headers::verify_arguments(headers, &plan, params.arguments.as_ref()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
