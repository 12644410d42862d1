//! Where a route stands: the state of the routers that it came by, who may see it, and the layers
//! around its calls.

use std::any::TypeId;
use std::sync::Arc;

use mcp_core::{BoxFuture, Reply};

use crate::caller::Caller;
use crate::context::CallContext;
use crate::middleware::{Layers, Middleware};
use crate::state::{Scopes, States};

type Sight = Arc<dyn Fn(&Caller<'_>) -> bool + Send + Sync>;

#[derive(Clone, Default)]
pub(crate) struct Standing {
    scopes: Scopes,
    visible: Option<Sight>,
    layers: Layers,
}

impl Standing {
    /// Puts the route into one more router.
    pub(crate) fn enter(&mut self, states: &Arc<States>) {
        let inner = self.scopes.iter().flat_map(|scopes| scopes.iter());
        self.scopes = Some(inner.chain([states]).cloned().collect());
    }

    /// A router has a value of this type.
    pub(crate) fn has_state(&self, id: TypeId) -> bool {
        let mut scopes = self.scopes.iter().flat_map(|scopes| scopes.iter());
        scopes.any(|states| states.has(id))
    }

    pub(crate) fn surround(&mut self, layer: impl Middleware) {
        self.layers.add(layer);
    }

    /// Answers a call by what `route` does, which stands here.
    pub(crate) fn answer<R: Clone + Send + Sync + 'static>(
        &self,
        call: CallContext,
        route: &R,
        answer: fn(&R, CallContext) -> BoxFuture<'static, Reply>,
    ) -> BoxFuture<'static, Reply> {
        self.layers.call(call.within(&self.scopes), route, answer)
    }

    pub(crate) fn show_to(&mut self, sees: impl Fn(&Caller<'_>) -> bool + Send + Sync + 'static) {
        self.visible = Some(Arc::new(sees));
    }

    /// The route is not shown to everybody.
    pub(crate) fn hides(&self) -> bool {
        self.visible.is_some()
    }

    pub(crate) fn shows_to(&self, caller: &Caller<'_>) -> bool {
        self.visible.as_ref().is_none_or(|sees| sees(caller))
    }
}

/// Writes the setters of routes that are named; the text is what its author calls the route.
macro_rules! route_setters {
    ($what:literal: $($setter:ident),*) => {
        $($crate::standing::route_setter!($setter $what);)*
    };
}

macro_rules! route_setter {
    (layer $what:literal) => {
        #[doc = concat!("Puts a layer around the calls of this ", $what, ": the last one that is")]
        /// added is the outermost. It is inside of the layers of the server.
        #[must_use]
        pub fn layer(mut self, layer: impl $crate::middleware::Middleware) -> Self {
            self.standing.surround(layer);
            self
        }
    };
    (visible_to $what:literal) => {
        #[doc = concat!("Shows the ", $what, " to the callers that `sees` accepts, and to nobody")]
        /// else: for all others it is unknown, with all that it gives.
        #[must_use]
        pub fn visible_to(
            mut self,
            sees: impl Fn(&$crate::Caller<'_>) -> bool + Send + Sync + 'static,
        ) -> Self {
            self.standing.show_to(sees);
            self
        }
    };
    (cache $what:literal) => {
        #[doc = concat!("Sets how long clients may keep what the ", $what, " gives.")]
        #[must_use]
        pub fn cache(mut self, cache: mcp_types::CacheHint) -> Self {
            self.cache = Some(cache);
            self
        }
    };
}

pub(crate) use {route_setter, route_setters};
