//! Middleware: tower layers around calls, the same on every transport.
//!
//! A layer sees the [`Exchange`] before the call and the [`Reply`] after it. It wraps [`Next`]: the
//! remaining layers and the handler. All calls share the service that a layer makes, so the service need
//! not be `Clone`. Each call locks the service, waits for `poll_ready`, calls it, and releases the lock
//! before it awaits the reply.

mod fault;
mod from_fn;
mod layers;

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use futures_util::lock::Mutex;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service as TowerService;

use crate::call::{Endpoint, Exchange};
use crate::message::Reply;
use crate::observe::Observer;
use crate::panic::catch_panic;

pub use fault::BoxError;
pub use from_fn::{FromFn, FromFnService, from_fn};
#[doc(hidden)]
pub use layers::{Layers, SharedLayer};

/// A layer around calls: every tower layer whose service accepts an [`Exchange`] and returns a
/// [`Reply`]. [`from_fn`] makes one from an async function.
///
/// An error of the service becomes a fault by its type:
///
/// | error | fault |
/// |---|---|
/// | [`Fault`](crate::Fault) | the same |
/// | `Elapsed` (time limit) | [`Fault::Deadline`](crate::Fault::Deadline) |
/// | `Overloaded` (load shedding) | [`Fault::Overloaded`](crate::Fault::Overloaded), with a wait of one second |
/// | any other | an internal fault; the error is logged and not sent |
///
/// All such layers implement the trait. Do not implement it by hand.
pub trait Middleware {
    /// Wraps the remaining layers and the handler.
    fn wrap(self, next: Next) -> Next;

    /// Returns the observer of the messages that layers do not see. Default: none. A server or a client has
    /// one observer: if several layers have one, that of the layer that is added last.
    fn observer(&self) -> Option<Arc<dyn Observer>> {
        None
    }
}

impl<L> Middleware for L
where
    L: Layer<Next>,
    L::Service: TowerService<Exchange, Response = Reply, Error: Into<BoxError>, Future: Send>
        + Send
        + 'static,
{
    fn wrap(self, next: Next) -> Next {
        Next::from_tower(self.layer(next))
    }
}

/// The remaining layers of a call and its handler. Cloning is cheap.
///
/// As a tower service it is always ready, even if an inner layer is not: the call waits instead. A layer that
/// depends on an inner layer's readiness, such as `LoadShed`, therefore belongs into the same
/// `ServiceBuilder` as that layer.
#[derive(Clone)]
pub struct Next(Arc<dyn Fn(Exchange) -> BoxFuture<'static, Reply> + Send + Sync>);

impl Next {
    /// Wraps a function that answers calls. The function must not panic when it is called.
    pub fn new(
        handler: impl Fn(Exchange) -> BoxFuture<'static, Reply> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(handler))
    }

    /// Wraps a tower service that answers calls.
    fn from_tower<T>(service: T) -> Self
    where
        T: TowerService<Exchange, Response = Reply, Error: Into<BoxError>, Future: Send>
            + Send
            + 'static,
    {
        let service = Arc::new(Mutex::new(service));
        Self::new(move |exchange| {
            let service = service.clone();
            Box::pin(async move {
                match catch_panic(call(&service, exchange)).await {
                    Ok(Ok(reply)) => reply,
                    Ok(Err(error)) => fault::from_error(error.into()).into(),
                    Err(panic) => fault::from_panic(&panic).into(),
                }
            })
        })
    }

    /// The innermost service of layers whose calls have different endpoints: each call runs the endpoint that
    /// it passed to [`run_to`](Self::run_to).
    pub(crate) fn endpoint() -> Self {
        Self::new(|mut exchange| match exchange.endpoint.take() {
            Some(Endpoint(endpoint)) => endpoint(exchange),
            None => {
                tracing::error!(
                    "a layer passed on a new exchange instead of the one that it received"
                );
                Box::pin(ready(fault::internal().into()))
            }
        })
    }

    /// Runs a call through layers around [`Next::endpoint`], then through `endpoint`.
    ///
    /// A layer is applied once, so that its calls share its limits; its innermost service differs per call, and
    /// only the exchange travels through foreign layers. It carries the endpoint in a private field, because an
    /// entry of `Extensions` would allocate a map per call. Layers may change the exchange, but have to pass it
    /// on: a call with a new one fails. An endpoint may call `run_to` again.
    pub(crate) fn run_to(
        &self,
        mut exchange: Exchange,
        endpoint: impl FnOnce(Exchange) -> BoxFuture<'static, Reply> + Send + Sync + 'static,
    ) -> BoxFuture<'static, Reply> {
        let outer = exchange.endpoint.take();
        exchange.endpoint = Some(Endpoint(Box::new(move |mut exchange| {
            exchange.endpoint = outer;
            endpoint(exchange)
        })));
        self.run(exchange)
    }

    /// Runs the call. Dropping the future cancels it.
    pub fn run(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        (self.0)(exchange)
    }
}

/// Waits until the service is ready and calls it. Releases the lock before it awaits the response.
async fn call<T: TowerService<Exchange>>(
    service: &Mutex<T>,
    exchange: Exchange,
) -> Result<T::Response, T::Error> {
    let response = {
        let mut service = service.lock().await;
        poll_fn(|cx| service.poll_ready(cx)).await?;
        service.call(exchange)
    };
    response.await
}

impl TowerService<Exchange> for Next {
    type Response = Reply;
    type Error = Infallible;
    type Future = ReplyFuture<BoxFuture<'static, Reply>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, exchange: Exchange) -> Self::Future {
        ReplyFuture::new(self.run(exchange))
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").finish_non_exhaustive()
    }
}

pin_project! {
    /// The response future of [`Next`] and [`FromFnService`].
    #[derive(Debug)]
    pub struct ReplyFuture<F> {
        #[pin]
        future: F,
    }
}

impl<F> ReplyFuture<F> {
    fn new(future: F) -> Self {
        Self { future }
    }
}

impl<F: Future<Output: Into<Reply>>> Future for ReplyFuture<F> {
    type Output = Result<Reply, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().future.poll(cx).map(|reply| Ok(reply.into()))
    }
}

#[cfg(test)]
mod tests;
