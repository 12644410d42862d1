//! Results that ask for input first.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>

use serde::{Deserialize, Serialize};

use crate::{Meta, RawObject};

/// The answer that asks the client for input and to send the request again with it.
// spec: MRTR-03
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct InputRequired {
    /// What is asked, by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<RawObject>,
    /// What the client has to send back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// What the result carries beside.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}
