//! The `initialize` handshake of legacy revisions.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>

use serde::{Deserialize, Serialize};

use crate::capabilities::{ClientCapabilities, ServerCapabilities};
use crate::{implementation::Implementation, meta::Meta, version::ProtocolVersion};

/// Parameters of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeParams {
    /// Name of the revision that the client requests. This crate may not know it.
    pub protocol_version: String,
    /// The client's capabilities.
    pub capabilities: ClientCapabilities,
    /// Name and version of the client.
    pub client_info: Implementation,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl InitializeParams {
    /// Creates the parameters from the requested revision and the client's capabilities and identity.
    pub fn new(
        version: ProtocolVersion,
        capabilities: ClientCapabilities,
        info: Implementation,
    ) -> Self {
        Self {
            protocol_version: version.to_string(),
            capabilities,
            client_info: info,
            meta: None,
        }
    }
}

/// Result of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeResult {
    /// Name of the session's revision. This crate may not know it.
    pub protocol_version: String,
    /// The server's capabilities.
    pub capabilities: ServerCapabilities,
    /// Name and version of the server.
    pub server_info: Implementation,
    /// Instructions for a language model on how to use the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl InitializeResult {
    /// Creates a result from the session's revision and the server's capabilities and identity.
    pub fn new(
        version: ProtocolVersion,
        capabilities: ServerCapabilities,
        info: Implementation,
    ) -> Self {
        Self {
            protocol_version: version.to_string(),
            capabilities,
            server_info: info,
            instructions: None,
            meta: None,
        }
    }
}
