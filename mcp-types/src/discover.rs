//! Discovery of a server's revisions and capabilities.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/discover>

use serde::{Deserialize, Serialize};

use crate::{Implementation, Meta, ProtocolVersion, ServerCapabilities, meta::keys};

/// Result of `server/discover`.
// spec: VER-06
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscoverResult {
    /// Names of the supported revisions, newest first. Revisions that this crate does not know are
    /// included.
    pub supported_versions: Vec<String>,
    /// Capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// Instructions for a language model on how to use the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Protocol-level metadata (`_meta`), in particular name and version of the server.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl DiscoverResult {
    /// Creates a result from the supported revisions and the capabilities of a server.
    pub fn new(versions: &[ProtocolVersion], capabilities: ServerCapabilities) -> Self {
        Self {
            supported_versions: versions.iter().map(ToString::to_string).collect(),
            capabilities,
            ..Self::default()
        }
    }

    /// Sets the instructions on how to use the server.
    #[must_use]
    pub fn instructions(mut self, instructions: Option<String>) -> Self {
        self.instructions = instructions;
        self
    }

    /// Returns name and version of the server from `_meta`.
    pub fn server_info(&self) -> Option<Implementation> {
        self.meta.as_ref()?.get(keys::SERVER_INFO)
    }
}
