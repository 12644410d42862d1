//! The progress of a call.

use mcp_core::NotificationSender;
use mcp_types::ProgressUpdate;

use super::from_call::FromCall;
use crate::call::CallContext;
use crate::rejection::Rejection;

/// Sends progress notifications to the client. Does nothing when the client did not ask for them.
///
/// # Examples
///
/// ```
/// use mcp::Progress;
///
/// async fn copy(progress: Progress) -> &'static str {
///     for done in 0..3 {
///         progress.report(f64::from(done), 3.0, "copying").await;
///     }
///     "done"
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Progress(NotificationSender);

impl Progress {
    /// Reports that `done` of `total` units are done. Waits while the client reads too slowly. A
    /// value that is not above the previous one is discarded.
    pub async fn report(&self, done: f64, total: f64, message: impl Into<String>) {
        if self.is_wanted() {
            let update = ProgressUpdate::new(done).of(total).message(message);
            self.send(update).await;
        }
    }

    /// Reports progress without a total or without a message.
    pub async fn send(&self, progress: ProgressUpdate) {
        self.0.report_progress(progress).await;
    }

    /// Returns whether the client asked for progress.
    pub fn is_wanted(&self) -> bool {
        self.0.wants_progress()
    }
}

impl FromCall for Progress {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(call.notifications().clone()))
    }
}
