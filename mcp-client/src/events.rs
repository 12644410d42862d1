//! What a server tells outside of any one answer, for everybody who listens.

use mcp_types::LogMessage;
use tokio::sync::broadcast;

use crate::change::Change;

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

    /// The log messages from now on.
    pub(crate) fn logs(&self) -> broadcast::Receiver<LogMessage> {
        self.logs.subscribe()
    }

    pub(crate) fn change(&self, change: Change) {
        // Nobody is subscribed: nothing is lost.
        let _ = self.changes.send(change);
    }

    /// The changes that a session tells from now on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}
