//! Connecting a host to a view.

use std::sync::Arc;

use futures_util::{Sink, Stream};
use tokio::sync::mpsc;

use super::bridge::HostBridge;
use super::connection::Connection;
use super::state::Conversation;
use super::types::ViewError;
use super::view::View;

/// Messages to the view that wait until it reads.
const OUTBOX: usize = 64;

impl HostBridge {
    /// Connects to a view: a stream and a sink of messages, one JSON text each. The returned future
    /// runs the connection; it ends with the stream, or with an error when the view breaks a limit.
    pub fn connect<I, O>(
        self,
        incoming: I,
        outgoing: O,
    ) -> (
        View,
        impl Future<Output = Result<(), ViewError>> + Send + use<I, O>,
    )
    where
        I: Stream<Item = String> + Send,
        O: Sink<String> + Send,
    {
        let (outbox, queue) = mpsc::channel(OUTBOX);
        let conversation = Arc::new(Conversation::new(self.limits, outbox));
        let view = View::new(conversation.clone());
        let connection = Connection::new(self, conversation);
        (view, connection.run(incoming, outgoing, queue))
    }
}
