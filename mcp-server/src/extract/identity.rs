//! The authenticated caller.

use std::any::type_name;

use mcp_core::{Fault, Principal};

use super::from_call::FromCall;
use crate::call::CallContext;
use crate::rejection::Rejection;

/// The caller as a layer has authenticated it: the [`Principal`], or another type that the layer
/// inserts into the request's extensions, such as a token's claims. Rejects anonymous calls;
/// take `Option<Identity>` to accept them.
///
/// # Examples
///
/// ```
/// use mcp::Identity;
///
/// #[derive(Clone)]
/// struct Claims {
///     tenant: String,
/// }
///
/// fn whoami(Identity(who): Identity, claims: Option<Identity<Claims>>) -> String {
///     let tenant = claims.map(|Identity(claims)| claims.tenant);
///     format!("{} of {}", who.subject, tenant.as_deref().unwrap_or("no tenant"))
/// }
/// ```
// spec: SEC-03
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "parameters destructure it")]
pub struct Identity<T = Principal>(pub T);

impl<T: Clone + Send + Sync + 'static> FromCall for Identity<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let value = call.extensions().get::<T>().cloned();
        value.map(Self).ok_or_else(|| {
            tracing::debug!(
                r#type = type_name::<T>(),
                "no layer has authenticated the caller"
            );
            let reason = "this call needs an authenticated caller";
            Rejection::Fault(Fault::Refused(reason.into()))
        })
    }
}
