//! The legacy era (up to 2025-11-25): what a session supplies as state, modern requests bring along.
//!
//! A [`Session`] is opened by `initialize` and turns the requests of its client into what the
//! service gets from everybody else. A client without a session gets by with [`read_stateless`].
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>

mod back_channel;
mod record;
mod session;
mod stateless;

use std::sync::Arc;

use mcp_types::{InitializeParams, InitializeResult, LoggingLevel, RawObject, ServerCapabilities};

pub use back_channel::{MessageSink, PendingResponse};
pub use record::SessionRecord;
pub use session::{HandledNotification, HandledRequest, Session, SessionLimits};
pub use stateless::{DEFAULT_VERSION, read_stateless};

use crate::InboundRequest;
use crate::wire::DecodedRequest;
use crate::{Call, ClientFacts, Fault, Input, ServerProfile, versioning};

/// What a client hears that has never set a level.
// spec: LOG-03
const DEFAULT_LEVEL: LoggingLevel = LoggingLevel::Info;

/// The handshake: the revision is chosen, each side knows the other.
///
/// # Errors
///
/// [`Fault::UnsupportedVersion`] when no revision with sessions is offered.
// spec: LIFE-02, LIFE-07, LIFE-10
fn shake_hands(
    params: &InitializeParams,
    profile: &ServerProfile,
    capabilities: ServerCapabilities,
) -> Result<(ClientFacts, InitializeResult), Fault> {
    let requested = &params.protocol_version;
    let Some(version) = versioning::session_version(&profile.versions, requested) else {
        return Err(Fault::UnsupportedVersion {
            requested: requested.as_str().into(),
            supported: profile.versions.iter().map(ToString::to_string).collect(),
        });
    };
    let info = RawObject::of(&params.client_info).ok();
    let facts = ClientFacts::new(version)
        .capabilities(params.capabilities.clone())
        .log_level(Some(DEFAULT_LEVEL))
        .info(info);
    let result = InitializeResult::new(version, capabilities, profile.info().clone())
        .instructions(profile.instructions.clone());
    Ok((facts, result))
}

/// A call for the service, with what the session knows.
fn inbound(
    call: Call,
    decoded: DecodedRequest,
    facts: Arc<ClientFacts>,
    input: Input,
) -> Box<InboundRequest> {
    Box::new(InboundRequest {
        request: call.into(),
        facts,
        input,
        meta: decoded.meta,
        progress_token: decoded.progress_token,
        listen_hooks: None,
    })
}
