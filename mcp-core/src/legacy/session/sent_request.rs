//! A request to the client that waits for its response.

use std::sync::Arc;

use bytes::Bytes;
use futures_channel::oneshot;

use crate::call::{BackChannelError, MessageSink, NotificationBuffer};
use crate::message::{ClientResponse, ServerRequest};

impl MessageSink for NotificationBuffer {
    fn send(&self, message: Bytes) -> bool {
        self.push(&message)
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
}
