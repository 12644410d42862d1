//! Finds the session of a request.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, StatusCode};
use mcp_core::legacy::Session;
use mcp_core::store::SessionStore;
use mcp_core::{Principal, Service};
use mcp_types::{Message, Method, ProtocolVersion, Request};

use super::super::config::{SessionEnd, SessionMode};
use super::super::request::rejection::Rejection;
use super::context::SessionContext;
use super::http_session::HttpSession;
use super::{binding, relay, store};
use crate::headers::{self, McpHeaders, names};

/// Target of a POST with one message.
pub(in crate::server) enum Target<'m> {
    /// The endpoint has no sessions.
    Stateless,
    /// The message is an `initialize` that opens a session.
    New(&'m Request<'m>),
    /// The message belongs to a session.
    Session {
        session: Arc<HttpSession>,
        /// The session id in the request, for the header of its response.
        id: Option<HeaderValue>,
    },
}

/// Loads the session of a request from the session store, before [`find_target`] or [`find`] looks it
/// up. A session that is new to this server is continued. Does nothing without a store.
///
/// # Errors
///
/// Returns a rejection when the store fails, or when the maximum number of sessions is reached.
pub(in crate::server) async fn load(
    context: &SessionContext<'_>,
    head: &Parts,
    headers: &McpHeaders<'_>,
) -> Result<(), Rejection> {
    let sessions = &context.config.sessions;
    // `find` rejects requests with an invalid session id.
    if let Some(store) = &sessions.store
        && sessions.mode == SessionMode::InMemory
        && let Ok(id) = session_id(headers)
        && let Ok(id) = id.to_str()
    {
        load_from(context, head, &**store, id).await?;
    }
    Ok(())
}

async fn load_from(
    context: &SessionContext<'_>,
    head: &Parts,
    store: &dyn SessionStore,
    id: &str,
) -> Result<(), Rejection> {
    let Some(record) = store::load(context.config, store, id).await? else {
        context.table.end(id, SessionEnd::Elsewhere);
        return Ok(());
    };
    // Servers that share a store by mistake do not continue each other's sessions.
    let profile = context.service.profile();
    if record.server != profile.info().name {
        let (opened_by, server) = (&record.server, &profile.info().name);
        tracing::warn!(
            ?opened_by,
            ?server,
            "a session in the store belongs to another server"
        );
        return Ok(());
    }
    if let Some(session) = context.table.find(id.as_bytes()) {
        session.apply_stored(record);
        return Ok(());
    }
    // A session without a key is of an earlier release: its client opens another one.
    let key = record.key.as_deref();
    let Some(key) = key.filter(|key| binding::has_key(context.config, head, key)) else {
        return Ok(());
    };
    let key = context.table.share_key(key);
    let permit = context.reserve(record.owner.principal(), head)?;
    let limits = context.config.sessions.limits;
    let protocol = Session::restore(record.clone(), context.service, limits);
    let session = context.new_session(id.into(), key, protocol, permit, None);
    session.mark_saved(record);
    // An error means that a concurrent request has continued the session.
    if context.insert(&session).is_ok() {
        if context.config.sessions.relay.is_some() {
            relay::start(context);
            session.protocol.mark_all_changes();
        }
        // The session may have ended since it was loaded. From now on its end reaches this server.
        store::keep(context.table, &session).await?;
        session.announce_continued();
    }
    Ok(())
}

/// Returns the target of a POST with one message.
///
/// # Errors
///
/// Returns a rejection when the session is not available, see [`find`].
pub(in crate::server) fn find_target<'m>(
    context: &SessionContext<'_>,
    head: &Parts,
    headers: &McpHeaders<'_>,
    message: &'m Message<'m>,
) -> Result<Target<'m>, Rejection> {
    if context.config.sessions.mode != SessionMode::InMemory {
        return Ok(Target::Stateless);
    }
    match message {
        Message::Request(request)
            if request.method == Method::Initialize.as_str()
                && headers.session_id.first.is_none() =>
        {
            Ok(Target::New(request))
        }
        _ => Ok(Target::Session {
            session: find(context, head, headers)?,
            id: headers.session_id.first.cloned(),
        }),
    }
}

/// Returns the session of a request.
///
/// # Errors
///
/// Returns a rejection when the request has no session id, when the session does not exist, belongs to
/// another principal or has another key, or when the request has an unsupported version.
// spec: SESS-06, SESS-07, SESS-10, SESS-11
pub(super) fn find(
    context: &SessionContext<'_>,
    head: &Parts,
    headers: &McpHeaders<'_>,
) -> Result<Arc<HttpSession>, Rejection> {
    let session = context.table.find(session_id(headers)?.as_bytes());
    let session = session.ok_or_else(Rejection::session_not_found)?;
    // A client with another principal, or at another path, must not learn that the session exists.
    let principal = head.extensions.get::<Principal>();
    // spec: SEC-03
    if !session.protocol.belongs_to(principal)
        || !binding::has_key(context.config, head, &session.key)
    {
        return Err(Rejection::session_not_found());
    }
    headers
        .check_one_version()
        .map_err(|fault| Rejection::modern(None, fault))?;
    if !headers.has_version(session.protocol.version()) {
        version(head, &*session.service)?;
    }
    Ok(session)
}

/// Returns the session id of a request.
// spec: SESS-06
fn session_id<'a>(headers: &McpHeaders<'a>) -> Result<&'a HeaderValue, Rejection> {
    match headers.session_id.value() {
        Ok(Some(id)) => Ok(id),
        Ok(None) => Err(Rejection::bad_session_request(
            "the request names no session: open one with `initialize`, and send the \
             Mcp-Session-Id header of its answer with every other request",
        )),
        Err(_) => Err(Rejection::bad_session_request(
            "the request names several sessions",
        )),
    }
}

/// Returns the version in the headers of a request, or `None` when there is no version.
///
/// # Errors
///
/// Returns a rejection when the server does not support the version in sessions.
// spec: HTTP-SL-13, GAP-16
pub(super) fn version(
    head: &Parts,
    service: &dyn Service,
) -> Result<Option<ProtocolVersion>, Rejection> {
    if !head.headers.contains_key(names::MCP_PROTOCOL_VERSION) {
        return Ok(None);
    }
    let profile = service.profile();
    let versions = profile.versions.iter();
    let supported: Vec<_> = versions
        .copied()
        .filter(|version| !version.is_modern())
        .collect();
    let requested = headers::version(&head.headers).unwrap_or_default();
    let found = supported
        .iter()
        .find(|version| version.as_str() == requested);
    found.copied().map(Some).ok_or_else(|| {
        Rejection::bad_session_request(format!(
            "MCP-Protocol-Version {requested:?} is not supported in a session; supported: {}",
            ProtocolVersion::listed(&supported)
        ))
    })
}

/// Parses a message.
///
/// # Errors
///
/// Returns a rejection when the body is not a JSON-RPC message.
pub(in crate::server) fn parse(body: &[u8]) -> Result<Message<'_>, Rejection> {
    Message::parse(body).map_err(|error| {
        let id = error.id().cloned();
        Rejection::legacy(StatusCode::BAD_REQUEST, id, error.into())
    })
}
