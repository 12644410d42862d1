//! Control over the connection that carries a call's events.

use std::fmt;
use std::sync::Arc;

/// Control over the connection that carries a call's events.
///
/// A transport inserts it into an [`Exchange`](crate::Exchange)'s extensions when the connection can end before
/// the call does: in a session of 2025-11-25 over HTTP, on a server with an event store.
// spec: RSM-06
#[derive(Clone)]
pub struct StreamControl(Arc<dyn Fn() + Send + Sync>);

impl StreamControl {
    /// A control that closes the connection by calling `release`.
    pub fn new(release: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(release))
    }

    /// Closes the connection, and lets the call continue. The client reconnects after a while and
    /// receives the events that it has missed.
    ///
    /// Use it in calls that run for minutes or longer, for which an open connection is a waste.
    pub fn release(&self) {
        (self.0)();
    }
}

impl fmt::Debug for StreamControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamControl").finish_non_exhaustive()
    }
}
