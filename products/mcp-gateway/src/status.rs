//! Calls of a server: [`GatewayStatus`], and the audit log.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use mcp_client::group::Health;
use mcp_core::{CallerKey, LogLimit};
use parking_lot::Mutex;

/// Target of the audit events.
const TARGET: &str = "mcp_gateway::audit";

/// Longest text of a failure in characters: a server chooses its length.
const MAX_TEXT: usize = 300;

/// The servers of a running gateway, for its operator. Returned by
/// [`GatewayControl::status`](crate::GatewayControl::status).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GatewayStatus {
    /// The servers in the order of the settings.
    pub servers: Vec<ServerStatus>,
}

/// A server behind a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The name in the settings.
    pub name: Arc<str>,
    /// The health of the connection that calls share.
    pub health: Health,
    /// The names of the tools that clients may call, also of those that only some callers see.
    pub tools: Vec<String>,
    /// The names of the tools and prompts that are held until a user approves them; see [`Gateway::pin`](crate::Gateway::pin).
    pub held: Vec<String>,
    /// False until the server was listed, now or before with
    /// [stored lists](crate::GatewayServer::store_lists): its items are missing.
    pub is_listed: bool,
    /// Number of prompts.
    pub prompts: usize,
    /// Number of resources.
    pub resources: usize,
    /// Number of resource templates.
    pub templates: usize,
    /// The calls since the gateway has opened, or since a reload has connected the server anew.
    pub calls: CallCounts,
    /// The last call or list that failed because of the connection or a time limit.
    pub last_failure: Option<LastFailure>,
}

/// The counters of one server. They begin when the gateway opens, or when a reload connects the server anew.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    calls: Mutex<CallCounts>,
    last_failure: Mutex<Option<LastFailure>>,
    /// A failure is in the log, and the server has not answered since.
    is_reported: AtomicBool,
    /// Limits the log of internal errors.
    pub(crate) internal_errors: LogLimit,
}

/// Calls of a server: tools, prompts and resources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallCounts {
    /// Calls that run now.
    pub running: u64,
    /// Calls with a result.
    pub succeeded: u64,
    /// Calls with an error, or with a result that is one.
    pub failed: u64,
    /// Calls that were cancelled, or that wait for input of their client.
    pub interrupted: u64,
    /// Time of all calls that do not run any more.
    pub total_time: Duration,
}

/// A server's last failure.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastFailure {
    /// The failure's time.
    pub time: SystemTime,
    /// The error's text, at most 300 characters. A part of the text may come from the server.
    pub text: String,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    Ok,
    /// A tool result that is an error.
    ErrorResult,
    Error,
    /// The gateway has refused the call.
    Refused,
    /// Cancelled, or waiting for its client.
    Interrupted,
}

impl CallOutcome {
    /// Returns the name in the audit log.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ErrorResult => "error result",
            Self::Error => "error",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
        }
    }
}

impl Counters {
    pub(crate) fn start(&self) {
        self.calls.lock().running += 1;
    }

    pub(crate) fn end(&self, outcome: CallOutcome, time: Duration) {
        if matches!(outcome, CallOutcome::Ok | CallOutcome::ErrorResult) {
            self.answered();
        }
        let mut calls = self.calls.lock();
        calls.running -= 1;
        calls.total_time += time;
        *match outcome {
            CallOutcome::Ok => &mut calls.succeeded,
            CallOutcome::ErrorResult | CallOutcome::Error | CallOutcome::Refused => {
                &mut calls.failed
            }
            CallOutcome::Interrupted => &mut calls.interrupted,
        } += 1;
    }

    /// Keeps a failure as the last one. The log has it as a warning once, however many calls and lists it ends.
    pub(crate) fn report(&self, server: &str, problem: &dyn fmt::Display) {
        let text = problem.to_string();
        let error = mcp_types::escape_line(&text);
        if self.add_failure(&text) {
            tracing::warn!(server = %mcp_types::escaped(&server), error = %mcp_types::escaped(&error), "a server behind the gateway does not answer");
        } else {
            tracing::debug!(server = %mcp_types::escaped(&server), error = %mcp_types::escaped(&error), "a server behind the gateway still does not answer");
        }
    }

    /// Returns false if a failure was reported before, and the server has not answered since.
    fn add_failure(&self, text: &str) -> bool {
        *self.last_failure.lock() = Some(LastFailure {
            time: SystemTime::now(),
            text: text.chars().take(MAX_TEXT).collect(),
        });
        !self.is_reported.swap(true, Ordering::Relaxed)
    }

    /// Notes that the server answers: its next failure is reported again.
    pub(crate) fn answered(&self) {
        self.is_reported.store(false, Ordering::Relaxed);
    }

    pub(crate) fn last_failure(&self) -> Option<LastFailure> {
        self.last_failure.lock().clone()
    }

    pub(crate) fn calls(&self) -> CallCounts {
        *self.calls.lock()
    }
}

/// One call of a server. When this is dropped, the event is written and the call counted: the call has ended, was
/// cancelled, or waits for its client's input.
#[derive(Debug)]
pub(crate) struct AuditEntry {
    caller: CallerKey,
    server: Arc<str>,
    counters: Arc<Counters>,
    kind: &'static str,
    item: Arc<str>,
    start: Instant,
    outcome: CallOutcome,
}

impl AuditEntry {
    pub(crate) fn new(
        caller: CallerKey,
        server: Arc<str>,
        counters: Arc<Counters>,
        kind: &'static str,
        item: Arc<str>,
    ) -> Self {
        counters.start();
        Self {
            caller,
            server,
            counters,
            kind,
            item,
            start: Instant::now(),
            outcome: CallOutcome::Interrupted,
        }
    }

    /// Sets the outcome of a call with a result.
    pub(crate) fn end(&mut self, outcome: CallOutcome) {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CallOutcome, Counters, MAX_TEXT};

    #[test]
    fn calls_are_counted_by_their_ends() {
        let counters = Counters::default();
        for _ in 0..4 {
            counters.start();
        }
        counters.end(CallOutcome::Ok, Duration::from_millis(2));
        counters.end(CallOutcome::ErrorResult, Duration::from_millis(3));
        counters.end(CallOutcome::Interrupted, Duration::from_millis(5));
        let calls = counters.calls();
        assert_eq!((calls.running, calls.succeeded), (1, 1));
        assert_eq!((calls.failed, calls.interrupted), (1, 1));
        assert_eq!(calls.total_time, Duration::from_millis(10));
    }

    #[test]
    fn long_text_from_a_server_is_cut() {
        let counters = Counters::default();
        counters.add_failure(&"é".repeat(1000));
        let kept = counters.last_failure().map(|failure| failure.text);
        assert_eq!(kept, Some("é".repeat(MAX_TEXT)));
    }

    #[test]
    fn failure_is_new_until_it_is_reported_and_after_an_answer() {
        let counters = Counters::default();
        assert!(counters.add_failure("refused"));
        assert!(!counters.add_failure("not started again for 5 s"));
        counters.answered();
        assert!(counters.add_failure("refused"));
        counters.start();
        counters.end(CallOutcome::Ok, Duration::ZERO);
        assert!(counters.add_failure("refused"));
    }
}
