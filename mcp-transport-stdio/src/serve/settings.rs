//! Server limits and options.

use std::sync::Arc;
use std::time::Duration;

use mcp_core::{Extensions, Gate};

use super::counters::Counters;

/// Server limits and options. [`StdioServer`](super::StdioServer) documents each of them.
pub(super) struct ServerSettings {
    pub(super) line_limit: usize,
    pub(super) max_calls: usize,
    pub(super) drain_timeout: Duration,
    pub(super) gate: Option<Arc<dyn Gate>>,
    pub(super) extensions: Extensions,
    pub(super) counters: Arc<Counters>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            line_limit: 4 * 1024 * 1024,
            max_calls: 1024,
            drain_timeout: Duration::from_secs(10),
            gate: None,
            extensions: Extensions::default(),
            counters: Arc::default(),
        }
    }
}
