//! The layers of one server, one route or one client.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Middleware, Next};
use crate::call::Exchange;
use crate::message::Reply;
use crate::observe::Observer;

/// Layers around a route or a client, outermost last. Each call passes its own endpoint, because a URI has its
/// own variables and a request its own deadline.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    next: Option<Next>,
    observer: Option<Arc<dyn Observer>>,
}

impl Layers {
    /// Adds a layer around the present ones.
    pub fn add(&mut self, layer: impl Middleware) {
        if let Some(observer) = layer.observer() {
            self.observer = Some(observer);
        }
        let inner = self.next.take().unwrap_or_else(Next::endpoint);
        self.next = Some(layer.wrap(inner));
    }

    /// Returns one layer that consists of these, or `None` when there are none.
    pub fn into_layer(self) -> Option<SharedLayer> {
        Some(SharedLayer {
            next: self.next?,
            observer: self.observer,
        })
    }

    /// Returns true if there are no layers.
    pub fn is_empty(&self) -> bool {
        self.next.is_none()
    }

    /// Returns the observer of the messages that layers do not see.
    pub fn observer(&self) -> Option<&Arc<dyn Observer>> {
        self.observer.as_ref()
    }

    /// Runs an exchange through the layers, then `endpoint`.
    pub fn run(
        &self,
        exchange: Exchange,
        endpoint: impl FnOnce(Exchange) -> BoxFuture<'static, Reply> + Send + Sync + 'static,
    ) -> BoxFuture<'static, Reply> {
        match &self.next {
            None => endpoint(exchange),
            Some(layers) => layers.run_to(exchange, endpoint),
        }
    }
}

/// One layer around several routes, which share its limits.
#[derive(Debug, Clone)]
pub struct SharedLayer {
    next: Next,
    observer: Option<Arc<dyn Observer>>,
}

impl SharedLayer {
    /// A layer that is made once.
    pub fn new(layer: impl Middleware) -> Self {
        let observer = layer.observer();
        Self {
            next: layer.wrap(Next::endpoint()),
            observer,
        }
    }
}

impl Middleware for SharedLayer {
    /// Runs the shared layer with the route's `next` as its endpoint.
    fn wrap(self, next: Next) -> Next {
        Next::new(move |exchange| {
            let next = next.clone();
            self.next
                .run_to(exchange, move |exchange| next.run(exchange))
        })
    }

    fn observer(&self) -> Option<Arc<dyn Observer>> {
        self.observer.clone()
    }
}
