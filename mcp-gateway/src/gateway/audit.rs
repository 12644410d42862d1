//! The audit log: an event for each call of a server.

use std::sync::Arc;
use std::time::Instant;

use mcp_core::{Extensions, Principal};

use super::counters::{CallOutcome, Counters};

/// The target of the events.
const TARGET: &str = "mcp_gateway::audit";

/// The caller of a request, as a layer has authenticated it.
#[derive(Debug, Clone, Default)]
pub(super) struct Caller {
    subject: Option<String>,
    issuer: Option<String>,
    client: Option<String>,
}

impl Caller {
    pub(super) fn new(extensions: &Extensions) -> Self {
        let principal: Option<&Principal> = extensions.get();
        Self {
            subject: principal.map(|it| it.subject.clone()),
            issuer: principal.map(|it| it.issuer.clone()),
            client: principal.and_then(|it| it.client.clone()),
        }
    }
}

/// One call of a server. The event is written, and the call counted, when this is dropped: then the call has ended, was cancelled,
/// or waits for input of its client.
#[derive(Debug)]
pub(super) struct AuditEntry {
    caller: Caller,
    server: Arc<str>,
    counters: Arc<Counters>,
    kind: &'static str,
    item: String,
    start: Instant,
    outcome: CallOutcome,
}

impl AuditEntry {
    /// Starts the entry of a call. `item` is the name that the server gives the item, or its URI.
    pub(super) fn new(
        caller: Caller,
        server: &Arc<str>,
        counters: &Arc<Counters>,
        kind: &'static str,
        item: impl Into<String>,
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
        tracing::info!(
            target: TARGET,
            server = &*self.server,
            kind = self.kind,
            item = self.item,
            outcome = self.outcome.as_str(),
            duration_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            subject = self.caller.subject,
            issuer = self.caller.issuer,
            client = self.caller.client,
            "call"
        );
    }
}
