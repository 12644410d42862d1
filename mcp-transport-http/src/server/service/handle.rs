//! One request: check the head, read the body, classify the message, respond.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use mcp_core::{
    Call, ClientRequest, Extensions, Fault, HeaderMismatch, InboundRequest, Panicked, ParamHeaders,
    ReplyTarget, ServerProfile, Service,
};
use mcp_types::Message;

use super::super::config::{AnswerMode, SessionMode};
use super::super::event_stream::lifetime;
use super::super::exchange::{self, ResponseFuture, ResponseOptions};
use super::super::request::body::BodyError;
use super::super::request::rejection::Rejection;
use super::super::request::route::{self, Route};
use super::super::request::{self, guard};
use super::super::response::{self, Body};
use super::super::session::Target;
use super::super::{session, sse_2024};
use super::endpoint::EndpointState;
use crate::headers::{self, McpHeaders, names};

/// Responds to a request. The caller catches a panic and answers it with [`panicked`].
pub(super) async fn handle<B: http_body::Body>(
    endpoint: Arc<EndpointState>,
    head: Box<Parts>,
    body: B,
) -> Response<Body> {
    let mut body = pin!(body);
    let is_browser = head.method == Method::GET && guard::is_page_request(&head.headers);
    if let Err(rejection) = check_head(&endpoint, &head) {
        let refused = reject(&endpoint, rejection, &head.headers, body).await;
        return response::for_user(refused, is_browser);
    }
    if matches!(head.method, Method::GET | Method::DELETE) {
        // Boxed so that it does not enlarge the POST future.
        let answered = Box::pin(get_or_delete(&endpoint, head)).await;
        let answered = answered.unwrap_or_else(|rejection| refuse(&endpoint, rejection));
        return response::for_user(answered, is_browser);
    }
    let limits = endpoint.config.body_limits();
    let (message, reserved) = match request::body::read(body.as_mut(), limits).await {
        Ok(read) => read,
        Err(error) => {
            let rejection = unreadable(error, &endpoint);
            return reject(&endpoint, rejection, &head.headers, body).await;
        }
    };
    let response = match start(&endpoint, head, &message).await {
        Ok(response) => response,
        Err(rejection) => return refuse(&endpoint, rejection),
    };
    // The call does not need the body: free it before the call waits.
    drop((message, reserved));
    response.await
}

fn refuse(endpoint: &EndpointState, rejection: Rejection) -> Response<Body> {
    endpoint.config.streams.counters.refuse(rejection.status);
    rejection.into_response()
}

/// Returns the response to a request whose closure or service of the user panicked, such as that of
/// [`per_request`](super::StreamableHttp::per_request).
pub(super) fn panicked(panic: &Panicked) -> Response<Body> {
    tracing::error!(panic = %mcp_types::escaped(&panic), "a request was not handled");
    Rejection::modern(None, Fault::internal("internal error")).into_response()
}

/// Rejects a request whose body was not read, or not completely.
async fn reject<B: http_body::Body>(
    endpoint: &EndpointState,
    rejection: Rejection,
    headers: &HeaderMap,
    body: Pin<&mut B>,
) -> Response<Body> {
    let limit = endpoint.config.guard.body_limit.saturating_mul(2);
    request::body::discard(headers, body, limit).await;
    refuse(endpoint, rejection)
}

/// Checks a request before its body is read.
// spec: SSE-05
fn check_head(endpoint: &EndpointState, head: &Parts) -> Result<(), Rejection> {
    let guard = &endpoint.config.guard;
    let has_sessions = endpoint.config.sessions.mode == SessionMode::InMemory;
    if has_sessions && matches!(head.method, Method::GET | Method::DELETE) {
        return guard.check_host_and_origin(head);
    }
    let checked = match sse_connection(endpoint, head) {
        Some(_) => guard.check_one_way_post(head),
        None => guard.check_post(head),
    };
    checked.map_err(|rejection| {
        let is_wrong_method = rejection.status == StatusCode::METHOD_NOT_ALLOWED;
        let serves_sessions = || {
            has_sessions
                && endpoint.serves_legacy(&endpoint.services.service(head, &mut None).profile())
        };
        if is_wrong_method && serves_sessions() {
            rejection.with_header(names::ALLOW, names::ALLOW_ALL)
        } else {
            rejection
        }
    })
}

/// The wait of a client whose body found no budget.
const BODY_WAIT: Duration = Duration::from_secs(1);

fn unreadable(error: BodyError, endpoint: &EndpointState) -> Rejection {
    match error {
        BodyError::TooLarge => guard::too_large(endpoint.config.guard.body_limit),
        BodyError::Timeout => Rejection::http(StatusCode::REQUEST_TIMEOUT, error.to_string()),
        BodyError::Busy => Rejection::modern(None, Fault::overloaded(error.to_string(), BODY_WAIT)),
        BodyError::TooManyParts | BodyError::Incomplete => {
            Rejection::http(StatusCode::BAD_REQUEST, error.to_string())
        }
    }
}

/// Returns the id of the HTTP+SSE connection that a POST belongs to.
fn sse_connection<'a>(endpoint: &EndpointState, head: &'a Parts) -> Option<&'a str> {
    if endpoint.config.sessions.http_sse {
        sse_2024::connection_id(head)
    } else {
        None
    }
}

/// Handles the message of a POST. A request that starts a call returns the call.
async fn start(
    endpoint: &EndpointState,
    head: Box<Parts>,
    message: &Bytes,
) -> Result<ResponseFuture, Rejection> {
    let mut own = None;
    let service = endpoint.services.service(&head, &mut own);
    if sse_connection(endpoint, &head).is_some() {
        let context = endpoint.session_context(service);
        let connections = &endpoint.sse_connections;
        return sse_2024::post(connections, &context, head, message);
    }
    let headers = McpHeaders::collect(&head.headers);
    let profile = endpoint.profile(&**service);
    let serves_legacy = endpoint.serves_legacy(&profile);
    let route = match route::route(&headers, message, &profile, serves_legacy) {
        Ok(route) => route,
        Err(rejection) => {
            // Boxed like the futures of batches.
            let ended = end_answered(endpoint, service, &profile, head, message, &rejection);
            Box::pin(ended).await;
            return Err(rejection);
        }
    };
    // `None` for a batch. No branch awaits: the future would contain the route.
    let legacy = match route {
        Route::Modern { id, request } => {
            let version = request.facts.version;
            let target = ReplyTarget {
                id,
                profile,
                version,
            };
            return start_modern(endpoint, &**service, head, target, request);
        }
        Route::Legacy(message) => Some(message),
        Route::LegacyBatch => None,
        Route::Notification(None) => return Ok(response::accepted().into()),
        Route::Notification(Some(inbound)) => {
            let (config, service) = (&endpoint.config, &**service);
            return exchange::start_notification(service, config, inbound, head)
                .map_err(|fault| Rejection::modern(None, fault));
        }
    };
    let context = endpoint.session_context(service);
    let Some(legacy) = legacy else {
        let response = Box::pin(session::post_batch(&context, head, message)).await?;
        return Ok(response.into());
    };
    if context.config.sessions.store.is_some() {
        Box::pin(session::load(&context, &head, &headers)).await?;
    }
    let target = session::find_target(&context, &head, &headers, &legacy)?;
    session::post(&context, target, head, &legacy).await
}

/// Ends the request to a session's client whose response was refused: the request would wait until its timeout.
async fn end_answered(
    endpoint: &EndpointState,
    service: &Arc<dyn Service>,
    profile: &ServerProfile,
    head: Box<Parts>,
    message: &Bytes,
    rejection: &Rejection,
) {
    let Some(response) = rejection.as_response(message) else {
        return;
    };
    if !endpoint.serves_legacy(profile) {
        return;
    }
    let context = endpoint.session_context(service);
    let headers = McpHeaders::collect(&head.headers);
    if session::load(&context, &head, &headers).await.is_err() {
        return;
    }
    let message = Message::Response(response);
    if let Ok(target @ Target::Session { .. }) =
        session::find_target(&context, &head, &headers, &message)
    {
        // An error means that no such request is pending.
        drop(session::post(&context, target, head, &message).await);
    }
}

fn start_modern(
    endpoint: &EndpointState,
    service: &dyn Service,
    head: Box<Parts>,
    target: ReplyTarget,
    mut request: InboundRequest,
) -> Result<ResponseFuture, Rejection> {
    let config = &endpoint.config;
    let mut extensions = Extensions::from(head);
    // Request states that one service has sealed are valid for the next one.
    if let Some(identity) = endpoint.services.common_identity() {
        extensions.insert(identity);
    }
    let plan = exchange::authorize(config, service, &mut request, &extensions)
        .map_err(|fault| Rejection::modern(Some(target.id.clone()), fault))?;
    // The client of a replaced call does not know the headers. Those that it sends must be true: a proxy may read them.
    let is_replaced = request.replace_call(service);
    let plan = plan.filter(|_| !is_replaced || has_param_headers(&extensions));
    // After the gate: a refused caller must not learn the arguments of a tool.
    if let Some(plan) = plan
        && let Some(mismatch) = header_mismatch(&plan, &request, &extensions)
    {
        extensions.insert(mismatch);
    }
    let options = ResponseOptions::stateless(AnswerMode::Auto);
    Ok(exchange::start(
        service, config, target, request, extensions, options,
    ))
}

fn has_param_headers(extensions: &Extensions) -> bool {
    let names = extensions.parts().map(|head| head.headers.keys());
    let mut names = names.into_iter().flatten();
    names.any(|name| name.as_str().starts_with(names::MCP_PARAM_PREFIX))
}

/// Compares the headers of a `tools/call` with its arguments. The service reports a mismatch, if the
/// caller may see the tool.
// spec: XHDR-17
fn header_mismatch(
    plan: &ParamHeaders,
    request: &InboundRequest,
    extensions: &Extensions,
) -> Option<HeaderMismatch> {
    let ClientRequest::Call(Call::CallTool(params)) = &request.request else {
        return None;
    };
    let headers = &extensions.parts()?.headers;
    let compared = headers::verify_arguments(headers, plan, params.arguments.as_ref());
    compared.err().map(HeaderMismatch)
}

/// Responds to a GET, whose stream ends when the authorization of the caller expires, or to a DELETE.
async fn get_or_delete(
    endpoint: &EndpointState,
    head: Box<Parts>,
) -> Result<Response<Body>, Rejection> {
    let mut own = None;
    let service = endpoint.services.service(&head, &mut own);
    if !endpoint.serves_legacy(&service.profile()) {
        return Err(guard::method_not_allowed(&head.method));
    }
    let context = endpoint.session_context(service);
    if head.method == Method::DELETE {
        return session::delete(&context, &head).await;
    }
    guard::check_accepts_events(&head.headers)?;
    let expiry = lifetime::expiry(head.extensions.get());
    let session_id = McpHeaders::collect(&head.headers).session_id.first;
    let response = if endpoint.config.sessions.http_sse && session_id.is_none() {
        sse_2024::open(&endpoint.sse_connections, &context, head)?
    } else {
        session::get(&context, head).await?
    };
    Ok(match expiry {
        Some(expiry) => response::end_stream_on(response, lifetime::expired(expiry)),
        None => response,
    })
}
