//! Values that layers insert into requests.

use std::any::type_name;

use super::from_call::FromCall;
use crate::call::CallContext;
use crate::rejection::Rejection;

/// A clone of the value with the type `T` that a layer inserted into the request's extensions. A missing
/// value is an internal error.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "parameters destructure it")]
pub struct Extension<T>(pub T);

impl<T: Clone + Send + Sync + 'static> FromCall for Extension<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let value = call.extensions().get::<T>().cloned();
        value.map(Self).ok_or_else(|| {
            tracing::error!(
                r#type = type_name::<T>(),
                "no layer inserted an extension of this type"
            );
            Rejection::not_set_up()
        })
    }
}
