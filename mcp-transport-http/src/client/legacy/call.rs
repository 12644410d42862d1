//! One call in a session: a POST, its answer, and what it takes to get it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::{future, stream};
use http::{HeaderMap, Response, StatusCode};
use mcp_core::{BoxFuture, ChannelError, Frame, Frames, OutgoingRequest};
use mcp_types::Method;

use super::Settings;
use super::follow::Follow;
use super::keep::{Work, keep};
use super::session::{OpenCall, Session};
use super::sse_2024;
use crate::client::answer::{self, Answer};
use crate::client::requests::Body;

/// Sends the call when first polled.
pub(super) fn frames(session: Arc<Session>, out: OutgoingRequest, settings: Settings) -> Frames {
    let opens = opens(&out);
    let entered = match session.refusal() {
        Some(error) => Err(error),
        None => session.enter(out.id.clone(), &out.body),
    };
    let call = match entered {
        Ok(call) => call,
        Err(error) => return Box::pin(stream::once(future::ready(Err(error)))),
    };
    let exchange = exchange(Arc::clone(&session), Arc::clone(&call), out, settings);
    Box::pin(Running {
        session,
        call,
        may_cancel: !opens,
        exchange: Some(Box::pin(exchange)),
        begun: false,
        error: None,
    })
}

/// `initialize` opens a session.
pub(super) fn opens(out: &OutgoingRequest) -> bool {
    Method::from_name(&out.mirrored.method) == Some(Method::Initialize)
}

/// A call whose exchange goes on while its frames are taken.
struct Running {
    session: Arc<Session>,
    call: Arc<OpenCall>,
    may_cancel: bool,
    exchange: Option<BoxFuture<'static, Result<(), ChannelError>>>,
    begun: bool,
    /// What is told after the frames that came before it.
    error: Option<ChannelError>,
}

impl Stream for Running {
    type Item = Result<Frame, ChannelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            // Also has the task woken by messages that come on other streams.
            if let Poll::Ready(Some(frame)) = this.call.queue.poll_take(cx) {
                return Poll::Ready(Some(Ok(frame)));
            }
            if let Some(error) = this.error.take() {
                return Poll::Ready(Some(Err(error)));
            }
            let Some(exchange) = &mut this.exchange else {
                return Poll::Ready(None);
            };
            this.begun = true;
            match exchange.as_mut().poll(cx) {
                Poll::Ready(ended) => {
                    this.exchange = None;
                    // What breaks after the answer breaks nothing.
                    this.error = ended.err().filter(|_| !this.call.is_answered());
                }
                Poll::Pending => match this.call.queue.take() {
                    Some(frame) => return Poll::Ready(Some(Ok(frame))),
                    None => return Poll::Pending,
                },
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.session.leave(&self.call);
        let runs = self.begun && self.exchange.is_some() && !self.call.is_answered();
        // The end of a connection says nothing to a server of this era.
        // spec: CAN-02, HTTP-SL-07, HTTP-C-12
        if runs && self.may_cancel && self.session.refusal().is_none() {
            self.session.cancel(&self.call);
        }
    }
}

async fn exchange(
    session: Arc<Session>,
    call: Arc<OpenCall>,
    out: OutgoingRequest,
    settings: Settings,
) -> Result<(), ChannelError> {
    if let Some(error) = session.refusal() {
        return Err(error);
    }
    let exchange = async {
        if opens(&out) {
            return open(&session, &call, &out, settings).await;
        }
        let response = session.post(out.body.clone(), &out.headers).await?;
        let answered = answered(&session, &call, &out.headers, response);
        tokio::select! {
            biased;
            error = session.ended() => Err(taken(error)),
            done = answered => done.map_err(taken),
        }
    };
    tokio::select! {
        biased;
        // That the server has forgotten the session is told to each call by its own answer: it says
        // whether the server has looked at the request.
        error = session.abandoned() => Err(taken(error)),
        done = exchange => done,
    }
}

/// What the end of the session means for a request that the server has taken.
fn taken(error: ChannelError) -> ChannelError {
    match error {
        ChannelError::SessionExpired => ChannelError::Broken {
            source: Some(ChannelError::SessionExpired.into()),
        },
        other => other,
    }
}

/// Reads the answer to a call until it is there.
// spec: HTTP-C-03
async fn answered(
    session: &Arc<Session>,
    call: &Arc<OpenCall>,
    caller: &HeaderMap,
    response: Response<Body>,
) -> Result<(), ChannelError> {
    if session.has_one_stream() {
        // spec: SSE-04
        answer::accepted(response, &session.http).await?;
        call.has_answer.notified().await;
        return Ok(());
    }
    match answer::read(response, &session.http).await? {
        // The caller knows that an answer was due.
        Answer::Nothing => Ok(()),
        Answer::Message(frame) => {
            session.deliver(Some(call), frame).await;
            Ok(())
        }
        Answer::Events(events) => {
            let stream = Follow::of_call(Arc::clone(session), Arc::clone(call), caller.clone());
            stream.run(Ok(events)).await
        }
    }
}

/// Opens the session: by one endpoint, or by the two of HTTP+SSE when the server knows no other
/// way.
async fn open(
    session: &Arc<Session>,
    call: &Arc<OpenCall>,
    out: &OutgoingRequest,
    settings: Settings,
) -> Result<(), ChannelError> {
    let response = session.initialize(out.body.clone(), &out.headers).await?;
    if response.status().is_success() {
        session.named_by(response.headers());
        let work = if settings.standalone {
            Work::Standalone
        } else {
            Work::Nothing
        };
        keep(session, work);
    }
    let refusal = match answered(session, call, &out.headers, response).await {
        Err(ChannelError::Status {
            status,
            excerpt,
            retry_after,
        }) if settings.http_sse && may_be_http_sse(status) => ChannelError::Status {
            status,
            excerpt,
            retry_after,
        },
        other => return other,
    };
    let Some((messages, events)) = sse_2024::open(&session.http, &out.headers).await? else {
        return Err(refusal);
    };
    session.send_to(messages);
    keep(session, Work::OneStream(Box::new(events)));
    let response = session.initialize(out.body.clone(), &out.headers).await?;
    answered(session, call, &out.headers, response).await
}

/// Statuses with which a server of HTTP+SSE answers a POST to its stream.
// spec: COMPAT-13
fn may_be_http_sse(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED
    )
}
