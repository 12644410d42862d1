//! What a server tells about itself.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/discover>

use crate::json::members;
use crate::{Implementation, Meta, ProtocolVersion, ServerCapabilities, meta::keys};

/// The result of `server/discover`.
// spec: VER-06
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The revisions that the endpoint speaks, newest first; also those this library does not know.
    pub supported_versions: Vec<String>,
    /// What the server offers.
    pub capabilities: ServerCapabilities,
    /// How to use the server, for a language model.
    pub instructions: Option<String>,
    /// What the result carries beside, the server's identity above all.
    pub meta: Option<Meta>,
}

members!(DiscoverResult as "what a server is" {
    "supportedVersions" => supported_versions,
    "capabilities" => capabilities,
    "instructions" => instructions or nothing,
    "_meta" => meta or nothing,
});

impl DiscoverResult {
    /// The revisions that a server speaks and what it offers.
    pub fn new(versions: &[ProtocolVersion], capabilities: ServerCapabilities) -> Self {
        Self {
            supported_versions: versions.iter().map(ToString::to_string).collect(),
            capabilities,
            ..Self::default()
        }
    }

    /// Sets how to use the server.
    #[must_use]
    pub fn instructions(mut self, instructions: Option<String>) -> Self {
        self.instructions = instructions;
        self
    }

    /// The identity that the server gave.
    #[inline]
    pub fn server_info(&self) -> Option<Implementation> {
        self.meta.as_ref()?.get(keys::SERVER_INFO)
    }
}
