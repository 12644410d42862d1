//! The layers of one server, one route or one client.

use std::sync::Arc;

use super::{Middleware, Next};
use crate::{BoxFuture, Exchange, Observer, Reply};

/// Layers around a server, a route or a client, outermost last. Those of a server are around one
/// service; see [`LayerStack::around`]. In others each call passes its own endpoint, because a URI has its
/// own variables and a request its own deadline.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    next: Option<Next>,
    observer: Option<Arc<dyn Observer>>,
}

impl Layers {
    /// Layers whose calls all end in `service`. There is none yet.
    fn around(service: Next) -> Self {
        Self {
            next: Some(service),
            observer: None,
        }
    }

    /// Adds a layer around the present ones.
    pub fn add(&mut self, layer: impl Middleware) {
        if let Some(observer) = layer.observer() {
            self.observer = Some(observer);
        }
        let inner = self.next.take().unwrap_or_else(Next::endpoint);
        self.next = Some(layer.wrap(inner));
    }

    /// Returns one layer that consists of these, or `None` when there are none.
    pub(crate) fn into_layer(self) -> Option<SharedLayer> {
        Some(SharedLayer {
            next: self.next?,
            observer: self.observer,
        })
    }

    /// Returns true if there are no layers.
    pub fn is_empty(&self) -> bool {
        self.next.is_none()
    }

    /// Returns the layers as a service. Its calls end in the service of [`LayerStack::around`], or else in each
    /// call's endpoint.
    pub fn into_service(self) -> Next {
        self.next.unwrap_or_else(Next::endpoint)
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

/// The layers of a server or a client while it is built, outermost last, with positions for the extension
/// layers. An extension without a position of its own has the one at which it is added.
#[derive(Debug, Clone, Default)]
pub struct LayerStack {
    /// The layers inside the segments.
    innermost: Layers,
    segments: Vec<Segment>,
    /// The extensions whose layers were added.
    added: Vec<String>,
    problems: Vec<String>,
}

/// Consecutive layers.
#[derive(Debug, Clone, Default)]
struct Segment {
    /// The extension for which the segment is reserved.
    extension: Option<String>,
    layers: Layers,
}

impl LayerStack {
    /// A stack whose calls all end in `service`. A default stack has an endpoint for each call.
    pub fn around(service: Next) -> Self {
        Self {
            innermost: Layers::around(service),
            ..Self::default()
        }
    }

    /// Adds a layer around the present ones.
    pub fn add(&mut self, layer: impl Middleware) {
        match self.segments.last_mut() {
            None => self.innermost.add(layer),
            Some(last) if last.extension.is_none() => last.layers.add(layer),
            Some(_) => {
                let mut segment = Segment::default();
                segment.layers.add(layer);
                self.segments.push(segment);
            }
        }
    }

    /// Reserves the position around the present layers for those of an extension.
    pub fn reserve(&mut self, id: impl Into<String>) {
        let id = id.into();
        if self.added.contains(&id) {
            self.problems.push(format!(
                "the layers of the extension `{id}` are in their position already; call \
                 `layers_of` before `extension`"
            ));
        } else if self.reserved().any(|reserved| reserved == id) {
            self.problems.push(format!(
                "`layers_of` names the extension `{id}` twice; remove one"
            ));
        } else {
            self.segments.push(Segment {
                extension: Some(id),
                layers: Layers::default(),
            });
        }
    }

    /// Adds the layers of an extension: at the reserved position, else around the present layers.
    pub fn add_extension(&mut self, id: &str, added: Layers) {
        self.added.push(id.to_owned());
        let mut segments = self.segments.iter_mut();
        let reserved = segments.find(|segment| segment.extension.as_deref() == Some(id));
        match (reserved, added) {
            (Some(segment), added) => segment.layers = added,
            (None, added) => {
                if let Some(layer) = added.into_layer() {
                    self.add(layer);
                }
            }
        }
    }

    /// Returns the layers in their order.
    pub fn compose(&self) -> Layers {
        let mut all = self.innermost.clone();
        for segment in &self.segments {
            if let Some(layer) = segment.layers.clone().into_layer() {
                all.add(layer);
            }
        }
        all
    }

    /// Returns the mistakes: positions that are reserved too late, twice, or for no extension.
    pub fn find_problems(&self) -> impl Iterator<Item = String> {
        let unused = self
            .reserved()
            .filter(|id| !self.added.iter().any(|added| added == id));
        let unused = unused.map(|id| {
            format!("`layers_of` names the extension `{id}`, which is not registered; add it")
        });
        self.problems.iter().cloned().chain(unused)
    }

    fn reserved(&self) -> impl Iterator<Item = &str> {
        let segments = self.segments.iter();
        segments.filter_map(|segment| segment.extension.as_deref())
    }
}
