//! The client, as it describes itself.

use std::sync::Arc;

use mcp_core::ClientContext;
use mcp_types::{ClientCapabilities, Implementation, ProtocolVersion};

use super::from_call::FromCall;
use crate::call::CallContext;
use crate::rejection::Rejection;

/// The name, version, capabilities and protocol revision that the client declares. A client can
/// declare anything; use [`Identity`](crate::Identity) to authorize.
///
/// # Examples
///
/// ```
/// use mcp::ClientInfo;
///
/// fn greet(client: ClientInfo) -> String {
///     let name = client.implementation().map(|client| client.name);
///     format!("Hello {}", name.as_deref().unwrap_or("stranger"))
/// }
/// ```
// spec: VER-08
#[derive(Debug, Clone)]
pub struct ClientInfo(Arc<ClientContext>);

impl ClientInfo {
    /// Name and version of the client, if it sent them. Each call decodes them again.
    pub fn implementation(&self) -> Option<Implementation> {
        self.0.client_info()
    }

    /// Capabilities that the client declares.
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.0.capabilities
    }

    /// The call's protocol revision.
    pub fn version(&self) -> ProtocolVersion {
        self.0.version
    }
}

impl FromCall for ClientInfo {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(call.facts().clone()))
    }
}
