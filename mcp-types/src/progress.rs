//! Progress of a running request.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress>

use serde::{Deserialize, Serialize};

use crate::RequestId;

/// The token that ties progress to its request: a string or an integer, echoed with its JSON type.
// spec: PROG-01
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProgressToken(RequestId);

impl<T: Into<RequestId>> From<T> for ProgressToken {
    fn from(token: T) -> Self {
        Self(token.into())
    }
}

/// Parameters of `notifications/progress`, without the token.
// spec: PROG-02
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// How far the work is; grows with every report.
    pub progress: f64,
    /// Where it will end, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is being done, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Progress {
    /// So far.
    pub fn new(progress: f64) -> Self {
        Self {
            progress,
            total: None,
            message: None,
        }
    }

    /// Out of `total`.
    #[must_use]
    pub fn of(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// Says what is being done.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}
