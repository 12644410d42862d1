//! Discovery of server revisions and capabilities.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/discover>

use serde::{Deserialize, Serialize};

use crate::{capabilities::ServerCapabilities, meta::Meta};

/// Result of `server/discover`.
// spec: VER-06
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscoverResult {
    /// Names of the supported revisions, newest first. Revisions that this crate does not know are
    /// included.
    pub supported_versions: Vec<String>,
    /// The server's capabilities.
    pub capabilities: ServerCapabilities,
    /// Instructions for a language model on how to use the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Protocol-level metadata (`_meta`), in particular name and version of the server.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}
