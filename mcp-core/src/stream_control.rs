//! A say in the connection that carries a call's events.

use std::fmt;
use std::sync::Arc;

/// A say in the connection that carries a call's events. It is in the exchange's extensions where
/// the connection can end before the call does: in a session of 2025-11-25 over HTTP whose server
/// keeps events.
// spec: RSM-06
#[derive(Clone)]
pub struct StreamControl(Arc<dyn Fn() + Send + Sync>);

impl StreamControl {
    /// A control that ends the connection by `release`.
    pub fn new(release: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(release))
    }

    /// Ends the connection, not the call: the client is told to come again in a while, and gets
    /// then what it has missed. For calls that take so long that a connection held open all the
    /// time is a waste.
    pub fn release(&self) {
        (self.0)();
    }
}

impl fmt::Debug for StreamControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamControl").finish_non_exhaustive()
    }
}
