//! The handshake of the legacy era.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>

use crate::json::members;
use crate::{ClientCapabilities, Implementation, Meta, ProtocolVersion, ServerCapabilities};

/// Parameters of `initialize`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InitializeParams {
    /// The revision that the client wants to speak, known to this library or not.
    pub protocol_version: String,
    /// What the client offers.
    pub capabilities: ClientCapabilities,
    /// Who the client says it is.
    pub client_info: Implementation,
    /// What the request carries beside.
    pub meta: Option<Meta>,
}

members!(InitializeParams as "a handshake" {
    "protocolVersion" => protocol_version,
    "capabilities" => capabilities,
    "clientInfo" => client_info,
    "_meta" => meta or nothing,
});

impl InitializeParams {
    /// A client that wants to speak a revision.
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

    /// The revision, when this library knows it.
    pub fn version(&self) -> Option<ProtocolVersion> {
        self.protocol_version.parse().ok()
    }
}

/// The result of `initialize`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InitializeResult {
    /// The revision that both sides speak from now on, known to this library or not.
    pub protocol_version: String,
    /// What the server offers.
    pub capabilities: ServerCapabilities,
    /// Who the server says it is.
    pub server_info: Implementation,
    /// How to use the server, for a language model.
    pub instructions: Option<String>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(InitializeResult as "the answer to a handshake" {
    "protocolVersion" => protocol_version,
    "capabilities" => capabilities,
    "serverInfo" => server_info,
    "instructions" => instructions or nothing,
    "_meta" => meta or nothing,
});

impl InitializeResult {
    /// A server that speaks a revision.
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

    /// Sets how to use the server.
    #[must_use]
    pub fn instructions(mut self, instructions: Option<String>) -> Self {
        self.instructions = instructions;
        self
    }

    /// The revision, when this library knows it.
    pub fn version(&self) -> Option<ProtocolVersion> {
        self.protocol_version.parse().ok()
    }
}
