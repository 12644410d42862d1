//! Protocol-level metadata of a request (`_meta`).

use std::ops::Deref;

use mcp_types::Meta;

use super::from_call::FromCall;
use crate::call::CallContext;
use crate::rejection::Rejection;

/// The request's `_meta` object: values by key, [`trace`](Meta::trace) and [`baggage`](Meta::baggage).
/// Rejects requests without one, which are possible before 2026-07-28; take `Option<RequestMeta>` to accept
/// them.
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
#[expect(clippy::exhaustive_structs, reason = "handlers destructure it")]
pub struct RequestMeta(pub Meta);

impl Deref for RequestMeta {
    type Target = Meta;

    fn deref(&self) -> &Meta {
        &self.0
    }
}

impl FromCall for RequestMeta {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let meta = call.meta().and_then(|meta| meta.parse().ok());
        meta.map(Self)
            .ok_or_else(|| Rejection::missing("this call needs `params._meta`, which is missing"))
    }
}
