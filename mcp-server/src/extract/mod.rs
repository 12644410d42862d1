//! What a handler may take: values found in the call by their type.

mod args;
mod cancel;
mod client;
mod http_parts;
mod identity;
mod json;
mod notes;
mod state;
mod text;

pub use args::{Args, RawArgs};
pub use cancel::Cancel;
pub use client::{ClientInfo, RequestMeta};
pub use http_parts::{Extension, FromHeader, Header, Headers};
pub use identity::Identity;
pub use notes::{Log, Progress};
pub use state::State;

use crate::context::CallContext;
use crate::rejection::Rejection;
use crate::spec::RouteSpec;

/// A value that a handler may take as a parameter: found in the call, or the call is rejected.
///
/// # Examples
///
/// ```
/// use mcp_server::{CallContext, FromCall, Rejection};
///
/// /// The revision that the call speaks.
/// struct Revision(String);
///
/// impl FromCall for Revision {
///     fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
///         Ok(Self(call.facts().version.to_string()))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extractor",
    label = "a handler cannot take this",
    note = "take arguments as `Args<{Self}>`, shared values as `State<{Self}>`, what a layer inserted as `Extension<{Self}>`"
)]
pub trait FromCall: Sized {
    /// Finds the value.
    ///
    /// # Errors
    ///
    /// A [`Rejection`] that says what is missing and how to send or provide it.
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection>;

    /// Writes down what the extractor needs, once, when the route is made.
    fn describe(_: &mut RouteSpec) {}
}

/// `None` where the extractor rejects the call.
impl<T: FromCall> FromCall for Option<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(T::from_call(call).ok())
    }

    fn describe(spec: &mut RouteSpec) {
        let mut wanted = RouteSpec::default();
        T::describe(&mut wanted);
        spec.wants(&wanted);
    }
}
