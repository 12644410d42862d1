//! Notifications and changes of a server, broadcast to all readers of the program.

use mcp_core::ServerNotification;
use tokio::sync::broadcast;

use crate::change::Change;

/// Messages that are queued for a slow reader. On overflow it loses the oldest ones.
const CAPACITY: usize = 256;

/// Broadcast channels for notifications and changes.
#[derive(Debug)]
pub(crate) struct Events {
    notifications: broadcast::Sender<ServerNotification>,
    changes: broadcast::Sender<Change>,
}

/// An item of [`Client::notifications`](crate::Client::notifications): the reader was too slow, so that it lost
/// notifications. The stream continues with the oldest one that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{count} notifications of the server are lost: they were read too slowly")]
#[non_exhaustive]
pub struct LostNotifications {
    /// The number of lost notifications.
    pub count: u64,
}

impl LostNotifications {
    pub(crate) fn new(count: u64) -> Self {
        Self { count }
    }
}

impl Default for Events {
    fn default() -> Self {
        Self {
            notifications: broadcast::Sender::new(CAPACITY),
            changes: broadcast::Sender::new(CAPACITY),
        }
    }
}

impl Events {
    /// Passes a notification to all readers. It is cloned only if there are any.
    pub(crate) fn publish(&self, notification: &ServerNotification) {
        if self.has_readers() {
            // An error means that the last reader has gone meanwhile.
            let _ = self.notifications.send(notification.clone());
        }
    }

    pub(crate) fn has_readers(&self) -> bool {
        self.notifications.receiver_count() > 0
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<ServerNotification> {
        self.notifications.subscribe()
    }

    pub(crate) fn send_change(&self, change: Change) {
        // An error means that there is no subscriber.
        let _ = self.changes.send(change);
    }

    pub(crate) fn subscribe_changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}
