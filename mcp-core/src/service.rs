//! The waist of the library: one call in, one reply out.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::{Changes, Exchange, ParamHeaders, Reply, ServerProfile};

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Whatever answers calls: a server with handlers, a proxy, a gateway, a test double.
///
/// Everything on one side of it speaks bytes and eras, everything on the other side speaks
/// [`Call`](crate::Call)s and [`Reply`]s and knows neither.
pub trait Service: Send + Sync + 'static {
    /// Who the server is and what it offers.
    fn profile(&self) -> Arc<ServerProfile>;

    /// Answers one call. Dropping the future cancels the call.
    ///
    /// The future must not panic: whoever runs user code catches its panics.
    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply>;

    /// The changes of its lists and resources; `None` when nothing of it ever changes. Always clones
    /// of the same.
    // spec: SUB-01
    fn changes(&self) -> Option<Changes> {
        None
    }

    /// Which arguments of a tool a transport with headers compares with them; `None` when there
    /// are none.
    // spec: XHDR-17
    fn header_plan(&self, _tool: &str) -> Option<Arc<ParamHeaders>> {
        None
    }
}

impl<S: Service + ?Sized> Service for Arc<S> {
    fn profile(&self) -> Arc<ServerProfile> {
        (**self).profile()
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        (**self).call(exchange)
    }

    fn changes(&self) -> Option<Changes> {
        (**self).changes()
    }

    fn header_plan(&self, tool: &str) -> Option<Arc<ParamHeaders>> {
        (**self).header_plan(tool)
    }
}
