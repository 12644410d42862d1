//! Values that all calls share.

use std::any::type_name;

use mcp_core::Fault;

use super::FromCall;
use crate::context::CallContext;
use crate::rejection::Rejection;
use crate::spec::RouteSpec;

/// A clone of a value that was given to [`Server::state`](crate::Server::state), found by its type.
/// Put what is expensive to clone behind an `Arc`.
///
/// A route whose state nobody gave is refused by [`Server::check`](crate::Server::check), before
/// the first call.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameters")]
pub struct State<T>(pub T);

impl<T: Clone + Send + Sync + 'static> FromCall for State<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let missing = || {
            tracing::error!(
                r#type = type_name::<T>(),
                "no state of this type; add `.state(…)`"
            );
            Rejection::Fault(Fault::internal("the server is not set up for this call"))
        };
        call.state::<T>().cloned().map(State).ok_or_else(missing)
    }

    fn describe(spec: &mut RouteSpec) {
        spec.needs_state::<T>();
    }
}
