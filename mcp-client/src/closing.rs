//! The end of a connection, seen by everybody who uses it.

use mcp_core::CloseReason;
use tokio::sync::watch;

/// Whether the connection has ended, and why.
#[derive(Debug)]
pub(crate) struct Closing(watch::Sender<Option<CloseReason>>);

impl Default for Closing {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Closing {
    /// Tells that it has ended; the first reason counts.
    pub(crate) fn close(&self, reason: CloseReason) {
        self.0.send_if_modified(|known| {
            let is_first = known.is_none();
            if is_first {
                *known = Some(reason);
            }
            is_first
        });
    }

    /// Why it has ended, if it has.
    pub(crate) fn reason(&self) -> Option<CloseReason> {
        self.0.borrow().clone()
    }

    /// Waits for the end.
    pub(crate) async fn wait(&self) -> CloseReason {
        let mut seen = self.0.subscribe();
        // The sender is `self`, so somebody can always tell.
        match seen
            .wait_for(Option::is_some)
            .await
            .map(|reason| reason.clone())
        {
            Ok(Some(reason)) => reason,
            _ => std::future::pending().await,
        }
    }
}
