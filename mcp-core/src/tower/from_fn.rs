//! Async functions as middleware.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service as TowerService;

use super::{BoxError, Next, ReplyFuture};
use crate::call::Exchange;
use crate::message::Reply;

/// Makes middleware from an async function, which receives the call and the [`Next`] that answers
/// it.
///
/// # Examples
///
/// ```
/// use mcp::core::{Exchange, Fault, Reply};
/// use mcp::core::tower::{Next, from_fn};
///
/// async fn hide_secret(exchange: Exchange, next: Next) -> Result<Reply, Fault> {
///     if exchange.call.item() == Some("file:///secret") {
///         return Err(Fault::Refused("this resource is not served".into()));
///     }
///     Ok(next.run(exchange).await)
/// }
///
/// let layer = from_fn(hide_secret);
/// ```
pub fn from_fn<F, Fut>(function: F) -> FromFn<F>
where
    F: Fn(Exchange, Next) -> Fut + Clone + Send + 'static,
    Fut: Future<Output: Into<Reply>> + Send + 'static,
{
    FromFn(function)
}

/// A layer that [`from_fn`] made from an async function.
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
        FromFnService {
            function: self.0.clone(),
            next: Next::from_tower(inner),
        }
    }
}

/// The service of a [`FromFn`] layer.
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
