//! `initialize`: a session begins.

use std::sync::Arc;
use std::task::Context;

use http::StatusCode;
use http::request::Parts;
use mcp_core::ReplyTarget;
use mcp_core::legacy::Session;
use mcp_core::wire;
use mcp_core::{ClientRequest, Fault, Principal, Reply, SessionRequest};
use mcp_types::{InitializeParams, ProtocolVersion, Request, codes};
use uuid::Uuid;

use super::super::answer::{Begun, ready_made};
use super::super::refused::Refused;
use super::super::respond::Answer;
use super::super::sessions::SessionEnd;
use super::door::Door;
use super::live::Live;
use super::slots::Slot;
use super::table::IdTaken;
use super::{reaper, saved};
use crate::status;

/// Opens a session, once the request has proved to be a good one.
// spec: LIFE-02, SESS-01
#[inline(never)]
pub(super) fn take(
    door: Door,
    parts: &Parts,
    request: &Request<'_>,
    cx: &mut Context<'_>,
) -> Result<Begun, Refused> {
    let refuse = |fault: Fault| {
        let status = status::of_refusal(&fault);
        Refused::fault(status, Some(request.id.clone()), fault)
    };
    let params = read(request).map_err(refuse)?;
    let (live, reply) = begin(&door, parts, &params, refuse)?;
    let to = live.recipient(&request.id, live.service.profile());
    if door.config.sessions.store.is_none() {
        return Ok(Begun::Answered(welcome(&live, &to, reply)));
    }
    let answer = async move {
        match saved::save(&live).await {
            Ok(()) => welcome(&live, &to, reply),
            Err(refused) => {
                door.table.end(&live.id, SessionEnd::Closed);
                refused.into_answer()
            }
        }
    };
    Ok(Begun::with(answer, cx))
}

/// The answer to `initialize`.
fn welcome(live: &Live, to: &ReplyTarget, reply: Reply) -> Answer {
    live.tell_opened();
    let answer = ready_made(live.sessions().answer, to, reply);
    answer.naming(live.header())
}

/// Reads `initialize`.
pub(super) fn read(request: &Request<'_>) -> Result<Arc<InitializeParams>, Fault> {
    match wire::for_version(ProtocolVersion::LATEST_LEGACY)
        .decode_request(request)?
        .request
    {
        ClientRequest::Session(SessionRequest::Initialize(params)) => Ok(params),
        other => Err(Fault::no_such_method(other.method_name())),
    }
}

fn begin(
    door: &Door,
    parts: &Parts,
    params: &InitializeParams,
    refuse: impl Fn(Fault) -> Refused,
) -> Result<(Arc<Live>, Reply), Refused> {
    let principal = parts.extensions.get::<Principal>();
    let slot = reserve(door, principal)?;
    let limits = door.config.sessions.limits;
    let (machine, reply) =
        Session::open(params, &door.service, principal, limits).map_err(&refuse)?;
    let id = make_id(door, parts).map_err(&refuse)?;
    let live = Live::new(id, door.served(), machine, slot);
    let live = enter(door, live).map_err(|_| {
        let message = "the id of the new session is in use; see StreamableHttp::session_id";
        refuse(Fault::internal(message))
    })?;
    Ok((live, reply))
}

/// Reserves room for a session.
pub(super) fn reserve(door: &Door, principal: Option<&Principal>) -> Result<Slot, Refused> {
    const COME_BACK: u64 = 5;

    let slot = door.table.slots.reserve(&door.config.sessions, principal);
    slot.map_err(|full| {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Refused {
            retry_after: Some(COME_BACK),
            ..Refused::new(status, codes::BAD_REQUEST, full.to_string())
        }
    })
}

/// Enters a session, which is tended from now on.
pub(super) fn enter(door: &Door, live: Live) -> Result<Arc<Live>, IdTaken> {
    let live = Arc::new(live);
    if door.table.enter(&live)? {
        reaper::start(&door.table, &door.config.sessions);
    }
    Ok(live)
}

/// An id that nobody can guess, unless the server makes its own.
// spec: SESS-02, SESS-03
fn make_id(door: &Door, parts: &Parts) -> Result<Arc<str>, Fault> {
    const LONGEST: usize = 1024;

    let Some(make) = &door.config.hooks.id else {
        return Ok(Uuid::new_v4().to_string().into());
    };
    let id = make(parts);
    let is_visible = id.bytes().all(|byte| byte.is_ascii_graphic());
    if id.is_empty() || id.len() > LONGEST || !is_visible {
        let message = "a session id has 1 to 1024 visible ASCII characters; \
                       see StreamableHttp::session_id";
        return Err(Fault::internal(message));
    }
    Ok(id.into())
}
