//! Protocol-level metadata of a request (`_meta`).

use mcp_types::Meta;
use mcp_types::meta::{Baggage, TraceContext};
use serde::de::DeserializeOwned;

use super::from_call::FromCall;
use crate::call::CallContext;
use crate::rejection::Rejection;

/// The `_meta` object of the request. Rejects requests without one, which are possible before
/// 2026-07-28; take `Option<RequestMeta>` to accept them.
///
/// # Examples
///
/// ```
/// use mcp::RequestMeta;
///
/// fn region(meta: RequestMeta) -> String {
///     meta.get("com.example/region").unwrap_or_else(|| "anywhere".to_owned())
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RequestMeta(Meta);

impl RequestMeta {
    /// Returns the value at `key`, if it is present and decodes into `T`.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.0.get(key)
    }

    /// Returns the W3C trace context of the request.
    // spec: META-14
    pub fn trace(&self) -> Option<TraceContext> {
        self.0.trace()
    }

    /// Returns the W3C baggage of the request.
    // spec: META-14
    pub fn baggage(&self) -> Option<Baggage> {
        self.0.baggage()
    }

    /// Returns the whole object.
    pub fn into_meta(self) -> Meta {
        self.0
    }
}

impl FromCall for RequestMeta {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let meta = call.meta().and_then(|meta| meta.parse().ok());
        meta.map(Self)
            .ok_or_else(|| Rejection::missing("this call needs `params._meta`, which is missing"))
    }
}
