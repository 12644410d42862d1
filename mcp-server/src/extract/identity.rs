//! Who calls, as a layer has verified.

use std::any::type_name;

use mcp_core::{Fault, Principal};

use super::FromCall;
use crate::context::CallContext;
use crate::rejection::Rejection;

/// Who calls, as a layer has verified it: the [`Principal`], or any other type that the layer
/// inserts into the request's extensions, such as the claims of a token. Rejects calls of nobody;
/// take `Option<Identity>` where anybody may call.
///
/// # Examples
///
/// ```
/// use mcp_server::Identity;
///
/// #[derive(Clone)]
/// struct Claims {
///     tenant: String,
/// }
///
/// fn whoami(Identity(who): Identity, claims: Option<Identity<Claims>>) -> String {
///     let tenant = claims.map(|Identity(claims)| claims.tenant);
///     format!("{} of {}", who.subject, tenant.as_deref().unwrap_or("nobody"))
/// }
/// ```
// spec: SEC-03
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameters")]
pub struct Identity<T = Principal>(pub T);

impl<T: Clone + Send + Sync + 'static> FromCall for Identity<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        call.extensions()
            .get::<T>()
            .cloned()
            .map(Self)
            .ok_or_else(|| {
                tracing::debug!(r#type = type_name::<T>(), "no layer has verified who calls");
                let reason = "this call needs to know who calls, and nobody has verified it";
                Rejection::Fault(Fault::Refused(reason.into()))
            })
    }
}
