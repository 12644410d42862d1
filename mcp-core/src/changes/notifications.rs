//! Notifications of extensions that wait for one subscriber.

use std::collections::VecDeque;
use std::sync::Arc;

use super::event::ExtensionNotification;
use crate::authorization::CallerKey;

/// Notifications of extensions that wait for one subscriber. Unlike changes they cannot be merged, so
/// further ones are dropped while the queue is full.
#[derive(Debug)]
pub(super) struct BroadcastQueue {
    /// The extensions that the subscriber declares and the server has.
    extensions: Vec<Box<str>>,
    /// The session topic, for notifications to it alone.
    pub(super) topic: Option<Arc<str>>,
    /// The caller that the subscriber belongs to.
    caller: CallerKey,
    waiting: VecDeque<Arc<ExtensionNotification>>,
    bytes: usize,
}

/// Number of notifications that wait for one subscriber.
pub(super) const MAX_WAITING: usize = 64;
/// Size of these notifications, in bytes: 256 KiB.
pub(super) const MAX_WAITING_BYTES: usize = 256 * 1024;

impl BroadcastQueue {
    pub(super) fn new(
        extensions: Vec<Box<str>>,
        topic: Option<Arc<str>>,
        caller: CallerKey,
    ) -> Self {
        Self {
            extensions,
            topic,
            caller,
            waiting: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Queues a notification. Returns false if the subscriber does not declare the extension, if the notification
    /// is for another caller or session, or if the queue is full.
    pub(super) fn push(&mut self, notification: &Arc<ExtensionNotification>) -> bool {
        let caller = notification.caller.as_ref();
        let topic = self.topic.as_deref();
        let is_subscribed = self.extensions.contains(&notification.extension)
            || topic.is_some_and(|topic| notification.is_for_session(topic));
        if !is_subscribed || caller.is_some_and(|caller| *caller != self.caller) {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_types::RawObject;

    use super::BroadcastQueue;
    use crate::authorization::{CallerKey, Principal};
    use crate::changes::ExtensionNotification;

    #[test]
    fn notification_for_a_caller_is_queued_for_its_clients_only() {
        let caller = |subject: &str| CallerKey::new(Some(&Principal::new("issuer", subject)));
        let callers = [caller("ada"), caller("bob"), CallerKey::default()];
        let mut queues = callers
            .clone()
            .map(|caller| BroadcastQueue::new(vec!["x".into()], None, caller));
        let notification = || ExtensionNotification::new("x", "y", &RawObject::default());
        for (index, caller) in callers.into_iter().enumerate() {
            let mut to_caller = notification();
            to_caller.caller = Some(caller);
            let to_caller = Arc::new(to_caller);
            let queued = queues.each_mut().map(|queue| queue.push(&to_caller));
            let mut expected = [false; 3];
            expected[index] = true;
            assert_eq!(queued, expected);
        }
        let to_all = Arc::new(notification());
        assert!(queues.iter_mut().all(|queue| queue.push(&to_all)));
    }

    // spec: ELIC-10
    #[test]
    fn finished_elicitation_is_queued_for_its_session_only() {
        let mut queues = ["aa", "ab"]
            .map(|topic| BroadcastQueue::new(Vec::new(), Some(topic.into()), CallerKey::default()));
        let mut without = BroadcastQueue::new(vec!["ab1".into()], None, CallerKey::default());
        let complete = Arc::new(ExtensionNotification::elicitation_complete("ab1"));
        let queued = queues.each_mut().map(|queue| queue.push(&complete));
        assert_eq!((queued, without.push(&complete)), ([false, true], false));
    }
}
