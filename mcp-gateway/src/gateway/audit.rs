//! The audit log: an event for each call of a server.

use std::sync::Arc;
use std::time::Instant;

use mcp_core::CallerKey;

use super::counters::{CallOutcome, Counters};

/// The target of the events.
const TARGET: &str = "mcp_gateway::audit";

/// One call of a server. When this is dropped, the event is written and the call counted: the call has ended, was
/// cancelled, or waits for its client's input.
#[derive(Debug)]
pub(super) struct AuditEntry {
    caller: CallerKey,
    server: Arc<str>,
    counters: Arc<Counters>,
    kind: &'static str,
    item: Arc<str>,
    start: Instant,
    outcome: CallOutcome,
}

impl AuditEntry {
    /// Starts the entry of a call. `item` is the name that the server gives the item, or its URI.
    pub(super) fn new(
        caller: CallerKey,
        server: &Arc<str>,
        counters: &Arc<Counters>,
        kind: &'static str,
        item: impl Into<Arc<str>>,
    ) -> Self {
        counters.start();
        Self {
            caller,
            server: server.clone(),
            counters: counters.clone(),
            kind,
            item: item.into(),
            start: Instant::now(),
            outcome: CallOutcome::Interrupted,
        }
    }

    /// Sets the outcome of a call with a result.
    pub(super) fn end(&mut self, outcome: CallOutcome) {
        self.outcome = outcome;
    }
}

impl Drop for AuditEntry {
    fn drop(&mut self) {
        let time = self.start.elapsed();
        self.counters.end(self.outcome, time);
        let principal = self.caller.principal();
        tracing::info!(
            target: TARGET,
            server = &*self.server,
            kind = self.kind,
            item = &*self.item,
            outcome = self.outcome.as_str(),
            duration_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            subject = principal.map(|caller| &*caller.subject),
            issuer = principal.map(|caller| &*caller.issuer),
            client = principal.and_then(|caller| caller.client.as_deref()),
            "call"
        );
    }
}
