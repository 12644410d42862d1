//! Log messages and changes of a server, broadcast to all subscribers of the program.

use mcp_types::LogMessage;
use tokio::sync::broadcast;

use crate::change::Change;

/// Messages that are queued for a slow subscriber. On overflow it loses the oldest ones.
const CAPACITY: usize = 256;

/// Broadcast channels for log messages and changes.
#[derive(Debug)]
pub(crate) struct Events {
    logs: broadcast::Sender<LogMessage>,
    changes: broadcast::Sender<Change>,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            logs: broadcast::Sender::new(CAPACITY),
            changes: broadcast::Sender::new(CAPACITY),
        }
    }
}

impl Events {
    pub(crate) fn send_log(&self, message: &LogMessage) {
        if self.logs.receiver_count() > 0 {
            // An error means that there is no subscriber.
            let _ = self.logs.send(message.clone());
        }
    }

    pub(crate) fn subscribe_logs(&self) -> broadcast::Receiver<LogMessage> {
        self.logs.subscribe()
    }

    pub(crate) fn send_change(&self, change: Change) {
        // An error means that there is no subscriber.
        let _ = self.changes.send(change);
    }

    pub(crate) fn subscribe_changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}
