//! A client that is notified of changes.

use std::fmt;
use std::sync::Arc;

use crate::authorization::{Gate, Principal};
use crate::connection::Extensions;

/// A client that is notified of changes, as far as its authorization matters: its identity and the
/// gate that decides what it may read.
#[derive(Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "transports construct it")]
pub struct Subscriber {
    /// The request extensions: the [`Principal`], values that layers have inserted.
    pub extensions: Extensions,
    /// The gate of the transport.
    pub gate: Option<Arc<dyn Gate>>,
}

impl fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber")
            .field("principal", &self.extensions.get::<Principal>())
            .field("gated", &self.gate.is_some())
            .finish_non_exhaustive()
    }
}
