//! POST, GET and DELETE of legacy clients.

use std::sync::Arc;

use http::request::Parts;
use http::{Response, StatusCode};
use mcp_core::store::RelayEvent;
use mcp_core::{ClientNotification, Fault};
use mcp_types::{Message, Method};

use super::super::config::{SessionEnd, SessionMode};
use super::super::exchange::ResponseFuture;
use super::super::request::rejection::Rejection;
use super::super::response::{self, Body};
use super::batch::{self, BatchResponse, join, parse_error};
use super::context::SessionContext;
use super::http_session::HttpSession;
use super::lookup::{self, Target};
use super::{get_stream, message, open, relay, stateless, store};
use crate::headers::{McpHeaders, names};

/// Handles a POST with one message.
///
/// # Errors
///
/// Returns a rejection when the message is invalid, or when the session store fails.
pub(in crate::server) async fn post(
    context: &SessionContext<'_>,
    target: Target<'_>,
    head: Box<Parts>,
    message: &Message<'_>,
) -> Result<ResponseFuture, Rejection> {
    match target {
        Target::Stateless => stateless::handle(context, head, message),
        Target::New(request) => {
            // Boxed so that `initialize` does not enlarge the POST future.
            let response = Box::pin(open::open(context, &head, request)).await?;
            Ok(response.into())
        }
        Target::Session { session, id } => {
            // Boxed like the other futures of servers with a store.
            if context.config.sessions.relay.is_some()
                && Box::pin(relay_message(&session, message)).await?
            {
                return Ok(response::accepted().into());
            }
            let response = message::handle(&session, head, message)?;
            if context.config.sessions.store.is_some()
                && let Err(rejection) = Box::pin(save(context, &session)).await
            {
                response.discard();
                return Err(rejection);
            }
            Ok(response.with_session_id(id))
        }
    }
}

/// Passes a message to the other servers, if it concerns them. Returns true if it was a response for
/// one of them.
///
/// # Errors
///
/// Returns a rejection when it is a response that was not delivered.
async fn relay_message(session: &HttpSession, message: &Message<'_>) -> Result<bool, Rejection> {
    match message {
        Message::Response(response) => Box::pin(relay::forward_response(session, response)).await,
        Message::Notification(notification) => {
            let version = session.protocol.version();
            if let Some(ClientNotification::Cancelled(cancelled)) =
                ClientNotification::decode(notification, version)
                && let Some(id) = cancelled.request_id
            {
                Box::pin(relay::notify(session, RelayEvent::Cancelled(id))).await;
            }
            Ok(false)
        }
        _ => Ok(false),
    }
}

/// Saves the session state, and notifies the other servers if it has changed.
async fn save(context: &SessionContext<'_>, session: &HttpSession) -> Result<(), Rejection> {
    if store::save(context.table, session).await? {
        Box::pin(relay::notify(session, RelayEvent::Changed)).await;
    }
    Ok(())
}

/// Handles a POST with a message batch.
///
/// # Errors
///
/// Returns a rejection when the batch is invalid, or when its session is not available.
// spec: BASE-14
pub(in crate::server) async fn post_batch(
    context: &SessionContext<'_>,
    head: Box<Parts>,
    body: &[u8],
) -> Result<Response<Body>, Rejection> {
    if context.config.sessions.mode != SessionMode::InMemory {
        return stateless::respond_to_batch(context, head, body).await;
    }
    let headers = McpHeaders::collect(&head.headers);
    if headers.session_id.first.is_none() && opens_session(body) {
        let message = "a session begins with a message of its own, not in a batch";
        let fault = Fault::InvalidRequest(message.into());
        return Err(Rejection::legacy(StatusCode::BAD_REQUEST, None, fault));
    }
    let session = find(context, &head).await?;
    let id = response::session_id(&head);
    let response = respond_to_batch(&session, head, body).await;
    // The batch has run, so its responses are sent also when the store fails. The next request saves the state.
    drop(save(context, &session).await);
    let mut response = response?;
    response::set_session_id(&mut response, id);
    Ok(response)
}

/// Returns true for a batch with an `initialize`.
// spec: BASE-15
fn opens_session(body: &[u8]) -> bool {
    let texts = Message::split_batch(body).unwrap_or_default();
    texts.into_iter().any(|text| {
        let message = Message::parse(text.as_bytes());
        matches!(message, Ok(Message::Request(request)) if request.method == Method::Initialize.as_str())
    })
}

// spec: BASE-14, HTTP-SL-01, HTTP-SL-02
async fn respond_to_batch(
    session: &Arc<HttpSession>,
    head: Box<Parts>,
    body: &[u8],
) -> Result<Response<Body>, Rejection> {
    let version = session.protocol.version();
    let facts = session.protocol.facts();
    let messages = batch::read(body, version, &*session.service, Some(&facts), head.clone())?;
    let _activity = session.calls.keep_alive();
    let mut responses: Vec<BatchResponse<'_>> = Vec::new();
    for message in messages {
        match message {
            Ok(Message::Request(request)) => {
                // A batch has the events of several calls in one stream: they cannot be resumed.
                let stored_stream = None;
                let head = head.clone();
                responses.push(Box::pin(async move {
                    message::handle_request(session, head, &request, stored_stream).await
                }));
            }
            Ok(message)
                if session.settings().relay.is_some()
                    && Box::pin(relay_message(session, &message)).await? => {}
            Ok(Message::Notification(notification)) => {
                let handled = message::handle_notification(session, head.clone(), &notification);
                // A batch has no error for a refused notification.
                if let Ok(response) = handled {
                    responses.push(Box::pin(response));
                }
            }
            // An unexpected response is ignored, because a batch has no common error.
            Ok(Message::Response(response)) => {
                drop(message::handle_response(session, &response));
            }
            Ok(_) => {}
            Err(error) => responses.push(parse_error(error, version)),
        }
    }
    Ok(join(responses).await)
}

/// Handles a GET: opens an event stream.
///
/// # Errors
///
/// Returns a rejection when the session or the requested events are not available.
pub(in crate::server) async fn get(
    context: &SessionContext<'_>,
    head: Box<Parts>,
) -> Result<Response<Body>, Rejection> {
    let has_other_nodes = context.config.sessions.store.is_some();
    let resumes = has_other_nodes && head.headers.contains_key(names::LAST_EVENT_ID);
    let opened = async {
        let session = find(context, &head).await?;
        let id = response::session_id(&head);
        let mut response = get_stream::open(&session, head, context.config).await?;
        response::set_session_id(&mut response, id);
        Ok::<_, Rejection>(response)
    };
    match opened.await {
        Err(rejection) if resumes => Err(rejection.retried_elsewhere()),
        opened => opened,
    }
}

/// Handles a DELETE: ends the session.
///
/// # Errors
///
/// Returns a rejection when the session does not exist, or when the session store fails.
// spec: SESS-07, SESS-09
pub(in crate::server) async fn delete(
    context: &SessionContext<'_>,
    head: &Parts,
) -> Result<Response<Body>, Rejection> {
    let session = find(context, head).await?;
    // The store comes first: a request that arrives in between must not continue the session.
    store::remove(&session).await?;
    context.table.end(&session.id, SessionEnd::Deleted);
    relay::notify(&session, RelayEvent::Ended).await;
    Ok(response::empty(StatusCode::OK))
}

async fn find(context: &SessionContext<'_>, head: &Parts) -> Result<Arc<HttpSession>, Rejection> {
    let headers = McpHeaders::collect(&head.headers);
    lookup::load(context, head, &headers).await?;
    lookup::find(context, head, &headers)
}
