//! What a server tells outside of any one answer, for everybody who listens.

use futures_core::Stream;
use futures_util::stream;
use mcp_core::ServerNote;
use mcp_types::LogMessage;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::client::Inner;
use crate::{Change, Client};

/// Messages that wait for a listener which does not read; older ones make room.
const WAITING: usize = 256;

/// What is told to everybody who listens.
#[derive(Debug)]
pub(crate) struct Events {
    logs: broadcast::Sender<LogMessage>,
    changes: broadcast::Sender<Change>,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            logs: broadcast::Sender::new(WAITING),
            changes: broadcast::Sender::new(WAITING),
        }
    }
}

impl Events {
    pub(crate) fn log(&self, message: &LogMessage) {
        if self.logs.receiver_count() > 0 {
            // Nobody listens any more: nothing is lost.
            let _ = self.logs.send(message.clone());
        }
    }

    /// The changes that a session tells from now on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}

impl Inner {
    /// Takes a notification that belongs to no call, or to none in particular.
    pub(crate) fn hear(&self, note: ServerNote) {
        match note {
            ServerNote::Log(message) => self.events.log(&message),
            ServerNote::ElicitationComplete(over) => {
                self.inputs.visits.complete(&over.elicitation_id);
            }
            note => {
                if let Some(change) = Change::of(note) {
                    self.hear_change(change);
                }
            }
        }
    }

    pub(crate) fn hear_change(&self, change: Change) {
        self.cache.invalidate(&self.channel.peer(), &change);
        // Nobody is subscribed: nothing is lost.
        let _ = self.events.changes.send(change);
    }
}

impl Client {
    /// The log messages of the server from now on, of all calls. Say how many there should be with
    /// [`log_level`](crate::ClientBuilder::log_level).
    ///
    /// A listener that falls behind by more than 256 messages loses the oldest ones.
    pub fn logs(&self) -> impl Stream<Item = LogMessage> + Send + Unpin + use<> {
        let messages = self.inner.events.logs.subscribe();
        Box::pin(stream::unfold(messages, |mut messages| async move {
            loop {
                match messages.recv().await {
                    Ok(message) => return Some((message, messages)),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        }))
    }
}
