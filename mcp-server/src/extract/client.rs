//! Who calls, as the client says, and what it sends beside the parameters.

use std::sync::Arc;

use mcp_core::ClientFacts;
use mcp_types::meta::{Baggage, TraceContext};
use mcp_types::{ClientCapabilities, Implementation, Meta, ProtocolVersion};
use serde::de::DeserializeOwned;

use super::FromCall;
use crate::context::CallContext;
use crate::rejection::Rejection;

/// The client, as it describes itself. Nothing of it is proven: whom to trust, [`Identity`] says.
///
/// # Examples
///
/// ```
/// use mcp_server::ClientInfo;
///
/// fn greet(client: ClientInfo) -> String {
///     let name = client.implementation().map(|client| client.name);
///     format!("Hello {}", name.as_deref().unwrap_or("stranger"))
/// }
/// ```
///
/// [`Identity`]: crate::Identity
// spec: VER-08
#[derive(Debug, Clone)]
pub struct ClientInfo(Arc<ClientFacts>);

impl ClientInfo {
    /// Its name and version; read when asked for.
    #[inline]
    pub fn implementation(&self) -> Option<Implementation> {
        self.0.client_info()
    }

    /// What it declares.
    #[inline]
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.0.capabilities
    }

    /// The revision that the call speaks.
    #[inline]
    pub fn version(&self) -> ProtocolVersion {
        self.0.version
    }
}

impl FromCall for ClientInfo {
    #[inline]
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(call.facts().clone()))
    }
}

/// The request's `_meta`. Rejects calls without one; take `Option<RequestMeta>` where it may be
/// missing, as it may before 2026-07-28.
///
/// # Examples
///
/// ```
/// use mcp_server::RequestMeta;
///
/// fn region(meta: RequestMeta) -> String {
///     meta.get("com.example/region").unwrap_or_else(|| "anywhere".to_owned())
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RequestMeta(Meta);

impl RequestMeta {
    /// The value at `key`, when it is there and of type `T`.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.0.get(key)
    }

    /// The trace that the request belongs to.
    // spec: META-14
    #[inline]
    pub fn trace(&self) -> Option<TraceContext> {
        self.0.trace()
    }

    /// What the application of the client sends along the trace.
    // spec: META-14
    #[inline]
    pub fn baggage(&self) -> Option<Baggage> {
        self.0.baggage()
    }

    /// All of it.
    #[inline]
    pub fn into_meta(self) -> Meta {
        self.0
    }
}

impl FromCall for RequestMeta {
    #[inline]
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let meta = call.meta().and_then(|meta| meta.parse().ok());
        meta.map(Self)
            .ok_or_else(|| Rejection::missing("this call needs `params._meta`, which is missing"))
    }
}
