//! Extractors that await.

use std::any::type_name;
use std::future::Future;

use super::from_call::FromCall;
use crate::call::{CallContext, RouteSpec};
use crate::rejection::Rejection;

/// An extractor that awaits, such as one that loads the caller's account from a database. A handler takes
/// its value as [`Async<T>`].
///
/// It runs before the other extractors and the handler. When the call is cancelled, its future is dropped. It
/// has no timeout of its own: a timeout layer on the route or the server limits it together with the
/// handler.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use mcp::{Async, CallContext, FromCallAsync, Rejection, Server, Tool, ToolExt};
/// use tower::timeout::TimeoutLayer;
///
/// # #[derive(Clone)] struct Db;
/// # impl Db { async fn account(&self, _: &str) -> Option<String> { None } }
/// struct Account(String);
///
/// impl FromCallAsync for Account {
///     async fn from_call_async(call: &mut CallContext) -> Result<Self, Rejection> {
///         let db = call.state::<Db>().cloned().ok_or_else(|| Rejection::missing("no database"))?;
///         let account = db.account("ada").await;
///         account.map(Self).ok_or_else(|| Rejection::missing("no account"))
///     }
/// }
///
/// async fn balance(Async(account): Async<Account>) -> String {
///     account.0
/// }
///
/// let server = Server::new("bank", "1.0.0")
///     .state(Db)
///     .tool(Tool::new("balance").handler(balance))
///     .layer(TimeoutLayer::new(Duration::from_secs(10)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extractor that awaits",
    note = "implement `FromCallAsync` for the type; take an extractor with `FromCall` without `Async`"
)]
pub trait FromCallAsync: Sized + Send + 'static {
    /// Takes the value from the call, or loads it.
    ///
    /// # Errors
    ///
    /// Returns a [`Rejection`] if there is no value. The handler then does not run, unless it takes
    /// `Option<Async<T>>`.
    fn from_call_async(
        call: &mut CallContext,
    ) -> impl Future<Output = Result<Self, Rejection>> + Send;

    /// Adds the extractor's requirements to those of the route. Called once, when the route is created. Adds
    /// nothing by default.
    fn describe(_: &mut RouteSpec) {}
}

/// The value of a [`FromCallAsync`] extractor. Take `Option<Async<T>>` to accept calls that the extractor
/// rejects.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::exhaustive_structs, reason = "parameters destructure it")]
pub struct Async<T>(pub T);

impl<T: FromCallAsync> FromCall for Async<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let Some(value) = call.take_prepared::<Result<T, Rejection>>() else {
            tracing::error!(
                r#type = type_name::<T>(),
                "an extractor calls `Async::from_call`, but its `describe` does not call `Async::describe`"
            );
            return Err(Rejection::not_set_up());
        };
        value.map(Self)
    }

    fn describe(spec: &mut RouteSpec) {
        T::describe(spec);
        spec.preparations.push(|call| {
            Box::pin(async move {
                let value = T::from_call_async(call).await;
                let rejection = value.as_ref().err().cloned();
                // A rejection is stored too: an optional parameter takes it.
                call.add_prepared(value);
                rejection.map_or(Ok(()), Err)
            })
        });
    }
}
