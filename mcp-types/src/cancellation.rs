//! Requests that nobody waits for any more.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation>

use crate::json::members;
use crate::{Meta, RequestId};

/// Parameters of `notifications/cancelled`.
// spec: CAN-01
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Cancelled {
    /// The request. Absent only for tasks of 2025-11-25, where it says nothing.
    pub request_id: Option<RequestId>,
    /// Why, for people.
    // spec: CAN-08
    pub reason: Option<String>,
    /// What the notification carries beside.
    pub meta: Option<Meta>,
}

members!(Cancelled as "what is cancelled" {
    "requestId" => request_id or nothing,
    "reason" => reason or nothing,
    "_meta" => meta or nothing,
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
