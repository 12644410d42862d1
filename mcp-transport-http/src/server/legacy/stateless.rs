//! Legacy clients without a session: every request stands for itself.

use std::task::Context;

use http::StatusCode;
use http::request::Parts;
use mcp_core::ReplyTarget;
use mcp_core::legacy::{DEFAULT_VERSION, HandledRequest, read_stateless};
use mcp_core::wire::{self, batch};
use mcp_core::{Fault, Reply, ResultBody};
use mcp_types::{Message, ProtocolVersion, Request};

use super::super::answer::{self, Begun, Manner};
use super::super::refused::Refused;
use super::super::respond::{self, Answer};
use super::batch::{Part, broken, join};
use super::door::{Door, check_version};
use crate::status;

/// Takes a message.
#[inline(never)]
pub(super) fn take(
    door: &Door,
    parts: Box<Parts>,
    message: &Message<'_>,
    cx: &mut Context<'_>,
) -> Result<Begun, Refused> {
    let version = version(door, &parts)?;
    match message {
        Message::Request(request) => Ok(begin(door, parts, request, version, cx)),
        // There is no session that it could change.
        Message::Notification(_) => Ok(Begun::Answered(respond::accepted())),
        _ => Err(Refused::bad_request(
            "without sessions nothing is asked here, so nobody waits for responses",
        )),
    }
}

/// Answers several messages.
pub(super) async fn answer_batch(
    door: &Door,
    parts: Box<Parts>,
    text: &[u8],
) -> Result<Answer, Refused> {
    let version = version(door, &parts)?;
    let messages = batch::read(text, version)
        .map_err(|fault| Refused::fault(StatusCode::BAD_REQUEST, None, fault))?;
    let wire = wire::for_version(version);
    let answers = messages.into_iter().filter_map(|message| match message {
        Ok(Message::Request(request)) => {
            let parts = parts.clone();
            let answer: Part<'_> = Box::pin(async move {
                Begun::answer(|cx| begin(door, parts, &request, version, cx)).await
            });
            Some(answer)
        }
        Ok(_) => None,
        Err(error) => Some(broken(error, wire)),
    });
    Ok(join(answers.collect()).await)
}

// spec: HTTP-SL-13, HTTP-SL-14
fn version(door: &Door, parts: &Parts) -> Result<ProtocolVersion, Refused> {
    Ok(check_version(parts, &*door.service)?.unwrap_or(DEFAULT_VERSION))
}

fn begin(
    door: &Door,
    parts: Box<Parts>,
    request: &Request<'_>,
    version: ProtocolVersion,
    cx: &mut Context<'_>,
) -> Begun {
    let profile = door.service.profile();
    let mode = door.config.sessions.answer;
    let admitted = read_stateless(request, version, &profile);
    let mut to = ReplyTarget {
        id: request.id.clone(),
        profile,
        wire: wire::for_version(version),
    };
    let reply = match admitted {
        Ok(HandledRequest::Call(inbound)) => {
            let manner = Manner::alone(mode);
            let service = &*door.service;
            return answer::begin(service, &door.config, to, *inbound, parts, manner, cx);
        }
        Ok(HandledRequest::Reply(reply)) => reply,
        Ok(_) => Fault::internal("the request knows no answer").into(),
        Err(fault) => {
            let status = status::of_session(&fault);
            let refused = respond::error(status, to.wire, Some(&to.id), &fault);
            return Begun::Answered(refused);
        }
    };
    // The answer to `initialize` is of the revision that it names.
    if let Reply::Complete {
        body: ResultBody::Initialize(result),
        ..
    } = &reply
        && let Ok(chosen) = result.protocol_version.parse()
    {
        to.wire = wire::for_version(chosen);
    }
    Begun::Answered(answer::ready_made(mode, &to, reply))
}
