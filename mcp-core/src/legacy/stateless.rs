//! Legacy clients without a session.

use std::sync::Arc;

use mcp_types::{ProtocolVersion, Request, ServerCapabilities};

use super::HandledRequest;
use super::handshake::{self, default_level};
use crate::connection::{ClientContext, ServerProfile};
use crate::inbound::InboundRequest;
use crate::message::{ClientRequest, Fault, Reply, ResultBody, SessionRequest};
use crate::versioning;
use crate::wire;

/// The revision of a request that names none.
// spec: HTTP-SL-14, COMPAT-06
pub const DEFAULT_VERSION: ProtocolVersion = ProtocolVersion::V2025_03_26;

/// Reads a request that belongs to no session. Its client cannot be asked for input and is not
/// notified of changes. `initialize` is answered and opens nothing.
///
/// # Errors
///
/// Returns the [`Fault`] to answer the request with: [`Fault::UnsupportedVersion`] when the server does not offer
/// `version`.
pub fn read_stateless(
    request: &Request<'_>,
    version: ProtocolVersion,
    profile: &ServerProfile,
) -> Result<HandledRequest, Fault> {
    let decoded = wire::decode_request(request, version)?;
    match decoded.request {
        ClientRequest::Call(_) => {
            versioning::check_stateless(&profile.versions, version)?;
            let mut facts = ClientContext::new(version);
            facts.log_level = default_level(profile);
            let inbound = InboundRequest::from_legacy(request.id.clone(), decoded, Arc::new(facts));
            Ok(HandledRequest::Call(inbound))
        }
        ClientRequest::Session(SessionRequest::Initialize(params)) => {
            let capabilities = without_changes(profile.capabilities.clone());
            let (_, result) = handshake::initialize(&params, profile, capabilities)?;
            let body = ResultBody::Initialize(Arc::new(result));
            Ok(HandledRequest::Reply(Reply::from(body)))
        }
        ClientRequest::Session(SessionRequest::Ping) => {
            Ok(HandledRequest::Reply(ResultBody::Empty.into()))
        }
        // spec: LOG-01, LOG-03
        ClientRequest::Session(SessionRequest::SetLevel(_))
            if profile.capabilities.logging.is_some() =>
        {
            Ok(HandledRequest::Reply(ResultBody::Empty.into()))
        }
        other => Err(Fault::no_such_method(other.method_name())),
    }
}

/// Removes the capabilities to notify of changes.
fn without_changes(mut offers: ServerCapabilities) -> ServerCapabilities {
    let lists = [&mut offers.tools, &mut offers.prompts];
    for list in lists.into_iter().flatten() {
        list.list_changed = None;
    }
    if let Some(resources) = &mut offers.resources {
        resources.list_changed = None;
        resources.subscribe = None;
    }
    offers
}
