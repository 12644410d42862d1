//! Progress of a running request.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress>

use serde::{Deserialize, Serialize};

use crate::{Meta, RequestId, number};

/// The token that ties progress to its request: a string or an integer, echoed with its JSON type.
// spec: PROG-01
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProgressToken(RequestId);

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProgressUpdate {
    /// How far the work is; grows with every report.
    #[serde(serialize_with = "number::plain")]
    pub progress: f64,
    /// Where it will end, if known.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "number::plain_option"
    )]
    pub total: Option<f64>,
    /// What is being done, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct ProgressParams {
    /// The token that the request came with.
    pub progress_token: ProgressToken,
    /// How far the work is.
    #[serde(serialize_with = "number::plain")]
    pub progress: f64,
    /// Where it will end, if known.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "number::plain_option"
    )]
    pub total: Option<f64>,
    /// What is being done, for people (2025-03-26 and later).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What the notification carries beside.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

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
