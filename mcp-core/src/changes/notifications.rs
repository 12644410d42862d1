//! Notifications of extensions that wait for one subscriber.

use std::collections::VecDeque;
use std::sync::Arc;

use super::event::ExtensionNotification;

/// Notifications of extensions that wait for one subscriber. Unlike changes they cannot be merged, so
/// further ones are dropped while the queue is full.
#[derive(Debug)]
pub(super) struct BroadcastQueue {
    /// The extensions that the subscriber declares and the server has.
    extensions: Vec<Box<str>>,
    waiting: VecDeque<Arc<ExtensionNotification>>,
    bytes: usize,
}

/// Number of notifications that wait for one subscriber.
pub(super) const MAX_WAITING: usize = 64;
/// Size of these notifications, in bytes: 256 KiB.
pub(super) const MAX_WAITING_BYTES: usize = 256 * 1024;

impl BroadcastQueue {
    pub(super) fn new(extensions: Vec<Box<str>>) -> Self {
        Self {
            extensions,
            waiting: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Queues a notification. Returns false if the subscriber does not declare the extension, or if
    /// the queue is full.
    pub(super) fn push(&mut self, notification: &Arc<ExtensionNotification>) -> bool {
        if !self.extensions.contains(&notification.extension) {
            return false;
        }
        let bytes = self.bytes + notification.size();
        if self.waiting.len() == MAX_WAITING || bytes > MAX_WAITING_BYTES {
            let method = &*notification.method;
            tracing::debug!(
                method,
                "a notification is dropped: its client reads too slowly"
            );
            return false;
        }
        self.bytes = bytes;
        self.waiting.push_back(notification.clone());
        true
    }

    pub(super) fn pop(&mut self) -> Option<Arc<ExtensionNotification>> {
        let notification = self.waiting.pop_front()?;
        self.bytes -= notification.size();
        if self.waiting.is_empty() {
            self.waiting = VecDeque::new();
        }
        Some(notification)
    }
}
