//! A session message. It is handled without waiting: a request that starts a call returns the
//! call.

use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;
use mcp_core::legacy::{HandledNotification, HandledRequest};
use mcp_core::{
    Extensions, Fault, InboundNotification, InboundRequest, Reply, ReplyTarget, SessionId,
    StreamControl,
};
use mcp_types::{Message, Notification, Request};

use super::super::call::new_buffer;
use super::super::config::AnswerMode;
use super::super::event_stream::OnDisconnect;
use super::super::exchange::{self, ResponseFuture, ResponseOptions};
use super::super::replay::StoredStream;
use super::super::request::rejection::Rejection;
use super::super::response;
use super::super::running_calls::CallPermit;
use super::http_session::HttpSession;
use super::subscriber::subscriber;
use crate::status;

/// Handles a message.
///
/// # Errors
///
/// Returns a rejection when the message is a response that the server does not expect, or when the
/// session has ended since it was looked up.
pub(super) fn handle(
    session: &Arc<HttpSession>,
    head: Box<Parts>,
    message: &Message<'_>,
) -> Result<ResponseFuture, Rejection> {
    if session.is_ended() {
        return Err(Rejection::session_not_found());
    }
    if let Message::Request(request) = message {
        let storage = session.config.events.as_ref();
        let relay = session.settings().relay.as_ref();
        let node = relay.map(|relay| relay.node());
        let stored_stream =
            storage.map(|storage| session.stored_streams().create(storage, &session.id, node));
        return Ok(handle_request(session, head, request, stored_stream));
    }
    session.calls.record_activity();
    match message {
        Message::Notification(notification) => {
            return handle_notification(session, head, notification);
        }
        Message::Response(response) => handle_response(session, response)?,
        _ => {}
    }
    Ok(response::accepted().into())
}

/// A call that has its permissions.
pub(in crate::server) struct PermittedCall {
    pub(in crate::server) inbound: InboundRequest,
    pub(in crate::server) permit: CallPermit,
    pub(in crate::server) extensions: Extensions,
}

/// The answer to a request that starts no call.
pub(in crate::server) enum EarlyAnswer {
    Reply(Reply),
    Refusal(StatusCode, Fault),
    /// No answer, because the client cancelled the call before it arrived.
    Cancelled,
}

/// Handles a request: the session answers it, or permits its call.
///
/// # Errors
///
/// Returns the answer, if there is no call to start.
pub(in crate::server) fn permit_call(
    session: &HttpSession,
    head: Box<Parts>,
    request: &Request<'_>,
) -> Result<PermittedCall, Box<EarlyAnswer>> {
    let session_error = |fault: Fault| {
        Box::new(EarlyAnswer::Refusal(
            status::for_session_error(&fault),
            fault,
        ))
    };
    let config = &session.config;
    let handled = session
        .protocol
        .handle_request(request, || subscriber(head.clone(), config))
        .map_err(session_error)?;
    let mut inbound = match handled {
        HandledRequest::Call(inbound) => inbound,
        HandledRequest::Reply(reply) => {
            session.calls.record_activity();
            return Err(Box::new(EarlyAnswer::Reply(reply)));
        }
        _ => {
            let fault = Fault::internal("the session returned no reply");
            return Err(session_error(fault));
        }
    };
    let permit = session.calls.insert(&request.id).map_err(|fault| {
        if session.is_ended() {
            let (status, fault) = Rejection::session_not_found().into_fault();
            Box::new(EarlyAnswer::Refusal(status, fault))
        } else {
            session_error(fault)
        }
    })?;
    if permit.is_cancelled() {
        return Err(Box::new(EarlyAnswer::Cancelled));
    }
    let extensions = Extensions::from(head);
    exchange::authorize(config, &*session.service, &mut inbound, &extensions)
        .map_err(|fault| Box::new(EarlyAnswer::Refusal(status::for_rejection(&fault), fault)))?;
    Ok(PermittedCall {
        inbound,
        permit,
        extensions,
    })
}

/// Handles a request. `stored_stream` stores its call's events.
pub(super) fn handle_request(
    session: &Arc<HttpSession>,
    head: Box<Parts>,
    request: &Request<'_>,
    stored_stream: Option<Arc<StoredStream>>,
) -> ResponseFuture {
    let target = session.reply_target(&request.id);
    let answer = match permit_call(session, head, request) {
        Ok(call) => return start_call(session, call, target, stored_stream),
        Err(answer) => *answer,
    };
    let response = match answer {
        EarlyAnswer::Reply(reply) => exchange::ready(session.settings().answer, &target, reply),
        EarlyAnswer::Refusal(status, fault) => {
            response::error(status, target.version, Some(&target.id), &fault)
        }
        EarlyAnswer::Cancelled => response::no_events(),
    };
    response.into()
}

fn start_call(
    session: &Arc<HttpSession>,
    call: PermittedCall,
    target: ReplyTarget,
    mut stored_stream: Option<Arc<StoredStream>>,
) -> ResponseFuture {
    let PermittedCall {
        mut inbound,
        permit,
        mut extensions,
    } = call;
    let mode = session.settings().answer;
    let protocol = &session.protocol;
    let new_buffer = || Arc::new(new_buffer(target.version));
    let notifications = if mode == AnswerMode::AlwaysJson {
        // Nothing can be sent to the client before the reply.
        let closed = new_buffer();
        closed.close();
        stored_stream = None;
        Some(closed)
    } else if protocol.can_be_asked() {
        let notifications = new_buffer();
        inbound.input = protocol.input(Arc::clone(&notifications) as _);
        Some(notifications)
    } else {
        inbound.input = protocol.input(Arc::clone(protocol) as _);
        None
    };
    if let Some(stream) = &stored_stream
        && target.version.has_stream_polling()
    {
        let stream = Arc::downgrade(stream);
        extensions.insert(StreamControl::new(move || {
            if let Some(stream) = stream.upgrade() {
                stream.release();
            }
        }));
    }
    if session.service.observer().is_some() {
        extensions.insert(SessionId(Arc::clone(&session.id)));
    }
    let options = ResponseOptions {
        mode,
        on_disconnect: OnDisconnect::Continue,
        notifications,
        permit: Some(permit),
        stored_stream,
    };
    exchange::start(
        &*session.service,
        &session.config,
        target,
        inbound,
        extensions,
        options,
    )
}

/// Handles a notification: cancels a call, changes the session's state, or starts an extension's
/// handler.
///
/// # Errors
///
/// Returns a rejection when the gate refuses the notification.
// spec: HTTP-S-07, CAN-04
pub(in crate::server) fn handle_notification(
    session: &HttpSession,
    head: Box<Parts>,
    notification: &Notification<'_>,
) -> Result<ResponseFuture, Rejection> {
    let protocol = &session.protocol;
    match protocol.handle_notification(notification) {
        HandledNotification::Cancel(cancelled) => {
            if let Some(id) = &cancelled.request_id {
                session.calls.cancel(id);
            }
        }
        HandledNotification::Other(_) => {
            let facts = || Some(protocol.facts());
            let profile = session.service.profile();
            if let Some(inbound) = InboundNotification::decode(notification, &profile, facts) {
                let (service, config) = (&*session.service, &session.config);
                return exchange::start_notification(service, config, inbound, head).map_err(
                    |fault| Rejection::legacy(status::for_rejection(&fault), None, fault),
                );
            }
        }
        _ => {}
    }
    Ok(response::accepted().into())
}

/// Handles the response to a request of a handler. A response after the timeout or the cancellation of its
/// request is accepted and ignored, as at the reference servers: the client could not know. Another id is an
/// error, because the answer may have been meant for another server, whose handler waits for it.
///
/// # Errors
///
/// Returns a rejection when the session has not sent the request.
// spec: HTTP-S-07, CAN-06
pub(in crate::server) fn handle_response(
    session: &HttpSession,
    response: &mcp_types::Response<'_>,
) -> Result<(), Rejection> {
    let protocol = &session.protocol;
    let is_late = || {
        let id = response.id.as_ref();
        id.is_some_and(|id| protocol.has_sent(id))
    };
    if protocol.handle_response(response) || is_late() {
        return Ok(());
    }
    let message =
        "no request with this id is pending; send a response to the server that sent the request";
    let fault = Fault::InvalidRequest(message.into());
    Err(Rejection::legacy(StatusCode::BAD_REQUEST, None, fault))
}
