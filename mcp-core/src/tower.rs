//! Middleware: tower layers around calls, the same on every transport.
//!
//! A layer sees the [`Exchange`] before it is answered and the [`Reply`] after. What it wraps is
//! [`Next`], the rest of the way. A service made by a layer needs no `Clone`: all calls share it,
//! and so its limits. It sits behind a lock while a call waits for it to be ready and enters it,
//! and not while the call is answered.

mod fault;
mod from_fn;
mod turns;

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service as TowerService;

use crate::{
    BoxFuture, Changes, Exchange, ParamHeaders, Reply, ServerProfile, Service, catch_panic,
};
use parking_lot::Mutex;

pub use fault::BoxError;
pub use from_fn::{FromFn, FromFnService, from_fn};
use turns::Turns;

/// What can stand around calls: every tower layer whose service takes an [`Exchange`] and answers
/// with a [`Reply`]. [`from_fn`] makes one of an asynchronous function.
///
/// An error of the service becomes a fault by its type: a [`Fault`](crate::Fault) stays what it is,
/// `Elapsed` (a time limit) becomes [`Fault::Deadline`](crate::Fault::Deadline), `Overloaded` (a
/// shed load) becomes [`Fault::Refused`](crate::Fault::Refused), any other one goes to the log and
/// becomes an internal fault without its text.
///
/// Implemented for all of them; not meant to be implemented by hand.
pub trait Middleware {
    /// Stands around the rest of the way.
    fn wrap(self, next: Next) -> Next;
}

impl<L> Middleware for L
where
    L: Layer<Next>,
    L::Service: TowerService<Exchange, Response = Reply, Error: Into<BoxError>, Future: Send>
        + Send
        + 'static,
{
    fn wrap(self, next: Next) -> Next {
        Next::through(self.layer(next))
    }
}

type Run = dyn Fn(Exchange) -> BoxFuture<'static, Reply> + Send + Sync;

/// The rest of the way of a call: further layers, then the handler. A clone is the same way.
///
/// As a tower service it is always ready; layers around it wait when they are called. Layers that
/// ask whether others are ready (`LoadShed`) therefore belong with them in one `ServiceBuilder`.
#[derive(Clone)]
pub struct Next(Arc<Run>);

impl Next {
    /// A way that ends in a function. It must not panic when it is called.
    pub fn new(
        end: impl Fn(Exchange) -> BoxFuture<'static, Reply> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(end))
    }

    /// A way that ends in a service.
    pub fn from_service(service: Arc<impl Service + ?Sized>) -> Self {
        Self::new(move |exchange| service.call(exchange))
    }

    /// A way through a tower service.
    fn through<T>(service: T) -> Self
    where
        T: TowerService<Exchange, Response = Reply, Error: Into<BoxError>, Future: Send>
            + Send
            + 'static,
    {
        let door = Arc::new((Arc::new(Turns::default()), Mutex::new(service)));
        Self::new(move |exchange| {
            let door = door.clone();
            Box::pin(async move {
                let (turns, service) = &*door;
                match catch_panic(enter(turns, service, exchange)).await {
                    Ok(Ok(reply)) => reply,
                    Ok(Err(error)) => fault::of(error.into()).into(),
                    Err(panic) => fault::of_panic(&panic).into(),
                }
            })
        })
    }

    /// Runs the call. Dropping the future cancels it.
    pub fn run(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        (self.0)(exchange)
    }
}

/// One call after the other waits for the service to be ready and enters it.
async fn enter<T: TowerService<Exchange>>(
    turns: &Arc<Turns>,
    service: &Mutex<T>,
    exchange: Exchange,
) -> Result<T::Response, T::Error> {
    let answer = {
        let _turn = turns.next().await;
        poll_fn(|cx| service.lock().poll_ready(cx)).await?;
        service.lock().call(exchange)
    };
    answer.await
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
    /// A call that runs.
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

/// A service with a layer around its calls: a proxy with a time limit, a gateway that counts.
/// (A `Server` of `mcp-server` takes layers itself.)
#[derive(Debug)]
pub struct Layered<S> {
    service: Arc<S>,
    next: Next,
}

impl<S: Service> Layered<S> {
    /// Puts a layer around the calls of a service.
    pub fn new(service: S, layer: impl Middleware) -> Self {
        let service = Arc::new(service);
        let next = layer.wrap(Next::from_service(service.clone()));
        Self { service, next }
    }
}

impl<S: Service> Service for Layered<S> {
    fn profile(&self) -> Arc<ServerProfile> {
        self.service.profile()
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        self.next.run(exchange)
    }

    fn changes(&self) -> Option<Changes> {
        self.service.changes()
    }

    fn header_plan(&self, tool: &str) -> Option<Arc<ParamHeaders>> {
        self.service.header_plan(tool)
    }
}

#[cfg(test)]
mod tests;
