//! Asking the client of a session while a call of it runs.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation>

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_channel::oneshot;
use mcp_types::{Cancelled, InputRequest, InputResponse, RequestId};

use super::Session;
use crate::{
    BackChannel, BackChannelError, BoxFuture, ClientResponse, NotificationBuffer,
    ServerNotification, ServerRequest,
};

/// Where messages to the client go: the stream of the call that they belong to, or the pipe.
pub trait MessageSink: Send + Sync + 'static {
    /// Takes a message whole; never waits. `false` when it can no longer reach the client.
    fn send(&self, message: Bytes) -> bool;
}

impl MessageSink for NotificationBuffer {
    fn send(&self, message: Bytes) -> bool {
        self.push(&message)
    }
}

/// The way of one call to its client.
pub(super) struct CallChannel {
    pub(super) session: Arc<Session>,
    pub(super) sink: Arc<dyn MessageSink>,
}

impl BackChannel for CallChannel {
    fn ask(
        self: Arc<Self>,
        request: InputRequest,
    ) -> BoxFuture<'static, Result<InputResponse, BackChannelError>> {
        answer(self.session.send_request(request.into(), &self.sink))
    }
}

/// A call whose notifications gather in a buffer of its own asks there.
impl BackChannel for NotificationBuffer {
    // spec: HTTP-SL-04
    fn ask(
        self: Arc<Self>,
        request: InputRequest,
    ) -> BoxFuture<'static, Result<InputResponse, BackChannelError>> {
        let Some(session) = self.session().cloned() else {
            return Box::pin(ready(Err(BackChannelError::Closed)));
        };
        let sink: Arc<dyn MessageSink> = self;
        answer(session.send_request(request.into(), &sink))
    }
}

fn answer(
    asked: Result<PendingResponse, BackChannelError>,
) -> BoxFuture<'static, Result<InputResponse, BackChannelError>> {
    Box::pin(async move {
        match asked?.await? {
            ClientResponse::Input(response) => Ok(response),
            ClientResponse::Fault(fault) => Err(BackChannelError::Refused(fault)),
            ClientResponse::Pong => Err(BackChannelError::Malformed("no input".to_owned())),
        }
    })
}

/// A question that waits for its answer.
pub(super) struct Waiting {
    pub(super) ask: Arc<ServerRequest>,
    pub(super) answer: oneshot::Sender<Result<ClientResponse, BackChannelError>>,
    pub(super) sink: Arc<dyn MessageSink>,
}

impl Waiting {
    pub(super) fn settle(self, answer: Result<ClientResponse, BackChannelError>) {
        // Whoever asked may have gone.
        let _ = self.answer.send(answer);
    }
}

/// The answer to a question. Dropping it takes the question back.
#[must_use = "a question is taken back when nobody waits for its answer"]
pub struct PendingResponse {
    pub(super) session: Arc<Session>,
    pub(super) id: RequestId,
    pub(super) answer: oneshot::Receiver<Result<ClientResponse, BackChannelError>>,
}

impl Future for PendingResponse {
    type Output = Result<ClientResponse, BackChannelError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.answer)
            .poll(cx)
            .map(|answer| answer.unwrap_or(Err(BackChannelError::Closed)))
    }
}

impl std::fmt::Debug for PendingResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Question")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Drop for PendingResponse {
    fn drop(&mut self) {
        self.session
            .withdraw(&self.id, "the server no longer needs the answer");
    }
}

/// Tells the client that nobody waits for its answer any more.
// spec: CAN-01
pub(super) fn cancel(session: &Session, waiting: &Waiting, id: &RequestId, reason: &str) {
    let note = ServerNotification::Cancelled(Cancelled::new(id.clone()).reason(reason));
    let mut text = Vec::new();
    if session
        .wire()
        .encode_server_notification(&note, None, &mut text)
    {
        waiting.sink.send(text.into());
    }
}
