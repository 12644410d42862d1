//! Requests of the modern era (2026-07-28), which need no session.

use mcp_types::{ProtocolVersion, Request};

use super::request::InboundRequest;
use super::subscriptions;
use crate::connection::ServerProfile;
use crate::message::{ClientRequest, Fault};
use crate::versioning::{self, RequestEra, classify};
use crate::wire;

/// Decodes a modern request, and checks that the server offers its revision. Returns `None` for a
/// request of a legacy client, if `serves_legacy` is true.
///
/// `header` is the version in the HTTP header, a cross-check for requests without an envelope.
/// `verify` compares the headers that mirror the request. Its argument is the version in the
/// envelope.
///
/// # Errors
///
/// Returns, in the order of the checks, [`Fault::BadParams`] for an invalid envelope, the fault of
/// `verify`, [`Fault::UnsupportedVersion`], [`Fault::NoSuchMethod`] or [`Fault::BadParams`].
// spec: HTTP-SM-22, VER-09, VER-10, VER-11
pub fn read_request(
    request: &Request<'_>,
    header: Option<&str>,
    profile: &ServerProfile,
    serves_legacy: bool,
    verify: impl FnOnce(&str) -> Result<(), Fault>,
) -> Result<Option<InboundRequest>, Fault> {
    let envelope = match classify(request, header) {
        RequestEra::Modern(envelope) => envelope,
        RequestEra::Legacy if serves_legacy => return Ok(None),
        RequestEra::Legacy => {
            let versions = &profile.versions;
            return Err(versioning::unsupported_legacy(request, header, versions));
        }
        RequestEra::Refused(fault) => return Err(fault),
    };
    verify(&envelope.version)?;
    versioning::check_offered(&profile.versions, &envelope.version)?;
    let decoded = wire::decode_request(request, ProtocolVersion::LATEST)?;
    let listen_hooks = match &decoded.request {
        ClientRequest::Listen(filter) => {
            subscriptions::check_size(filter)?;
            subscriptions::check_client(&envelope.facts, &request.id)?;
            Some(Box::default())
        }
        _ => None,
    };
    Ok(Some(InboundRequest {
        id: request.id.clone(),
        listen_hooks,
        request: decoded.request,
        sent: None,
        input: decoded.input.into(),
        meta: envelope.meta(),
        progress_token: envelope.progress_token,
        facts: envelope.facts,
    }))
}

/// Returns the revision of a modern request, or `None` for a request of a legacy client. For proxies,
/// which do not decode the request.
///
/// # Errors
///
/// Returns [`Fault::BadParams`] for an invalid envelope, and [`Fault::UnsupportedVersion`] for an
/// unknown revision.
pub fn request_version(request: &Request<'_>) -> Result<Option<ProtocolVersion>, Fault> {
    match classify(request, None) {
        RequestEra::Modern(envelope) => {
            versioning::check_offered(&ProtocolVersion::ALL, &envelope.version).map(Some)
        }
        RequestEra::Legacy => Ok(None),
        RequestEra::Refused(fault) => Err(fault),
    }
}
