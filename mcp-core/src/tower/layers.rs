//! The layers of one server, one route or one client.

use super::{Middleware, Next};
use crate::{BoxFuture, Exchange, Reply};

/// Layers around a server, a route or a client, outermost last. Each call passes its own endpoint,
/// because the registry may have changed and a URI has its own variables.
#[derive(Debug, Clone, Default)]
pub struct Layers(Option<Next>);

impl Layers {
    /// Adds a layer around the present ones.
    pub fn add(&mut self, layer: impl Middleware) {
        let inner = self.0.take().unwrap_or_else(Next::endpoint);
        self.0 = Some(layer.wrap(inner));
    }

    /// Returns one layer that consists of these, or `None` when there are none.
    pub fn into_layer(self) -> Option<SharedLayer> {
        self.0.map(SharedLayer)
    }

    /// Returns true if there are no layers.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Runs an exchange through the layers, then `endpoint`.
    pub fn run(
        &self,
        exchange: Exchange,
        endpoint: impl FnOnce(Exchange) -> BoxFuture<'static, Reply> + Send + Sync + 'static,
    ) -> BoxFuture<'static, Reply> {
        match &self.0 {
            None => endpoint(exchange),
            Some(layers) => layers.run_to(exchange, endpoint),
        }
    }
}

/// One layer around several routes, which share its limits.
#[derive(Debug, Clone)]
pub struct SharedLayer(Next);

impl SharedLayer {
    /// A layer that is made once.
    pub fn new(layer: impl Middleware) -> Self {
        Self(layer.wrap(Next::endpoint()))
    }
}

impl Middleware for SharedLayer {
    /// Runs the shared layer with the route's `next` as its endpoint.
    fn wrap(self, next: Next) -> Next {
        Next::new(move |exchange| {
            let next = next.clone();
            self.0.run_to(exchange, move |exchange| next.run(exchange))
        })
    }
}
