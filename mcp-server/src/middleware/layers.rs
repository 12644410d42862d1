//! The layers of one server or of one route.

use std::sync::Arc;

use mcp_core::tower::{Middleware, Next};
use mcp_core::{BoxFuture, Exchange, Fault, Reply};

use crate::context::CallContext;

/// Layers around calls that end in another place each time: a server may have changed, a URI has
/// its own variables. Where a call ends therefore travels with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layers(Option<Next>);

/// Where a call ends.
#[derive(Clone)]
struct End(Arc<dyn Fn(Exchange) -> BoxFuture<'static, Reply> + Send + Sync>);

impl End {
    /// Answers an exchange here, behind the layers.
    #[inline(never)]
    fn behind(self, layers: &Next, mut exchange: Exchange) -> BoxFuture<'static, Reply> {
        exchange.extensions.insert(self);
        layers.run(exchange)
    }
}

impl Layers {
    /// Puts one more layer around those that are there.
    pub(crate) fn add(&mut self, layer: impl Middleware) {
        let inner = self.0.take().unwrap_or_else(|| Next::new(end));
        self.0 = Some(layer.wrap(inner));
    }

    /// Answers an exchange by what `target` does, behind the layers.
    #[inline]
    pub(crate) fn run<T: Clone + Send + Sync + 'static>(
        &self,
        exchange: Exchange,
        target: &T,
        answer: fn(&T, Exchange) -> BoxFuture<'static, Reply>,
    ) -> BoxFuture<'static, Reply> {
        let Some(next) = &self.0 else {
            return answer(target, exchange);
        };
        let target = target.clone();
        let end = End(Arc::new(move |exchange| answer(&target, exchange)));
        end.behind(next, exchange)
    }

    /// Answers a call by what `route` does, behind the layers.
    pub(crate) fn call<T: Clone + Send + Sync + 'static>(
        &self,
        call: CallContext,
        route: &T,
        answer: fn(&T, CallContext) -> BoxFuture<'static, Reply>,
    ) -> BoxFuture<'static, Reply> {
        let Some(next) = &self.0 else {
            return answer(route, call);
        };
        let route = route.clone();
        let (exchange, again) = call.split();
        let end = End(Arc::new(move |exchange| answer(&route, again(exchange))));
        end.behind(next, exchange)
    }
}

/// One layer around several routes, which share its limits.
#[derive(Debug, Clone)]
pub(crate) struct Shared(Next);

impl Shared {
    pub(crate) fn new(layer: impl Middleware) -> Self {
        Self(layer.wrap(Next::new(end)))
    }
}

impl Middleware for Shared {
    /// The layer ends where this route goes on, which has an end of its own.
    fn wrap(self, next: Next) -> Next {
        Next::new(move |mut exchange| {
            let (next, own) = (next.clone(), exchange.extensions.remove::<End>());
            let end = End(Arc::new(move |mut exchange: Exchange| {
                if let Some(own) = own.clone() {
                    exchange.extensions.insert(own);
                }
                next.run(exchange)
            }));
            exchange.extensions.insert(end);
            self.0.run(exchange)
        })
    }
}

/// The innermost step.
fn end(mut exchange: Exchange) -> BoxFuture<'static, Reply> {
    match exchange.extensions.remove::<End>() {
        Some(End(answer)) => answer(exchange),
        None => {
            tracing::error!(
                "a layer passed on another exchange than it got, without its extensions"
            );
            let fault = Fault::internal("a layer of the server failed");
            Box::pin(std::future::ready(fault.into()))
        }
    }
}
