//! `initialize`: opens a session.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Response};
use mcp_core::legacy::{Session, decode_initialize};
use mcp_core::{Fault, Principal};
use mcp_types::Request;
use uuid::Uuid;

use super::super::config::SessionEnd;
use super::super::exchange;
use super::super::request::rejection::Rejection;
use super::super::response::{self, Body};
use super::context::SessionContext;
use super::{binding, relay, store};
use crate::status;

/// Opens a session and returns the response to `initialize`.
///
/// # Errors
///
/// Returns a rejection when the request is invalid, when the maximum number of sessions is reached,
/// or when the session store fails.
// spec: SESS-01
pub(super) async fn open(
    context: &SessionContext<'_>,
    head: &Parts,
    request: &Request<'_>,
) -> Result<Response<Body>, Rejection> {
    let reject = |fault: Fault| {
        let status = status::for_rejection(&fault);
        Rejection::legacy(status, Some(request.id.clone()), fault)
    };
    let params = decode_initialize(request).map_err(reject)?;
    let key = binding::new_key(context.table, context.config, head).map_err(reject)?;
    let principal = head.extensions.get::<Principal>();
    let permit = context.reserve(principal, head)?;
    let limits = context.config.sessions.limits;
    let (protocol, reply) = Session::open(
        Some(&request.id),
        &params,
        context.service,
        principal,
        limits,
    )
    .map_err(reject)?;
    let id = new_id(context, head).map_err(reject)?;
    let session = context.new_session(id, key, protocol, permit, None);
    context
        .insert(&session)
        .map_err(|_| reject(store::id_in_use()))?;
    relay::start(context);
    if let Err(rejection) = store::insert(&session).await {
        context.table.end(&session.id, SessionEnd::Closed);
        return Err(rejection);
    }
    session.announce_opened();
    let target = session.reply_target(&request.id);
    let mut response = exchange::ready(session.settings().answer, &target, reply);
    response::set_session_id(&mut response, HeaderValue::from_str(&session.id).ok());
    Ok(response)
}

/// Returns an id that cannot be guessed, or the configured function's id.
// spec: SESS-02, SESS-03
fn new_id(context: &SessionContext<'_>, head: &Parts) -> Result<Arc<str>, Fault> {
    const MAX_LENGTH: usize = 1024;

    let Some(make) = &context.config.session_id else {
        return Ok(Uuid::new_v4().to_string().into());
    };
    let id = make(head);
    let is_visible = id.bytes().all(|byte| byte.is_ascii_graphic());
    if id.is_empty() || id.len() > MAX_LENGTH || !is_visible {
        let reason = "a session id has 1 to 1024 visible ASCII characters";
        tracing::error!(setting = "session_id", reason, "no session opened");
        return Err(Fault::internal("the server has no id for the new session"));
    }
    Ok(id.into())
}
