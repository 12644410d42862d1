//! State that the channel, its calls and the router share.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};

use mcp_core::close_signal::CloseSignal;
use mcp_core::{ChannelError, CloseReason};
use mcp_types::{ProtocolVersion, RequestId};
use parking_lot::Mutex;

use super::mailbox::Mailbox;
use crate::write_queue::WriteQueue;

/// Largest number of pending requests.
const MAX_PENDING: usize = 10_000;

#[derive(Debug)]
pub(super) struct ChannelState {
    /// The server's name in errors and logs.
    pub(super) peer: Box<str>,
    pub(super) line_limit: usize,
    pub(super) write_queue: Arc<WriteQueue>,
    pub(super) pending: Mutex<HashMap<RequestId, PendingCall>>,
    /// Messages that belong to no request.
    pub(super) inbound: Arc<Mailbox>,
    pub(super) inbound_claimed: AtomicBool,
    /// The highest numeric request id so far.
    pub(super) latest_id: AtomicI64,
    /// The start of the last line that is not a message, until a response arrives.
    pub(super) unread_line: Mutex<Option<String>>,
    pub(super) version: Mutex<Option<ProtocolVersion>>,
    pub(super) closed: CloseSignal<CloseReason>,
    /// The writer has ended: everything is written, or writing has failed.
    pub(super) written: CloseSignal,
}

/// A request that waits for its response.
#[derive(Debug, Clone)]
pub(super) struct PendingCall {
    pub(super) mailbox: Arc<Mailbox>,
    /// A subscription stays open, so messages without a request id never belong to it.
    pub(super) is_subscription: bool,
}

impl ChannelState {
    pub(super) fn new(peer: &str, line_limit: usize, write_queue: Arc<WriteQueue>) -> Self {
        Self {
            peer: peer.into(),
            line_limit,
            write_queue,
            pending: Mutex::default(),
            inbound: Arc::default(),
            inbound_claimed: AtomicBool::new(false),
            latest_id: AtomicI64::new(0),
            unread_line: Mutex::new(None),
            version: Mutex::new(None),
            closed: CloseSignal::default(),
            written: CloseSignal::default(),
        }
    }

    /// Adds a request that waits for its response.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError`] when the channel is closed, when a request with this id waits already, and
    /// when 10,000 requests wait.
    // spec: BASE-04
    pub(super) fn add_call(&self, id: RequestId, call: PendingCall) -> Result<(), ChannelError> {
        let mut pending = self.pending.lock();
        // `close` sets the reason before it takes the pending calls.
        if let Some(reason) = self.closed.reason() {
            return Err(ChannelError::Closed(reason));
        }
        let is_full = pending.len() >= MAX_PENDING;
        match pending.entry(id) {
            Entry::Occupied(_) => Err(ChannelError::NotSendable(
                "a request with this id waits for an answer already".to_owned(),
            )),
            Entry::Vacant(_) if is_full => Err(ChannelError::NotSendable(format!(
                "{MAX_PENDING} requests wait for an answer already; let some of them end first"
            ))),
            Entry::Vacant(entry) => {
                entry.insert(call);
                Ok(())
            }
        }
    }

    /// Closes the channel: nothing more is sent, and pending calls fail with `reason`. The first
    /// reason counts.
    pub(super) fn close(&self, reason: &CloseReason) {
        self.closed.close(reason.clone());
        self.write_queue.close();
        let pending = std::mem::take(&mut *self.pending.lock());
        for call in pending.into_values() {
            call.mailbox.fail(ChannelError::Closed(self.close_reason()));
        }
        self.inbound.finish(None);
    }

    pub(super) fn close_reason(&self) -> CloseReason {
        self.closed.reason().unwrap_or(CloseReason::Remote)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_core::{ChannelError, CloseReason};

    use super::{ChannelState, MAX_PENDING, PendingCall};
    use crate::write_queue::WriteQueue;

    #[test]
    fn full_or_closed_channel_refuses_requests() {
        let channel = ChannelState::new("test", 1024, Arc::new(WriteQueue::new(1024)));
        let call = PendingCall {
            mailbox: Arc::default(),
            is_subscription: false,
        };
        for id in 0..MAX_PENDING as i64 {
            channel.add_call(id.into(), call.clone()).unwrap();
        }
        let refused = channel.add_call((-1).into(), call.clone()).unwrap_err();
        assert!(matches!(refused, ChannelError::NotSendable(_)), "{refused}");
        channel.pending.lock().remove(&7.into()).unwrap();
        channel.add_call((-1).into(), call.clone()).unwrap();

        channel.close(&CloseReason::Remote);
        assert!(channel.pending.lock().is_empty());
        let refused = channel.add_call(7.into(), call).unwrap_err();
        assert!(
            matches!(refused, ChannelError::Closed(CloseReason::Remote)),
            "{refused}"
        );
    }
}
