//! The queue that the notifications of a call go to.

use std::task::{Context, Poll};

use mcp_types::Meta;

use crate::message::ServerNotification;

/// A bounded queue of notifications that a transport empties.
pub(crate) trait NotificationSink: Send + Sync {
    /// Queues a notification with further keys of `_meta`. Registers the waker when there is no space.
    /// Sinks that encode no messages leave the keys out.
    fn poll_send(
        &self,
        cx: &mut Context<'_>,
        notification: &ServerNotification,
        meta: Option<&Meta>,
    ) -> Poll<()>;

    /// Queues a notification with further keys of `_meta`, or drops it when there is no space.
    fn try_send(&self, notification: &ServerNotification, meta: Option<&Meta>);
}
