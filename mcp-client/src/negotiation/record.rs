//! The record of version negotiation.

use std::fmt;

use mcp_types::{Method, ProtocolVersion};

use super::probe::Verdict;

/// The record of version negotiation: the requests that were sent, and the outcome.
///
/// `Display` is for people. Programs that store the outcome use [`verdict`](Self::verdict).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Negotiation {
    /// The requests in the order in which they were sent. Empty when the revision was given.
    pub tried: Vec<Tried>,
    /// The outcome. A program that stores it connects to the same server without negotiation, by
    /// [`ConnectMode::Prior`](crate::ConnectMode::Prior).
    // spec: COMPAT-12
    pub verdict: Verdict,
}

/// A request of version negotiation and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tried {
    /// The request's method.
    pub method: Method,
    /// The request's revision.
    pub version: ProtocolVersion,
    /// The supported versions of the server, or an error message.
    pub outcome: String,
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
        write!(f, "negotiated: {}", self.verdict.version())
    }
}
