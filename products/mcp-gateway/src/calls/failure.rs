//! [`CallFailure`]: a call without a result, and who is to blame.

use std::fmt;

use mcp_client::Error;
use mcp_core::{ChannelError, CloseReason, Fault};
use mcp_server::ToolError;

use crate::status::CallOutcome;

/// The failure of a call: the fault for the client, and whether the gateway or the server has failed. A [`Fault`] alone
/// is the gateway's refusal.
#[derive(Debug)]
pub(crate) struct CallFailure {
    fault: Fault,
    kind: FailureKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailureKind {
    /// The gateway refuses the call.
    Refused,
    /// The server refuses the call, or has failed.
    OfServer,
    /// The server's program has ended while the call ran.
    Ended,
}

impl From<Fault> for CallFailure {
    fn from(fault: Fault) -> Self {
        Self {
            fault,
            kind: FailureKind::Refused,
        }
    }
}

impl CallFailure {
    /// A failure of the server.
    pub(crate) fn of_server(fault: Fault) -> Self {
        Self {
            fault,
            kind: FailureKind::OfServer,
        }
    }

    /// The failure of a call without an answer of `server`.
    pub(super) fn unanswered(server: &str, error: &Error) -> Self {
        let note = if error.may_have_run() {
            "; the call may have run"
        } else {
            ""
        };
        let text = format!(
            "the server {server:?} of this gateway did not answer{}{note}",
            described(error)
        );
        let has_ended = matches!(
            error.channel(),
            Some(ChannelError::Closed(
                CloseReason::Remote | CloseReason::Broken(_)
            ))
        );
        Self {
            fault: Fault::internal(text),
            kind: if has_ended && error.may_have_run() {
                FailureKind::Ended
            } else {
                FailureKind::OfServer
            },
        }
    }

    /// Returns the outcome for the audit log.
    pub(crate) fn outcome(&self) -> CallOutcome {
        match self.kind {
            FailureKind::Refused => CallOutcome::Refused,
            FailureKind::OfServer | FailureKind::Ended => CallOutcome::Error,
        }
    }

    pub(crate) fn into_fault(self) -> Fault {
        self.fault
    }

    /// Returns the error of a tool. That a program has ended is a result, which the model reads: a protocol error ends the
    /// model's run, and its next step depends on what the call has done.
    // spec: TOOL-19
    pub(crate) fn into_tool_error(self) -> ToolError {
        match self.kind {
            FailureKind::Ended => ToolError::new(self.fault.to_string()),
            FailureKind::Refused | FailureKind::OfServer => ToolError::fault(self.fault),
        }
    }
}

impl fmt::Display for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)
    }
}

/// Says what is known about a server without an answer. It names neither hosts of an inner network nor programs, and
/// has nothing of a program's standard error.
fn described(error: &Error) -> String {
    let text = match error.channel() {
        Some(ChannelError::Status { status, .. }) => format!("HTTP status {status}"),
        Some(ChannelError::Connect { .. }) => "it cannot be reached".to_owned(),
        Some(ChannelError::Broken { .. }) => "the connection broke".to_owned(),
        Some(ChannelError::Closed(CloseReason::Broken(cause))) => {
            let cause = cause.to_string();
            // The end of standard error follows.
            let first = cause.split([';', '\n']).next().unwrap_or_default();
            mcp_types::escape_line(first).into_owned()
        }
        Some(ChannelError::Closed(_)) => "it has closed the connection".to_owned(),
        _ => error.unreadable_answer().unwrap_or_default(),
    };
    if text.is_empty() {
        text
    } else {
        format!(": {text}")
    }
}
