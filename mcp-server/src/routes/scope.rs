//! Router state, visibility and layers: the part that all kinds of routes have.

use std::any::TypeId;
use std::sync::Arc;

use mcp_core::{BoxFuture, Reply};

use crate::call::CallContext;
use crate::caller::Caller;
use crate::middleware::{Layers, Middleware};
use crate::state::{RouterStates, StateMap};

/// Handler of a route without its type. The second argument is data of the route.
pub(super) type RouteHandler<T> =
    Arc<dyn Fn(CallContext, T) -> BoxFuture<'static, Reply> + Send + Sync>;

type VisibilityFilter = Arc<dyn Fn(&Caller<'_>) -> bool + Send + Sync>;

/// The scope of a route: the state of its routers, the callers that may see it, its layers.
#[derive(Clone, Default)]
pub(crate) struct RouteScope {
    router_states: RouterStates,
    visible_to: Option<VisibilityFilter>,
    layers: Layers,
}

impl RouteScope {
    /// Adds the state of the next outer router.
    pub(super) fn add_router(&mut self, states: &Arc<StateMap>) {
        self.router_states.push(states);
    }

    /// Returns whether a router has a value of this type.
    pub(crate) fn has_state(&self, id: TypeId) -> bool {
        self.router_states.contains(id)
    }

    pub(super) fn add_layer(&mut self, layer: impl Middleware) {
        self.layers.add(layer);
    }

    pub(super) fn set_visible_to(
        &mut self,
        filter: impl Fn(&Caller<'_>) -> bool + Send + Sync + 'static,
    ) {
        self.visible_to = Some(Arc::new(filter));
    }

    /// Returns whether the route has a visibility filter.
    pub(crate) fn is_filtered(&self) -> bool {
        self.visible_to.is_some()
    }

    pub(crate) fn is_visible_to(&self, caller: &Caller<'_>) -> bool {
        let filter = self.visible_to.as_ref();
        filter.is_none_or(|filter| filter(caller))
    }

    /// Runs a call through the layers of `route`, then through `handle`.
    pub(super) fn run<R: Clone + Send + Sync + 'static>(
        &self,
        mut call: CallContext,
        route: &R,
        handle: impl FnOnce(&R, CallContext) -> BoxFuture<'static, Reply> + Send + Sync + 'static,
    ) -> BoxFuture<'static, Reply> {
        call.set_router_states(&self.router_states);
        if self.layers.is_empty() {
            return handle(route, call);
        }
        let route = route.clone();
        let (exchange, context) = call.into_parts();
        self.layers.run(exchange, move |exchange| {
            handle(&route, CallContext::from_parts(exchange, context))
        })
    }
}

/// Generates the named setters of a route. The literal names the kind of route in the documentation.
macro_rules! route_setters {
    ($kind:literal: $($setter:ident),*) => {
        $($crate::routes::scope::route_setter!($setter $kind);)*
    };
}

macro_rules! route_setter {
    (layer $kind:literal) => {
        #[doc = concat!("Adds a layer around the calls of this ", $kind, ".")]
        ///
        /// The layer that is added last is the outermost. All layers of a route are inside of the
        /// layers of the server.
        #[must_use]
        pub fn layer(mut self, layer: impl $crate::middleware::Middleware) -> Self {
            self.scope.add_layer(layer);
            self
        }
    };
    (visible_to $kind:literal) => {
        #[doc = concat!("Hides the ", $kind, " from callers that `filter` does not accept.")]
        ///
        /// For other callers it is unknown: lists omit it, and calls of it fail.
        #[must_use]
        pub fn visible_to(
            mut self,
            filter: impl Fn(&$crate::Caller<'_>) -> bool + Send + Sync + 'static,
        ) -> Self {
            self.scope.set_visible_to(filter);
            self
        }
    };
    (cache $kind:literal) => {
        #[doc = concat!("Sets how long clients may cache the contents of the ", $kind, ".")]
        #[must_use]
        pub fn cache(mut self, cache: mcp_types::CacheHint) -> Self {
            self.cache = Some(cache);
            self
        }
    };
}

pub(super) use {route_setter, route_setters};
