//! Legacy clients without sessions: each request is independent of all others.

use http::request::Parts;
use http::{Response, StatusCode};
use mcp_core::legacy::{DEFAULT_VERSION, HandledRequest, read_stateless};
use mcp_core::{Extensions, Fault, Reply, ReplyTarget, ResultBody};
use mcp_types::{Message, ProtocolVersion, Request};

use super::super::exchange::{self, ResponseFuture, ResponseOptions};
use super::super::request::rejection::Rejection;
use super::super::response::{self, Body};
use super::batch::{self, BatchResponse, join, parse_error};
use super::context::SessionContext;
use super::lookup;
use crate::status;

/// Handles a message.
///
/// # Errors
///
/// Returns a rejection when the version is not supported, or when the message is a response.
pub(super) fn handle(
    context: &SessionContext<'_>,
    head: Box<Parts>,
    message: &Message<'_>,
) -> Result<ResponseFuture, Rejection> {
    let version = version(context, &head)?;
    match message {
        Message::Request(request) => Ok(handle_request(context, head, request, version)),
        // There is no session whose state a notification could change.
        Message::Notification(_) => Ok(response::accepted().into()),
        _ => Err(Rejection::bad_session_request(
            "responses are not accepted here: a server without sessions sends no requests",
        )),
    }
}

/// Answers a batch.
///
/// # Errors
///
/// Returns a rejection when the version is not supported or has no batches.
pub(super) async fn respond_to_batch(
    context: &SessionContext<'_>,
    head: Box<Parts>,
    body: &[u8],
) -> Result<Response<Body>, Rejection> {
    let version = version(context, &head)?;
    let messages = batch::read(body, version, &**context.service, None, head.clone())?;
    let mut responses: Vec<BatchResponse<'_>> = Vec::new();
    for message in messages {
        match message {
            Ok(Message::Request(request)) => {
                let head = head.clone();
                responses.push(Box::pin(async move {
                    handle_request(context, head, &request, version).await
                }));
            }
            Ok(_) => {}
            Err(error) => responses.push(parse_error(error, version)),
        }
    }
    Ok(join(responses).await)
}

// spec: HTTP-SL-14
fn version(context: &SessionContext<'_>, head: &Parts) -> Result<ProtocolVersion, Rejection> {
    let version = lookup::version(head, &**context.service)?;
    Ok(version.unwrap_or(DEFAULT_VERSION))
}

fn handle_request(
    context: &SessionContext<'_>,
    head: Box<Parts>,
    request: &Request<'_>,
    version: ProtocolVersion,
) -> ResponseFuture {
    let profile = context.service.profile();
    let handled = read_stateless(request, version, &profile);
    let mut target = ReplyTarget {
        id: request.id.clone(),
        profile,
        version,
    };
    let error = |target: &ReplyTarget, status: StatusCode, fault: &Fault| {
        let response = response::error(status, target.version, Some(&target.id), fault);
        response.into()
    };
    let mode = context.config.sessions.answer;
    let reply = match handled {
        Ok(HandledRequest::Call(mut inbound)) => {
            let (service, config) = (&**context.service, context.config);
            let extensions = Extensions::from(head);
            if let Err(fault) = exchange::authorize(config, service, &mut inbound, &extensions) {
                return error(&target, status::for_rejection(&fault), &fault);
            }
            let options = ResponseOptions::stateless(mode);
            return exchange::start(service, config, target, inbound, extensions, options);
        }
        Ok(HandledRequest::Reply(reply)) => reply,
        Ok(_) => Fault::internal("the request knows no answer").into(),
        Err(fault) => return error(&target, status::for_session_error(&fault), &fault),
    };
    // The reply to `initialize` is encoded for the version that it selects.
    if let Reply::Complete {
        body: ResultBody::Initialize(result),
        ..
    } = &reply
        && let Ok(selected) = result.protocol_version.parse()
    {
        target.version = selected;
    }
    exchange::ready(mode, &target, reply).into()
}
