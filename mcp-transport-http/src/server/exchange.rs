//! The response to a call: JSON when the call ends without notifications, an event stream when it
//! sends notifications or takes longer.
//!
//! The call is polled inside the response future, without a task and without a channel. When there
//! is something to stream, the call moves into a task of its own, so that a client that does not
//! read cannot block it.

use std::future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::Either;
use http::{HeaderValue, Response, StatusCode, request};
use mcp_core::{
    BoxFuture, ClientAddress, ClientRequest, Extensions, Fault, InboundNotification,
    InboundRequest, NotificationBuffer, ParamHeaders, Reply, ReplyTarget, Service,
};
use tokio::runtime::Handle;
use tokio::time::{Sleep, sleep};

use super::call::{CallEnd, HttpCall, encode_event};
use super::config::{AnswerMode, Config};
use super::event_stream::{self, OnDisconnect, lifetime};
use super::replay::{self, StoredStream};
use super::response::{self, Body};
use super::running_calls::{CallPermit, StopReason};
use crate::peer_addr::peer_with_port;
use crate::status;

/// Options for the response to a call.
#[derive(Debug)]
pub(super) struct ResponseOptions {
    pub(super) mode: AnswerMode,
    pub(super) on_disconnect: OnDisconnect,
    /// Buffer for the call's notifications, when the session has created one.
    pub(super) notifications: Option<Arc<NotificationBuffer>>,
    /// Entry of the call among its session's running calls.
    pub(super) permit: Option<CallPermit>,
    /// Stream that stores the call's events.
    pub(super) stored_stream: Option<Arc<StoredStream>>,
}

impl ResponseOptions {
    /// Returns the options for a request without a session.
    pub(super) fn stateless(mode: AnswerMode) -> Self {
        Self {
            mode,
            on_disconnect: OnDisconnect::Cancel,
            notifications: None,
            permit: None,
            stored_stream: None,
        }
    }
}

/// Replaces the call by the one that runs, checks the caller's scopes, and asks the configured gate for permission. Returns the arguments
/// that a modern client repeats in headers.
///
/// # Errors
///
/// Returns the fault of the service or of the gate.
// spec: AUTH-S-08
pub(super) fn authorize(
    config: &Config,
    service: &dyn Service,
    request: &mut InboundRequest,
    extensions: &Extensions,
) -> Result<Option<Arc<ParamHeaders>>, Fault> {
    request.replace_call(service);
    let plan = match &request.request {
        ClientRequest::Call(call) => service.admit(call, &request.facts, extensions)?,
        _ => None,
    };
    if let Some(gate) = &config.gate {
        request.authorize(gate, extensions.get())?;
    }
    Ok(plan)
}

/// Starts a notification handler, if the gate admits it.
///
/// # Errors
///
/// Returns the gate's fault.
pub(super) fn start_notification(
    service: &dyn Service,
    config: &Config,
    inbound: InboundNotification,
    head: Box<request::Parts>,
) -> Result<ResponseFuture, Fault> {
    let handling = inbound.serve(service, config.gate.as_deref(), head.into())?;
    let response = handling.map(|()| response::accepted());
    Ok(ResponseFuture::Other(Box::pin(response)))
}

/// Starts an authorized call.
pub(super) fn start(
    service: &dyn Service,
    config: &Arc<Config>,
    target: ReplyTarget,
    mut request: InboundRequest,
    mut extensions: Extensions,
    options: ResponseOptions,
) -> ResponseFuture {
    let expiry = lifetime::expiry(extensions.get());
    let header_count = extensions.parts().map_or(0, |head| head.headers.len());
    if let Some((ip, port)) = extensions.parts().and_then(peer_with_port) {
        extensions.client_address = Some(ClientAddress { ip, port });
    }
    limit_subscription(&mut request, config, expiry);
    let (notifications, permit) = (options.notifications, options.permit);
    let call = HttpCall::start(service, target, request, extensions, notifications, permit);
    if let Some(buffer) = call.notifications() {
        buffer.count_in(&config.streams.counters.queued);
    }
    ResponseFuture::Call(Box::new(CallResponse {
        call: Some(call),
        config: Arc::clone(config),
        mode: options.mode,
        on_disconnect: options.on_disconnect,
        stored_stream: options.stored_stream,
        expiry,
        header_count,
        session_id: None,
        timer: None,
        storing: None,
    }))
}

/// Time between two notifications about changes. Changes in between are combined.
const CHANGE_INTERVAL: Duration = Duration::from_millis(50);

/// Sets a subscription's timers. It ends properly when the server drains, at the maximum stream
/// age, and when its caller's authorization expires.
// spec: SUB-09
fn limit_subscription(request: &mut InboundRequest, config: &Config, expiry: Option<SystemTime>) {
    let pause = || Box::pin(sleep(CHANGE_INTERVAL)) as _;
    request.limit_subscription(pause, || {
        let end = lifetime::stream_end(config, expiry);
        let counted = Arc::clone(&config.streams.counters.subscriptions);
        async move {
            end.await;
            drop(counted);
        }
    });
}

/// Returns the response with a reply that needs no call.
pub(super) fn ready(mode: AnswerMode, target: &ReplyTarget, reply: Reply) -> Response<Body> {
    match mode {
        AnswerMode::AlwaysSse => {
            response::complete_events(encode_event(target, reply, new_message()))
        }
        AnswerMode::Auto | AnswerMode::AlwaysJson => {
            response::json(StatusCode::OK, target.encode(reply, new_message()))
        }
    }
}

/// The response to a message, for the request that carried it.
#[must_use = "futures do nothing unless polled"]
pub(super) enum ResponseFuture {
    /// The message started a call. Boxed, because it passes several functions.
    Call(Box<CallResponse>),
    /// The response to another message. That of a notification follows the end of its handler, so that a
    /// client cannot start more handlers than it has requests.
    Other(BoxFuture<'static, Response<Body>>),
}

impl From<Response<Body>> for ResponseFuture {
    fn from(response: Response<Body>) -> Self {
        Self::Other(Box::pin(future::ready(response)))
    }
}

impl ResponseFuture {
    /// Sets the session id for the header of the response.
    pub(super) fn with_session_id(self, id: Option<HeaderValue>) -> Self {
        match self {
            Self::Call(mut call) => {
                call.session_id = id;
                Self::Call(call)
            }
            Self::Other(response) => Self::Other(Box::pin(response.map(move |mut response| {
                response::set_session_id(&mut response, id);
                response
            }))),
        }
    }

    /// Drops the future without running its call, which has not been polled.
    pub(super) fn discard(self) {
        if let Self::Call(mut call) = self {
            call.call = None;
        }
    }
}

impl Future for ResponseFuture {
    type Output = Response<Body>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response<Body>> {
        match &mut *self {
            Self::Call(call) => call.poll_response(cx),
            Self::Other(response) => response.as_mut().poll(cx),
        }
    }
}

/// Returns a buffer for a message. Most messages fit without growing it.
fn new_message() -> Vec<u8> {
    Vec::with_capacity(512)
}

/// A started call, and the options for its response.
///
/// Dropping it cancels the call of a modern client. The call of a legacy client continues in a task.
pub(super) struct CallResponse {
    /// `None` after the response was created.
    call: Option<HttpCall>,
    config: Arc<Config>,
    mode: AnswerMode,
    on_disconnect: OnDisconnect,
    stored_stream: Option<Arc<StoredStream>>,
    /// End of the caller's authorization.
    expiry: Option<SystemTime>,
    /// Number of headers in the request.
    header_count: usize,
    /// The session id, for the header of the response.
    session_id: Option<HeaderValue>,
    /// Time after which the response is an event stream. `None` until the first poll: most calls are ready then.
    timer: Option<Pin<Box<Sleep>>>,
    /// The response of an ended call whose events are stored first.
    storing: Option<BoxFuture<'static, Response<Body>>>,
}

impl CallResponse {
    /// Polls the call until it has ended, or until its response must be an event stream.
    fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<Response<Body>> {
        let ended = self.call.as_mut().map(|call| call.poll_end(cx));
        let mut response = if let Some(Poll::Ready(end)) = ended {
            match self.end(end) {
                Either::Left(response) => response,
                Either::Right(stored) => ready!(self.storing.insert(stored).as_mut().poll(cx)),
            }
        } else if let Some(stored) = &mut self.storing {
            ready!(stored.as_mut().poll(cx))
        } else {
            let first = ready!(self.poll_events(cx));
            self.stream(first)
        };
        response::set_session_id(&mut response, self.session_id.take());
        Poll::Ready(response)
    }

    /// Waits until the response must be an event stream. Returns the events so far.
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Bytes> {
        if let Some(call) = &self.call
            && let Poll::Ready(first) = call.poll_notifications(cx)
        {
            return Poll::Ready(first);
        }
        let stored_stream = self.stored_stream.as_deref();
        if stored_stream.is_some_and(StoredStream::is_released) {
            return Poll::Ready(Bytes::new());
        }
        let commit_after = match self.mode {
            AnswerMode::Auto => self.config.streams.commit_after,
            AnswerMode::AlwaysSse => Duration::ZERO,
            AnswerMode::AlwaysJson => return Poll::Pending,
        };
        let timer = || Box::pin(sleep(commit_after));
        let elapsed = self.timer.get_or_insert_with(timer).as_mut().poll(cx);
        elapsed.map(|()| Bytes::new())
    }

    /// Returns the response of a call that has ended before the response was an event stream. When its
    /// events must be stored first, that is a future.
    // spec: HTTP-SM-12, HTTP-SM-14, GAP-12
    fn end(&mut self, end: CallEnd) -> Either<Response<Body>, BoxFuture<'static, Response<Body>>> {
        let Some(call) = self.call.take() else {
            return Either::Left(response::no_events());
        };
        let target = call.target();
        let has_ended = matches!(end, CallEnd::Stopped(StopReason::SessionEnded));
        let Some(reply) = end.into_reply() else {
            return Either::Left(response::no_events());
        };
        let status = match &reply {
            _ if has_ended => StatusCode::NOT_FOUND,
            Reply::Fault(fault) => status::for_reply(fault, target.version),
            _ => StatusCode::OK,
        };
        let events = call.notifications().map(|buffer| buffer.drain());
        let events = events.unwrap_or_default();
        // The status of an event stream is always 200. An error with another status is sent as JSON,
        // and the notifications before it are discarded.
        let is_json = events.is_empty() && self.mode != AnswerMode::AlwaysSse;
        if is_json || status != StatusCode::OK {
            if let Reply::Fault(fault) = &reply {
                // A layer that counts calls logs its refusals itself.
                if matches!(fault, Fault::Overloaded { .. }) {
                    response::log_overload(fault);
                }
                return Either::Left(response::fault(
                    status,
                    target.version,
                    Some(&target.id),
                    fault,
                ));
            }
            let message = target.encode(reply, new_message());
            let response = response::json_with_capacity(self.header_count, status, message);
            return Either::Left(response);
        }
        let (version, events) = (target.version, encode_event(target, reply, events.into()));
        match self.stored_stream.take() {
            None => Either::Left(response::complete_events(events)),
            Some(stream) => {
                let (events, config) = (events.into_bytes(), Arc::clone(&self.config));
                Either::Right(Box::pin(async move {
                    replay::complete(stream, version, events, &config).await
                }))
            }
        }
    }

    /// Moves the call into a task and returns the response with the stream of its events. `first`
    /// are the events so far.
    fn stream(&mut self, first: Bytes) -> Response<Body> {
        let Some(call) = self.call.take() else {
            return response::no_events();
        };
        let (config, expiry) = (&self.config, self.expiry);
        match self.stored_stream.take() {
            None => {
                let on_disconnect = self.on_disconnect;
                let events = event_stream::start(call, first, config, on_disconnect, expiry);
                response::events(events)
            }
            Some(stream) => {
                let response = replay::running(stream, call, first, config);
                // The call continues: the client resumes the stream with a new token.
                match expiry {
                    Some(expiry) => response::end_stream_on(response, lifetime::expired(expiry)),
                    None => response,
                }
            }
        }
    }
}

/// The client has disconnected before the response. The call of a legacy client continues in a task,
/// unless the runtime has ended: up to 2025-11-25, only `notifications/cancelled` cancels a call. Most calls are
/// ready at their first poll, so the task exists only after a disconnect.
// spec: HTTP-SL-07
impl Drop for CallResponse {
    fn drop(&mut self) {
        if self.on_disconnect == OnDisconnect::Continue
            && self.call.is_some()
            && Handle::try_current().is_ok()
        {
            drop(self.stream(Bytes::new()));
        }
    }
}
