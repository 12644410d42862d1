//! Requests that nobody waits for any more.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation>

use serde::Serialize;

use crate::members::read_members;
use crate::{Meta, RequestId};

/// Parameters of `notifications/cancelled`.
// spec: CAN-01
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct Cancelled {
    /// The request. Absent only for tasks of 2025-11-25, where it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Why, for people.
    // spec: CAN-08
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the notification carries beside.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

read_members!(Cancelled as "what is cancelled" {} {
    "requestId" => request_id,
    "reason" => reason,
    "_meta" => meta,
});

impl Cancelled {
    /// Nobody waits for the request any more.
    pub fn new(request_id: impl Into<RequestId>) -> Self {
        Self {
            request_id: Some(request_id.into()),
            ..Self::default()
        }
    }

    /// Says why.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}
