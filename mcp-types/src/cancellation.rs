//! Request cancellation.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation>

use serde::{Deserialize, Serialize};

use crate::{jsonrpc::RequestId, meta::Meta};

/// Parameters of `notifications/cancelled`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Cancelled {
    /// The cancelled request's id. In 2025-11-25 it may be absent, because tasks have their own
    /// cancellation; a notification without an id has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Reason, for logs and users.
    // spec: CAN-08
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl<T: Into<RequestId>> From<T> for Cancelled {
    fn from(request_id: T) -> Self {
        Self {
            request_id: Some(request_id.into()),
            ..Self::default()
        }
    }
}
