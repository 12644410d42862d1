//! The trait of everything that answers calls.

use std::error::Error;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::exchange::Exchange;
use super::tasks::TaskEngine;
use crate::authorization::ScopedItem;
use crate::changes::Changes;
use crate::connection::{ClientContext, Extensions, ServerProfile};
use crate::message::{Call, Fault, Reply};
use crate::observe::Observer;
use crate::schema::param_headers::ParamHeaders;

/// Answers calls: a server with handlers, a proxy, a gateway, a test double.
///
/// Transports and wires are on one side of this trait: bytes, headers, revisions. The other side sees
/// [`Call`](crate::Call)s and [`Reply`]s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not answer calls",
    label = "expected a `Server`, an `Arc<Server>` or another `Service`",
    note = "a value with `#[mcp::server]`, and a `Mock`, become a server with `Server::of(value)`",
    note = "tokens are demanded by the endpoint: `Serve::new(server).authorize(auth)`"
)]
pub trait Service: Send + Sync + 'static {
    /// Returns the identity and the capabilities of the server.
    fn profile(&self) -> Arc<ServerProfile>;

    /// Answers one call. Dropping the future cancels the call.
    ///
    /// The future must not panic: the implementation catches panics of user code.
    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply>;

    /// Returns the call that runs in place of another one, such as the call inside of a tool that calls other tools.
    /// Gates, scopes and headers are checked for it. `None` (default): the call runs itself. A service that wraps
    /// another one should forward it.
    fn replacement(&self, _call: &Call) -> Option<Call> {
        None
    }

    /// Returns the changes of the server's lists and resources, always clones of the same value.
    /// `None` for a server that never changes.
    // spec: SUB-01
    fn changes(&self) -> Option<Changes> {
        None
    }

    /// Returns the engine of the server's tasks, whose changes clients can subscribe to. `None` for a server
    /// without tasks.
    // spec: TASK-19
    fn task_engine(&self) -> Option<Arc<dyn TaskEngine>> {
        None
    }

    /// Returns the observer of the messages that the service does not receive, such as
    /// `server/discover`. `None` (default): nobody observes them. A service that wraps another one
    /// should forward it.
    fn observer(&self) -> Option<Arc<dyn Observer>> {
        None
    }

    /// Checks that the caller has the scopes for a call that runs (see [`replacement`](Self::replacement)), and returns the arguments of a tool that clients
    /// repeat in headers, if there are any. A transport with authorization calls it before the call starts,
    /// so that it can refuse the call with a status of its own. A service that wraps another one should
    /// forward it.
    ///
    /// The arguments are returned whether or not the caller may see the tool. The transport compares them
    /// with the headers, passes a mismatch as [`HeaderMismatch`](crate::HeaderMismatch) in the call's
    /// extensions, and the service answers with it.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::InsufficientScope`] when the caller lacks scopes.
    // spec: AUTH-S-08
    fn admit(
        &self,
        _call: &Call,
        _facts: &ClientContext,
        _extensions: &Extensions,
    ) -> Result<Option<Arc<ParamHeaders>>, Fault> {
        Ok(None)
    }

    /// Checks that the service can answer calls. A client in the same process calls it before it connects.
    /// A service that wraps another one should forward it.
    ///
    /// # Errors
    ///
    /// Returns the mistakes in the settings of the service. Default: none.
    fn check(&self) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }

    /// Returns an item whose calls need scopes, if there is one. An endpoint that demands no token would
    /// refuse all of its calls, so it does not start. A service that wraps another one should forward it.
    fn scoped_item(&self) -> Option<ScopedItem> {
        None
    }
}

/// A mismatch between a `tools/call`'s headers and its arguments, found by the transport.
///
/// The fault names a header and a tool argument. Callers that may not see the tool must not
/// learn them. Therefore the transport adds this value to the call's
/// [extensions](crate::Extensions::insert) instead of answering with it. A service that
/// returns plans from [`Service::admit`](crate::Service::admit) answers with the fault once it
/// knows that the tool exists for the caller, and before it runs the tool.
///
/// # Examples
///
/// ```
/// use mcp::core::{Exchange, HeaderMismatch, Reply};
///
/// fn refuse_mismatch(exchange: &Exchange) -> Option<Reply> {
///     let mismatch = exchange.extensions.get::<HeaderMismatch>()?;
///     Some(mismatch.0.clone().into())
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "transports construct it")]
pub struct HeaderMismatch(pub Fault);

#[diagnostic::do_not_recommend]
impl<S: Service + ?Sized> Service for Arc<S> {
    fn profile(&self) -> Arc<ServerProfile> {
        (**self).profile()
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        (**self).call(exchange)
    }

    fn replacement(&self, call: &Call) -> Option<Call> {
        (**self).replacement(call)
    }

    fn changes(&self) -> Option<Changes> {
        (**self).changes()
    }

    fn task_engine(&self) -> Option<Arc<dyn TaskEngine>> {
        (**self).task_engine()
    }

    fn observer(&self) -> Option<Arc<dyn Observer>> {
        (**self).observer()
    }

    fn admit(
        &self,
        call: &Call,
        facts: &ClientContext,
        extensions: &Extensions,
    ) -> Result<Option<Arc<ParamHeaders>>, Fault> {
        (**self).admit(call, facts, extensions)
    }

    fn check(&self) -> Result<(), Box<dyn Error + Send + Sync>> {
        (**self).check()
    }

    fn scoped_item(&self) -> Option<ScopedItem> {
        (**self).scoped_item()
    }
}
