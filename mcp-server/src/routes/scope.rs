//! Router state, visibility and layers: the part that all kinds of routes have.

use std::future::ready;
use std::sync::Arc;

use mcp_core::{BoxFuture, Reply};

use super::required_scopes::RequiredScopes;
use crate::call::CallContext;
use crate::caller::Caller;
use crate::middleware::Layers;
use crate::state::RouterStates;

/// Handler of a route without its type. The second argument is data of the route.
pub(super) type RouteHandler<T> =
    Arc<dyn Fn(CallContext, T) -> BoxFuture<'static, Reply> + Send + Sync>;

type VisibilityFilter = Arc<dyn Fn(&Caller<'_>) -> bool + Send + Sync>;

/// The scope of a route: the state of its routers, the callers that may see it, its layers.
#[derive(Clone, Default)]
pub(crate) struct RouteScope {
    pub(crate) router_states: RouterStates,
    pub(super) visible_to: Option<VisibilityFilter>,
    /// The scopes that calls of the route need.
    pub(crate) required_scopes: RequiredScopes,
    pub(super) layers: Layers,
}

impl RouteScope {
    /// Returns whether the route has a visibility filter.
    pub(crate) fn is_filtered(&self) -> bool {
        self.visible_to.is_some()
    }

    /// Returns true if the same callers see the routes of both scopes, as far as that can be told.
    pub(crate) fn is_seen_as(&self, other: &Self) -> bool {
        let is_filtered = self.is_filtered() || other.is_filtered();
        !is_filtered && self.required_scopes.fixed() == other.required_scopes.fixed()
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
        // Transports with authorization have checked this before. The check here is for calls that reach
        // the server through a service that does not forward `admit`.
        if !self.required_scopes.is_empty() {
            let caller = Caller::new(call.facts(), call.extensions());
            if let Err(fault) = self.required_scopes.check(call.call(), &caller) {
                return Box::pin(ready(fault.into()));
            }
        }
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

/// Seals the traits that make routes of listed items.
pub(super) mod sealed {
    #[expect(unnameable_types, reason = "seals the traits")]
    pub trait Sealed {}

    impl Sealed for mcp_types::Tool {}
    impl Sealed for mcp_types::Prompt {}
    impl Sealed for mcp_types::Resource {}
    impl Sealed for mcp_types::ResourceTemplate {}
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
        /// The layer that is added last is the outermost. All layers of a route are inside the
        /// server's layers.
        #[must_use]
        pub fn layer(mut self, layer: impl $crate::middleware::Middleware) -> Self {
            self.scope.layers.add(layer);
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
            self.scope.visible_to = Some(std::sync::Arc::new(filter));
            self
        }
    };
    (scopes $kind:literal) => {
        #[doc = concat!("Adds scopes that the token of a caller of the ", $kind, " must have.")]
        ///
        /// Over HTTP, a call without one of them is answered with the status 403 and a challenge that
        /// lists all scopes of the call; its handler does not run. A client with OAuth then asks its user
        /// for the scopes and repeats the call. Transports without authorization do not check them:
        /// standard streams, and calls in the same process.
        ///
        /// # Examples
        ///
        /// ```
        /// use mcp::prelude::*;
        ///
        /// let delete = Tool::new("delete").handler(|| "deleted").scopes(["files:write"]);
        /// # let _ = delete;
        /// ```
        // spec: AUTH-S-08
        #[must_use]
        pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
            self.scope.required_scopes.add(scopes);
            self
        }

        #[doc = concat!("Sets a function that returns further scopes for a call of the ", $kind, ",")]
        /// depending on its arguments or its URI. The call needs them together with those of
        /// [`scopes`](Self::scopes). The function runs before the handler, possibly twice. A call during
        /// which it panics is refused.
        ///
        /// # Examples
        ///
        /// ```
        /// use mcp::ScopedCall;
        /// use mcp::prelude::*;
        ///
        /// fn scopes(call: &ScopedCall<'_>) -> Option<&'static str> {
        ///     let path: Option<String> = call.argument("path");
        ///     path.is_none_or(|path| path.starts_with("/etc")).then_some("files:admin")
        /// }
        ///
        /// let read = Tool::new("read").handler(|| "contents").scopes_for(scopes);
        /// # let _ = read;
        /// ```
        #[must_use]
        pub fn scopes_for<S: Into<String>, I: IntoIterator<Item = S>>(
            mut self,
            scopes: impl Fn(&$crate::ScopedCall<'_>) -> I + Send + Sync + 'static,
        ) -> Self {
            self.scope.required_scopes.set_for_call(scopes);
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
