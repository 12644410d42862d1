//! Notifications and changes of a server, broadcast to all readers of the program.

use futures_core::Stream;
use futures_util::{StreamExt, stream};
use mcp_core::ServerNotification;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::change::Change;

/// Messages that are queued for a slow reader. On overflow it loses the oldest ones.
const CAPACITY: usize = 256;

/// Broadcast channels for notifications and changes.
#[derive(Debug)]
pub(crate) struct Events {
    pub(crate) notifications: broadcast::Sender<ServerNotification>,
    pub(crate) changes: broadcast::Sender<Change>,
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
}

/// Streams what a channel receives. `item` gets the number of messages that the reader has lost instead of them.
pub(crate) fn received<T: Clone + Send + 'static, U: Send + 'static>(
    receiver: broadcast::Receiver<T>,
    item: fn(Result<T, u64>) -> Option<U>,
) -> impl Stream<Item = U> + Send + Unpin + use<T, U> {
    let received = stream::unfold(receiver, move |mut receiver| async move {
        let received = match receiver.recv().await {
            Ok(message) => Ok(message),
            Err(RecvError::Lagged(count)) => Err(count),
            Err(RecvError::Closed) => return None,
        };
        Some((item(received), receiver))
    });
    Box::pin(received.fuse().filter_map(std::future::ready))
}
