//! Values that all calls share.

use std::any::type_name;

use super::from_call::FromCall;
use crate::call::{CallContext, RouteSpec};
use crate::rejection::Rejection;

/// A clone of the value with the type `T` that was passed to [`Server::state`](crate::Server::state) or
/// [`Routes::state`](crate::Routes::state). Wrap values that are expensive to clone in an `Arc`.
///
/// [`Server::check`](crate::Server::check) reports routes whose state is missing, before the first
/// call.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "parameters destructure it")]
pub struct State<T>(pub T);

impl<T: Clone + Send + Sync + 'static> FromCall for State<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        call.state::<T>().cloned().map(Self).ok_or_else(|| {
            tracing::error!(
                r#type = type_name::<T>(),
                "no state of this type; add `.state(…)`"
            );
            Rejection::not_set_up()
        })
    }

    fn describe(spec: &mut RouteSpec) {
        spec.needs_state::<T>();
    }
}
