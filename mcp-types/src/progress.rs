//! Progress of running requests.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress>

use serde::{Deserialize, Serialize};

use crate::{jsonrpc::RequestId, meta::Meta, number, setters::setters};

/// Token that connects progress notifications with their request: a string or an integer, echoed with
/// the same JSON type.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ProgressToken(RequestId);

impl ProgressToken {
    /// Returns the token as an id. Both have the same form.
    pub fn as_id(&self) -> &RequestId {
        &self.0
    }
}

impl<T: Into<RequestId>> From<T> for ProgressToken {
    fn from(token: T) -> Self {
        Self(token.into())
    }
}

/// Parameters of `notifications/progress` without the token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProgressUpdate {
    /// Progress so far. It increases with each notification.
    #[serde(serialize_with = "number::serialize")]
    pub progress: f64,
    /// Total amount of work, if known.
    #[serde(
        serialize_with = "number::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub total: Option<f64>,
    /// The current step's description, for users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl ProgressUpdate {
    /// Creates an update from the progress so far.
    pub fn new(progress: f64) -> Self {
        Self {
            progress,
            total: None,
            message: None,
        }
    }

    setters! {
        /// Sets the total amount of work.
        of(total: f64) => total;
        /// Sets the current step's description.
        message(message: impl Into<String>) => message;
    }
}

/// Parameters of `notifications/progress`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProgressParams {
    /// The request's token.
    pub progress_token: ProgressToken,
    /// Progress so far.
    #[serde(serialize_with = "number::serialize")]
    pub progress: f64,
    /// Total amount of work, if known.
    #[serde(
        serialize_with = "number::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub total: Option<f64>,
    /// The current step's description, for users (2025-03-26 and later).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ProgressParams {
    /// Creates the parameters from the token of a request and an update.
    pub fn new(token: impl Into<ProgressToken>, progress: ProgressUpdate) -> Self {
        Self {
            progress_token: token.into(),
            progress: progress.progress,
            total: progress.total,
            message: progress.message,
            meta: None,
        }
    }
}
