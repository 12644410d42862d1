//! A message of a session. What can be done with it at once is done outside of any future: the one
//! that a call leaves has room for the call alone.

use std::sync::Arc;
use std::task::Context;

use http::StatusCode;
use http::request::Parts;
use mcp_core::legacy::{HandledNotification, HandledRequest};
use mcp_core::{Fault, NotificationBuffer, ServerProfile, StreamControl};
use mcp_types::{Message, Notification, Request};

use super::super::answer::{self, Begun, Manner};
use super::super::kept::Kept;
use super::super::respond::{self, Answer};
use super::super::sessions::AnswerMode;
use super::super::stream::Leaving;
use super::audience::audience;
use super::live::Live;

use crate::sse::encode as sse;
use crate::status;

impl Live {
    /// Takes a message. `profile` is what is told about the service.
    pub(in crate::server) fn take(
        self: &Arc<Self>,
        profile: Arc<ServerProfile>,
        parts: Box<Parts>,
        message: &Message<'_>,
        cx: &mut Context<'_>,
    ) -> Begun {
        if let Message::Request(request) = message {
            let kept = self.config.events.as_ref();
            let kept = kept.map(|events| events.open(self.streams(), &self.id));
            return begin(self, profile, parts, request, kept, cx);
        }
        self.calls.note_sign();
        match message {
            Message::Notification(note) => hear(self, note),
            Message::Response(response) => return Begun::Answered(settle(self, response)),
            _ => {}
        }
        Begun::Answered(respond::accepted())
    }
}

/// Begins with a request. Its events are kept in `kept`.
pub(super) fn begin(
    live: &Arc<Live>,
    profile: Arc<ServerProfile>,
    mut parts: Box<Parts>,
    request: &Request<'_>,
    mut kept: Option<Arc<dyn Kept>>,
    cx: &mut Context<'_>,
) -> Begun {
    let config = &live.config;
    let wire = live.machine.wire();
    let to = live.recipient(&request.id, profile);
    let admitted = live
        .machine
        .handle_request(request, || audience(parts.clone(), config));
    let begun = admitted.and_then(|admitted| match admitted {
        HandledRequest::Call(inbound) => {
            let ticket = live.calls.begin(&to.id)?;
            Ok(Ok((inbound, ticket)))
        }
        HandledRequest::Reply(reply) => {
            live.calls.note_sign();
            Ok(Err(reply))
        }
        _ => Err(Fault::internal("the session knows no answer")),
    });
    let mode = config.sessions.answer;
    let answer = match begun {
        Ok(Ok((mut inbound, ticket))) => {
            let notes = Arc::new(NotificationBuffer::new(wire, sse::FRAMING));
            if mode == AnswerMode::AlwaysJson {
                // There is no way to the client before the answer.
                notes.close();
                kept = None;
            } else {
                inbound.input = live.machine.input(Arc::clone(&notes) as _);
            }
            if let Some(stream) = &kept
                && wire.version().has_stream_polling()
            {
                let stream = Arc::downgrade(stream);
                parts.extensions.insert(StreamControl::new(move || {
                    stream.upgrade().iter().for_each(|it| it.release());
                }));
            }
            let manner = Manner {
                mode,
                leaving: Leaving::CancelsNothing,
                notes: Some(notes),
                ticket: Some(ticket),
                kept,
                session: live.header(),
            };
            return answer::begin(&*live.service, config, to, *inbound, parts, manner, cx);
        }
        Ok(Err(reply)) => answer::ready_made(mode, &to, reply),
        Err(fault) => respond::error(status::of_session(&fault), wire, Some(&to.id), &fault),
    };
    Begun::Answered(answer.naming(live.header()))
}

/// Takes a notification to heart.
// spec: HTTP-S-07, CAN-04
#[inline(never)]
pub(super) fn hear(live: &Live, note: &Notification<'_>) {
    if let HandledNotification::Cancel(cancelled) = live.machine.handle_notification(note)
        && let Some(id) = &cancelled.request_id
    {
        live.calls.cancel(id);
    }
}

/// Takes the answer to a question. One that comes too late is no mistake of the client.
// spec: HTTP-S-07, CAN-06
#[inline(never)]
pub(super) fn settle(live: &Live, response: &mcp_types::Response<'_>) -> Answer {
    let is_late = || {
        let id = response.id.as_ref();
        id.is_some_and(|id| live.machine.has_sent(id))
    };
    if live.machine.handle_response(response) || is_late() {
        return respond::accepted();
    }
    let message = "nothing was asked here under this id; an answer goes to the server that asked";
    let fault = Fault::InvalidRequest(message.into());
    respond::error(StatusCode::BAD_REQUEST, live.machine.wire(), None, &fault)
}
