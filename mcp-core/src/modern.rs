//! Requests of the modern era (2026-07-28), which need no session.

use mcp_types::Request;

use crate::wire::{Envelope, MODERN};
use crate::{ClientRequest, Fault, InboundRequest, ServerProfile, subscriptions, versioning};

/// Decodes a request whose envelope was found, and checks that the server offers its revision.
///
/// A transport compares the headers that mirror the request before it calls this function.
///
/// # Errors
///
/// Returns, in the order of the checks, [`Fault::UnsupportedVersion`], [`Fault::NoSuchMethod`] or
/// [`Fault::BadParams`].
// spec: HTTP-SM-22
pub fn read_request(
    request: &Request<'_>,
    envelope: Envelope<'_>,
    profile: &ServerProfile,
) -> Result<InboundRequest, Fault> {
    versioning::check_offered(&profile.versions, &envelope.version)?;
    let decoded = MODERN.decode_request(request)?;
    let listen_hooks = match &decoded.request {
        ClientRequest::Listen(filter) => {
            subscriptions::check_size(filter)?;
            subscriptions::check_client(&envelope.facts, &request.id)?;
            Some(Box::default())
        }
        _ => None,
    };
    Ok(InboundRequest {
        id: request.id.clone(),
        listen_hooks,
        request: decoded.request,
        input: decoded.input.into(),
        meta: envelope.meta(),
        progress_token: envelope.progress_token,
        facts: envelope.facts,
    })
}
