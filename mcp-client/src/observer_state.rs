//! State of a client's observer.

use std::sync::OnceLock;

use mcp_core::{Connection, Observation};
use parking_lot::Mutex;

/// State of a client's observer.
#[derive(Debug, Default)]
pub(crate) struct ObserverState {
    pub(crate) connection: OnceLock<Option<Connection>>,
    /// The observation of the present session.
    pub(crate) session: Mutex<Option<Box<dyn Observation>>>,
}
