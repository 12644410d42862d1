//! Progress of a running request.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress>

use crate::json::{Piece, Read, Slot, Write, members, read_and_written};
use crate::{Meta, RequestId};

/// The token that ties progress to its request: a string or an integer, echoed with its JSON type.
// spec: PROG-01
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProgressToken(RequestId);

impl Write for ProgressToken {
    #[inline]
    fn piece(&self) -> Piece<'_> {
        self.0.piece()
    }
}

impl Read for ProgressToken {
    #[inline]
    fn blank() -> Self {
        Self(RequestId::blank())
    }

    #[inline]
    fn slot(&mut self) -> Slot<'_> {
        self.0.slot()
    }
}

read_and_written!(ProgressToken);

impl ProgressToken {
    /// The token as an id, which has the same form.
    pub fn as_id(&self) -> &RequestId {
        &self.0
    }
}

impl<T: Into<RequestId>> From<T> for ProgressToken {
    fn from(token: T) -> Self {
        Self(token.into())
    }
}

/// Parameters of `notifications/progress`, without the token.
// spec: PROG-02
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProgressUpdate {
    /// How far the work is; grows with every report.
    pub progress: f64,
    /// Where it will end, if known.
    pub total: Option<f64>,
    /// What is being done, for people.
    pub message: Option<String>,
}

members!(ProgressUpdate as "progress" {
    "progress" => progress,
    "total" => total or nothing,
    "message" => message or nothing,
});

impl ProgressUpdate {
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

/// Parameters of `notifications/progress`.
// spec: PROG-02
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProgressParams {
    /// The token that the request came with.
    pub progress_token: ProgressToken,
    /// How far the work is.
    pub progress: f64,
    /// Where it will end, if known.
    pub total: Option<f64>,
    /// What is being done, for people (2025-03-26 and later).
    pub message: Option<String>,
    /// What the notification carries beside.
    pub meta: Option<Meta>,
}

members!(ProgressParams as "progress of a request" {
    "progressToken" => progress_token,
    "progress" => progress,
    "total" => total or nothing,
    "message" => message or nothing,
    "_meta" => meta or nothing,
});

impl ProgressParams {
    /// Progress under the token of a request.
    pub fn new(token: impl Into<ProgressToken>, progress: ProgressUpdate) -> Self {
        Self {
            progress_token: token.into(),
            progress: progress.progress,
            total: progress.total,
            message: progress.message,
            meta: None,
        }
    }

    /// The token and what is reported under it.
    pub fn into_parts(self) -> (ProgressToken, ProgressUpdate) {
        let progress = ProgressUpdate {
            progress: self.progress,
            total: self.total,
            message: self.message,
        };
        (self.progress_token, progress)
    }
}
