//! How the revision was found: a record for logs, and for the next connection.

use std::fmt;

use mcp_core::versioning::Verdict;
use mcp_types::{Method, ProtocolVersion};

/// How client and server came to speak the revision that they speak.
///
/// Its text is for people; [`verdict`](Self::verdict) is for programs that keep it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Negotiation {
    /// What was asked, in this order. Nothing when the revision was given.
    pub tried: Vec<Tried>,
    verdict: Verdict,
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tried {
    /// What was asked.
    pub method: Method,
    /// The revision that it was asked in.
    pub version: ProtocolVersion,
    /// What came back.
    pub outcome: String,
}

impl Negotiation {
    pub(crate) fn new(tried: Vec<Tried>, verdict: Verdict) -> Self {
        Self { tried, verdict }
    }

    /// What is known of the server now, for [`ConnectMode::Prior`](crate::ConnectMode::Prior): a
    /// program that keeps it connects to the same server without asking again.
    // spec: COMPAT-12
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }
}

impl fmt::Display for Negotiation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Tried {
            method,
            version,
            outcome,
        } in &self.tried
        {
            write!(f, "{method} ({version}): {outcome}; ")?;
        }
        write!(f, "spoken: {}", self.verdict.version())
    }
}
