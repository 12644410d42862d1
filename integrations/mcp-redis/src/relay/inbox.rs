//! The received messages of one node.

use std::collections::VecDeque;

use mcp_core::store::{RelayEvent, RelayMessage};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// The received messages of one node.
///
/// The queue has at most 4,096 messages and 16 MiB. Further messages are refused.
#[derive(Debug, Default)]
pub(crate) struct RelayInbox {
    state: Mutex<InboxState>,
    has_messages: Notify,
}

#[derive(Debug, Default)]
struct InboxState {
    messages: VecDeque<RelayMessage>,
    bytes: usize,
}

impl RelayInbox {
    const MAX_MESSAGES: usize = 4_096;
    const MAX_BYTES: usize = 16 << 20;

    /// Adds a message. Returns false when the queue is full.
    pub(crate) fn push(&self, message: RelayMessage) -> bool {
        let mut state = self.state.lock();
        let bytes = state.bytes + size(&message);
        if state.messages.len() >= Self::MAX_MESSAGES || bytes > Self::MAX_BYTES {
            return false;
        }
        state.bytes = bytes;
        state.messages.push_back(message);
        drop(state);
        self.has_messages.notify_one();
        true
    }

    /// Waits for the next message.
    pub(crate) async fn next(&self) -> RelayMessage {
        loop {
            if let Some(message) = self.pop() {
                return message;
            }
            self.has_messages.notified().await;
        }
    }

    fn pop(&self) -> Option<RelayMessage> {
        let mut state = self.state.lock();
        let message = state.messages.pop_front()?;
        state.bytes -= size(&message);
        Some(message)
    }
}

fn size(message: &RelayMessage) -> usize {
    let event = match &message.event {
        RelayEvent::Response(json) => json.len(),
        _ => 0,
    };
    message.session.len() + event
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use mcp_core::store::{RelayEvent, RelayMessage};

    use super::RelayInbox;

    fn message(event: RelayEvent) -> RelayMessage {
        RelayMessage {
            session: "s".to_owned(),
            event,
        }
    }

    #[test]
    fn full_inbox_refuses_messages() {
        let inbox = RelayInbox::default();
        let large = message(RelayEvent::Response("x".repeat(6 << 20)));
        assert!(inbox.push(large.clone()) && inbox.push(large.clone()));
        assert!(!inbox.push(large.clone()));
        assert!(inbox.next().now_or_never().is_some());
        assert!(inbox.push(large));
        let small = message(RelayEvent::Changed);
        let accepted = (0..10_000).filter(|_| inbox.push(small.clone())).count();
        assert_eq!(accepted, RelayInbox::MAX_MESSAGES - 2);
    }
}
