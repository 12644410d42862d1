//! State that the channel, its calls and the router share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64};

use mcp_core::pending::PendingRequests;
use mcp_core::{BoxFuture, ChannelError, CloseReason};
use mcp_types::ProtocolVersion;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::mailbox::Mailbox;
use crate::write_queue::WriteQueue;

/// Largest number of pending requests.
const MAX_PENDING: usize = 10_000;

/// Resolves to the reason why a pipe has ended, after its end.
pub(crate) type CloseReasonFuture = BoxFuture<'static, CloseReason>;

#[derive(Debug)]
pub(super) struct ChannelState {
    /// The server's name in errors and logs.
    pub(super) peer: Box<str>,
    pub(super) line_limit: usize,
    pub(super) write_queue: Arc<WriteQueue>,
    pub(super) pending: Mutex<PendingRequests<PendingCall>>,
    /// Messages that belong to no request.
    pub(super) inbound: Arc<Mailbox>,
    pub(super) inbound_claimed: AtomicBool,
    /// The highest numeric request id so far.
    pub(super) latest_id: AtomicI64,
    pub(super) version: Mutex<Option<ProtocolVersion>>,
    pub(super) closed: watch::Sender<Option<CloseReason>>,
    /// Becomes true when the writer has ended: everything is written, or writing has failed.
    pub(super) written: watch::Sender<bool>,
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
            pending: Mutex::new(PendingRequests::new(MAX_PENDING)),
            inbound: Arc::default(),
            inbound_claimed: AtomicBool::new(false),
            latest_id: AtomicI64::new(0),
            version: Mutex::new(None),
            closed: watch::Sender::new(None),
            written: watch::Sender::new(false),
        }
    }

    /// Closes the channel: nothing more is sent, and pending calls fail with `reason`. The first
    /// reason counts.
    pub(super) fn close(&self, reason: &CloseReason) {
        let is_first = self.closed.send_if_modified(|current| {
            let is_first = current.is_none();
            if is_first {
                *current = Some(reason.clone());
            }
            is_first
        });
        if !is_first {
            return;
        }
        self.write_queue.close();
        let pending = self.pending.lock().close();
        for (_, call) in pending {
            call.mailbox.fail(ChannelError::Closed(reason.clone()));
        }
        self.inbound.finish(None);
    }

    pub(super) fn close_reason(&self) -> CloseReason {
        self.closed.borrow().clone().unwrap_or(CloseReason::Remote)
    }
}
