//! The trait of extractors.

use crate::call::{CallContext, RouteSpec};
use crate::rejection::Rejection;

/// An extractor: a type that handlers take as a parameter and that is found in the call.
///
/// # Examples
///
/// ```
/// use mcp::{CallContext, FromCall, Rejection};
///
/// /// The protocol revision of the call.
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
    note = "`Args<T>` needs `#[derive(serde::Deserialize, schemars::JsonSchema)]` on `T`, both of them, without borrowed fields",
    note = "take arguments as `Args<T>`, shared values as `State<T>`, what a layer inserted as `Extension<T>`"
)]
pub trait FromCall: Sized {
    /// Finds the value in the call.
    ///
    /// # Errors
    ///
    /// Returns a [`Rejection`] when the value is missing or malformed. Its message says how to send
    /// or provide the value.
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection>;

    /// Adds the extractor's requirements to those of the route. Called once, when the route is
    /// created. By default an extractor has none.
    fn describe(_: &mut RouteSpec) {}
}

/// `None` where the extractor rejects the call.
impl<T: FromCall> FromCall for Option<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(T::from_call(call).ok())
    }

    fn describe(spec: &mut RouteSpec) {
        let mut optional = RouteSpec::default();
        T::describe(&mut optional);
        spec.add_optional(&optional);
    }
}
