//! The handshake of a session (`initialize`).

use std::sync::Arc;

use mcp_types::{
    InitializeParams, InitializeResult, LoggingLevel, ProtocolVersion, RawObject, Request,
    ServerCapabilities,
};

use crate::connection::{ClientContext, ServerProfile};
use crate::message::{ClientRequest, Fault, SessionRequest};
use crate::versioning;
use crate::wire;

/// Decodes `initialize`.
///
/// # Errors
///
/// Returns a fault when the request has another method or invalid parameters.
pub fn decode_initialize(request: &Request<'_>) -> Result<Arc<InitializeParams>, Fault> {
    match wire::decode_request(request, ProtocolVersion::LATEST_LEGACY)?.request {
        ClientRequest::Session(SessionRequest::Initialize(params)) => Ok(params),
        other => Err(Fault::no_such_method(other.method_name())),
    }
}

/// Returns the level of log messages for a client that has not set one. `None`: the server sends none.
// spec: LOG-03
pub(super) fn default_level(profile: &ServerProfile) -> Option<LoggingLevel> {
    let logging = profile.capabilities.logging.as_ref();
    logging.map(|_| LoggingLevel::Info)
}

/// Chooses the revision of a session. Returns the client and the result of `initialize`.
///
/// # Errors
///
/// Returns [`Fault::UnsupportedVersion`] when the server offers no revision with sessions, and
/// [`Fault::BadParams`] when the client has more than 16 KiB of JSON.
// spec: LIFE-02, LIFE-07, LIFE-10
pub(super) fn initialize(
    params: &InitializeParams,
    profile: &ServerProfile,
    capabilities: ServerCapabilities,
) -> Result<(ClientContext, InitializeResult), Fault> {
    let requested = &params.protocol_version;
    let Some(version) = versioning::session_version(&profile.versions, requested) else {
        return Err(Fault::UnsupportedVersion {
            requested: requested.as_str().into(),
            supported: profile.versions.iter().map(ToString::to_string).collect(),
        });
    };
    let mut facts = ClientContext::new(version);
    facts.capabilities.clone_from(&params.capabilities);
    facts.log_level = default_level(profile);
    facts.info = RawObject::from_value(&params.client_info).ok();
    facts
        .check_size()
        .map_err(|error| Fault::bad_params(format!("`params`: {error}")))?;
    let mut result = InitializeResult::new(version, capabilities, profile.info().clone());
    result.instructions.clone_from(&profile.instructions);
    Ok((facts, result))
}
