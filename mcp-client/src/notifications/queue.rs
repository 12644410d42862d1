//! Notifications that wait for their handlers.

use mcp_core::tower::Layers;
use mcp_types::RawObject;
use tokio::sync::mpsc;

use crate::extension::NotificationHandlers;

/// Notifications that wait. Further ones are dropped.
const CAPACITY: usize = 256;

/// A notification that belongs to no call, or has an extension handler.
#[derive(Debug)]
pub(crate) struct QueuedNotification {
    pub(crate) method: Box<str>,
    pub(crate) params: Option<RawObject>,
}

/// The queue of the notifications that a task of the client handles one after the other. Clients
/// without handlers and inbound layers have no task.
#[derive(Default)]
pub(crate) struct NotificationQueue {
    pub(crate) handlers: NotificationHandlers,
    sender: Option<mpsc::Sender<QueuedNotification>>,
}

impl NotificationQueue {
    /// Creates the queue, and the receiver for its task if it needs one.
    pub(crate) fn new(
        handlers: NotificationHandlers,
        layers: &Layers,
    ) -> (Self, Option<mpsc::Receiver<QueuedNotification>>) {
        let is_needed = !handlers.0.is_empty() || !layers.is_empty();
        let (sender, receiver) = is_needed.then(|| mpsc::channel(CAPACITY)).unzip();
        (Self { handlers, sender }, receiver)
    }

    /// Returns true if a task handles notifications.
    pub(crate) fn is_needed(&self) -> bool {
        self.sender.is_some()
    }

    /// Queues an extension notification. Returns false if it has no handler.
    pub(crate) fn push_custom(&self, method: &str, params: Option<&RawObject>) -> bool {
        let is_handled = self.handlers.0.contains_key(method);
        if is_handled {
            self.push(QueuedNotification {
                method: method.into(),
                params: params.cloned(),
            });
        }
        is_handled
    }

    /// Queues a notification, or drops it when the queue is full.
    pub(crate) fn push(&self, notification: QueuedNotification) {
        let Some(sender) = &self.sender else { return };
        if let Err(error) = sender.try_send(notification) {
            let method = match &error {
                mpsc::error::TrySendError::Full(notification)
                | mpsc::error::TrySendError::Closed(notification) => &notification.method,
            };
            tracing::warn!(method = %mcp_types::escaped(&method), "a notification is dropped: its handler is too slow");
        }
    }
}
