//! Requests to the client of a session while a call of it runs.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation>

use std::fmt;
use std::future::Future;
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

/// A stream that carries messages to the client: the stream of the call that they belong to, or
/// the pipe.
pub trait MessageSink: Send + Sync + 'static {
    /// Queues a message. Never waits. Returns false if the message cannot reach the client.
    fn send(&self, message: Bytes) -> bool;
}

impl MessageSink for NotificationBuffer {
    fn send(&self, message: Bytes) -> bool {
        self.push(&message)
    }
}

/// The back channel of one call.
pub(super) struct CallChannel {
    pub(super) session: Arc<Session>,
    pub(super) sink: Arc<dyn MessageSink>,
}

impl BackChannel for CallChannel {
    // spec: HTTP-SL-04
    fn ask(
        self: Arc<Self>,
        request: InputRequest,
    ) -> BoxFuture<'static, Result<InputResponse, BackChannelError>> {
        let pending = self.session.send_request(request.into(), &self.sink);
        Box::pin(async move {
            match pending?.await? {
                ClientResponse::Input(response) => Ok(response),
                ClientResponse::Fault(fault) => Err(BackChannelError::Refused(fault)),
                ClientResponse::Pong => Err(BackChannelError::Malformed("no input".to_owned())),
            }
        })
    }
}

/// A request to the client that waits for its response.
pub(super) struct SentRequest {
    pub(super) request: Arc<ServerRequest>,
    pub(super) response: oneshot::Sender<Result<ClientResponse, BackChannelError>>,
    pub(super) sink: Arc<dyn MessageSink>,
}

impl SentRequest {
    pub(super) fn settle(self, response: Result<ClientResponse, BackChannelError>) {
        // Fails if the caller has dropped the future.
        let _ = self.response.send(response);
    }

    /// Sends `notifications/cancelled` for the request.
    // spec: CAN-01
    pub(super) fn cancel(&self, session: &Session, id: &RequestId, reason: &str) {
        let cancelled = Cancelled::new(id.clone()).reason(reason);
        let notification = ServerNotification::Cancelled(cancelled);
        let mut message = Vec::new();
        let wire = session.wire();
        if wire.encode_server_notification(&notification, None, &mut message) {
            self.sink.send(message.into());
        }
    }
}

/// The future of a response from the client. Dropping it cancels the request.
#[must_use = "dropping the future cancels the request"]
pub struct PendingResponse {
    pub(super) session: Arc<Session>,
    pub(super) id: RequestId,
    pub(super) response: oneshot::Receiver<Result<ClientResponse, BackChannelError>>,
}

impl Future for PendingResponse {
    type Output = Result<ClientResponse, BackChannelError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.response)
            .poll(cx)
            .map(|response| response.unwrap_or(Err(BackChannelError::Closed)))
    }
}

impl fmt::Debug for PendingResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingResponse")
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
