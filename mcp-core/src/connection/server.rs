//! The server at the end of a connection.

use mcp_types::meta::keys;
use mcp_types::{CacheHint, DiscoverResult, Implementation, ProtocolVersion, ServerCapabilities};

/// The identity and the capabilities of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerProfile {
    /// The server's capabilities.
    pub capabilities: ServerCapabilities,
    /// Instructions for the language model that uses the server.
    pub instructions: Option<String>,
    /// The revisions that the server offers, newest first.
    pub versions: Vec<ProtocolVersion>,
    /// The time for which clients may cache the result of `server/discover`.
    pub cache: CacheHint,
    info: Implementation,
    /// The identity as a member of `_meta`: key and value, as JSON.
    info_member: Box<str>,
}

impl ServerProfile {
    /// A server without capabilities, which offers the latest revision.
    pub fn new(info: Implementation) -> Self {
        let info_json = serde_json::to_string(&info).unwrap_or_else(|_| "{}".to_owned());
        let info_member = format!("\"{}\":{info_json}", keys::SERVER_INFO).into();
        Self {
            capabilities: ServerCapabilities::default(),
            instructions: None,
            versions: vec![ProtocolVersion::LATEST],
            cache: CacheHint::default(),
            info,
            info_member,
        }
    }

    /// Returns the name and version.
    pub fn info(&self) -> &Implementation {
        &self.info
    }

    /// Returns the member of `_meta` that every result has: key and value, as JSON.
    // spec: META-12
    pub(crate) fn info_member(&self) -> &str {
        &self.info_member
    }

    /// Returns the result of `server/discover`.
    // spec: VER-05, VER-06
    pub(crate) fn discover(&self) -> DiscoverResult {
        let mut result = DiscoverResult::default();
        result.supported_versions = self.versions.iter().map(ToString::to_string).collect();
        result.capabilities.clone_from(&self.capabilities);
        result.instructions.clone_from(&self.instructions);
        result
    }
}
