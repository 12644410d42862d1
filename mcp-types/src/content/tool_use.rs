//! Tool calls in sampling messages.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/sampling>

use serde::{Deserialize, Serialize};

use crate::{meta::Meta, raw::RawObject};

/// A tool call by a language model (2025-11-25 and later, only in sampling).
// spec: SAMP-07
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolUseContent {
    /// The call's id. The result of the call repeats it.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The call's arguments.
    pub input: RawObject,
    /// Protocol-level metadata (`_meta`). Send it back to the language model together with the result.
    // spec: SAMP-15
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ToolUseContent {
    /// Creates a tool call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: RawObject) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input,
            meta: None,
        }
    }
}
