//! Asynchronous functions as middleware.

use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service as TowerService;

use super::{BoxError, Next, ReplyFuture};
use crate::{Exchange, Reply};

/// Middleware of an asynchronous function: it gets the call and the rest of the way, and answers.
///
/// # Examples
///
/// ```
/// use mcp_core::{Exchange, Fault, Reply};
/// use mcp_core::tower::{Next, from_fn};
///
/// /// Nobody asks for more than one secret.
/// async fn keep_secrets(exchange: Exchange, next: Next) -> Result<Reply, Fault> {
///     if exchange.call.item() == Some("file:///secret") {
///         return Err(Fault::Refused("this one stays here".into()));
///     }
///     Ok(next.run(exchange).await)
/// }
///
/// let layer = from_fn(keep_secrets);
/// ```
pub fn from_fn<F, Fut>(function: F) -> FromFn<F>
where
    F: Fn(Exchange, Next) -> Fut + Clone + Send + 'static,
    Fut: Future<Output: Into<Reply>> + Send + 'static,
{
    FromFn(function)
}

/// A layer of an asynchronous function. Made by [`from_fn`].
#[derive(Clone, Copy)]
pub struct FromFn<F>(F);

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn").finish_non_exhaustive()
    }
}

impl<F, S> Layer<S> for FromFn<F>
where
    F: Clone,
    S: TowerService<Exchange, Response = Reply, Error: Into<BoxError>, Future: Send>
        + Send
        + 'static,
{
    type Service = FromFnService<F>;

    fn layer(&self, inner: S) -> FromFnService<F> {
        // The rest of the way is not put behind a lock once more.
        let next = (&inner as &dyn Any).downcast_ref::<Next>().cloned();
        FromFnService {
            function: self.0.clone(),
            next: next.unwrap_or_else(|| Next::through(inner)),
        }
    }
}

/// A service of an asynchronous function. Made by [`FromFn`].
#[derive(Clone)]
pub struct FromFnService<F> {
    function: F,
    next: Next,
}

impl<F> fmt::Debug for FromFnService<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFnService").finish_non_exhaustive()
    }
}

impl<F, Fut> TowerService<Exchange> for FromFnService<F>
where
    F: Fn(Exchange, Next) -> Fut,
    Fut: Future<Output: Into<Reply>>,
{
    type Response = Reply;
    type Error = Infallible;
    type Future = ReplyFuture<Fut>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, exchange: Exchange) -> ReplyFuture<Fut> {
        ReplyFuture::new((self.function)(exchange, self.next.clone()))
    }
}
