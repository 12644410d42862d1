//! One call in a session, from its POST to its response.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::{future, stream};
use http::{HeaderMap, Response, StatusCode};
use mcp_core::{BoxFuture, CancelHook, ChannelError, Frame, Frames, OutgoingRequest};
use mcp_types::Method;

use super::ended::{self, Checked, after_acceptance};
use super::resumable_stream::ResumableStream;
use super::session::{PendingCall, Session, SessionSettings};
use super::sse_2024;
use super::task::{self, BackgroundStream};
use crate::client::http_client::HttpBody;
use crate::client::response::{self, ResponseBody};

/// Returns the frames of a call. The request is sent when the stream is first polled.
pub(super) fn frames(
    session: Arc<Session>,
    mut out: OutgoingRequest,
    settings: SessionSettings,
) -> Frames {
    let may_cancel = !is_initialize(&out);
    let on_cancel = out.on_cancel.take();
    let inserted = match session.end_error() {
        Some(error) => Err(error),
        None => session.insert_call(out.id.clone(), &out.body),
    };
    let call = match inserted {
        Ok(call) => call,
        Err(error) => return Box::pin(stream::once(future::ready(Err(error)))),
    };
    let exchange = exchange(Arc::clone(&session), Arc::clone(&call), out, settings);
    Box::pin(CallStream {
        session,
        call,
        may_cancel,
        on_cancel,
        exchange: Some(Box::pin(exchange)),
        started: false,
        error: None,
    })
}

pub(super) fn is_initialize(out: &OutgoingRequest) -> bool {
    Method::from_name(&out.mirrored.method) == Some(Method::Initialize)
}

/// The frames of a call. Polling it also drives the HTTP exchange.
struct CallStream {
    session: Arc<Session>,
    call: Arc<PendingCall>,
    may_cancel: bool,
    on_cancel: Option<CancelHook>,
    exchange: Option<BoxFuture<'static, Result<(), ChannelError>>>,
    started: bool,
    /// The exchange's error, returned after the queued frames.
    error: Option<ChannelError>,
}

impl Stream for CallStream {
    type Item = Result<Frame, ChannelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            // Registers the waker for messages that arrive on other streams, too.
            match this.call.queue.poll_pop(cx) {
                Poll::Ready(Some(frame)) => return Poll::Ready(Some(Ok(frame))),
                // Dropping the frames cancels the call at the server.
                Poll::Ready(None) => return Poll::Ready(this.call.take_failure().map(Err)),
                Poll::Pending => {}
            }
            if let Some(error) = this.error.take() {
                return Poll::Ready(Some(Err(error)));
            }
            let Some(exchange) = &mut this.exchange else {
                return Poll::Ready(None);
            };
            this.started = true;
            match exchange.as_mut().poll(cx) {
                Poll::Ready(ended) => {
                    this.exchange = None;
                    // An error after the response is ignored.
                    this.error = ended.err().filter(|_| !this.call.has_response());
                }
                Poll::Pending => match this.call.queue.pop() {
                    Some(frame) => return Poll::Ready(Some(Ok(frame))),
                    None => return Poll::Pending,
                },
            }
        }
    }
}

impl Drop for CallStream {
    fn drop(&mut self) {
        self.session.remove_call(&self.call);
        let runs = self.started && self.exchange.is_some() && !self.call.has_response();
        // Closing the connection does not cancel a request in these revisions.
        // spec: CAN-02, HTTP-SL-07, HTTP-C-12
        if runs && self.may_cancel && self.session.end_error().is_none() {
            self.session.cancel(&self.call, self.on_cancel.as_ref());
        }
    }
}

async fn exchange(
    session: Arc<Session>,
    call: Arc<PendingCall>,
    out: OutgoingRequest,
    settings: SessionSettings,
) -> Result<(), ChannelError> {
    if let Some(error) = session.end_error() {
        return Err(error);
    }
    let exchange = async {
        if is_initialize(&out) {
            return initialize(&session, &call, &out, settings).await;
        }
        let response = session.post(out.body.clone(), &out.headers).await?;
        let response = match ended::check(&session, response, &out.id).await? {
            Checked::Unread(response) => response,
            Checked::Answer(frame) => {
                session.deliver(Some(&call), frame).await;
                return Ok(());
            }
        };
        let received = receive(&session, &call, &out.headers, response);
        tokio::select! {
            biased;
            error = session.ended() => Err(after_acceptance(error)),
            received = received => received.map_err(after_acceptance),
        }
    };
    tokio::select! {
        biased;
        // Before the server has answered the POST, the expiry of the session does not end the
        // exchange: the status of the POST tells whether the server has accepted the request.
        error = session.ended_locally() => Err(after_acceptance(error)),
        done = exchange => done,
    }
}

/// Receives the messages of a call until its response has arrived.
async fn receive(
    session: &Arc<Session>,
    call: &Arc<PendingCall>,
    call_headers: &HeaderMap,
    response: Response<HttpBody>,
) -> Result<(), ChannelError> {
    if session.is_http_sse() {
        // spec: SSE-04
        response::check_accepted(response, &session.http).await?;
        call.response_arrived.notified().await;
        return Ok(());
    }
    match response::read(response, &session.http).await? {
        // The caller reports the missing response.
        ResponseBody::Empty => Ok(()),
        ResponseBody::Message(frame) => {
            session.deliver(Some(call), frame).await;
            Ok(())
        }
        ResponseBody::Events(events) => {
            let (session, call) = (Arc::clone(session), Arc::clone(call));
            let stream = ResumableStream::for_call(session, call, call_headers.clone());
            stream.run(Ok(events)).await
        }
    }
}

/// Opens the session over Streamable HTTP, or over HTTP+SSE when the server refuses that.
async fn initialize(
    session: &Arc<Session>,
    call: &Arc<PendingCall>,
    out: &OutgoingRequest,
    settings: SessionSettings,
) -> Result<(), ChannelError> {
    let response = session
        .post_initialize(out.body.clone(), &out.headers)
        .await?;
    if response.status().is_success() {
        session.set_id_from(response.headers());
        let stream = if settings.standalone {
            BackgroundStream::Standalone
        } else {
            BackgroundStream::None
        };
        task::spawn(session, stream);
    }
    let refusal = match receive(session, call, &out.headers, response).await {
        Err(refusal) if settings.http_sse && may_be_http_sse(&refusal) => refusal,
        other => return other,
    };
    let Some((message_uri, events)) = sse_2024::open(&session.http, &out.headers).await? else {
        return Err(refusal);
    };
    session.set_message_uri(message_uri);
    task::spawn(session, BackgroundStream::HttpSse(Box::new(events)));
    let response = session
        .post_initialize(out.body.clone(), &out.headers)
        .await?;
    receive(session, call, &out.headers, response).await
}

/// Returns whether an HTTP+SSE server may answer a POST to its stream URL with this status.
// spec: COMPAT-13
fn may_be_http_sse(refusal: &ChannelError) -> bool {
    use StatusCode as S;
    matches!(
        refusal,
        ChannelError::Status {
            status: S::BAD_REQUEST | S::NOT_FOUND | S::METHOD_NOT_ALLOWED,
            ..
        }
    )
}
