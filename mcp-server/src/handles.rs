//! Handles that change a running server's routes.

use std::collections::HashSet;
use std::sync::Weak;

use crate::call::{CallContext, RouteSpec};
use crate::change_kinds::ChangeKinds;
use crate::check::{SetupError, check_added};
use crate::extension::RawExtension;
use crate::extract::FromCall;
use crate::notify::Notify;
use crate::registry::{ConfigList, Edit, Listed, SharedRegistry};
use crate::rejection::Rejection;
use crate::routes::{PromptRoute, ResourceRoute, TemplateRoute, ToolRoute};

/// The error of a route that cannot be added to a running server. The server is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The server has a route with this name or URI.
    #[error("there is a {kind} `{key}` already; remove it first, or `put` this one in its place")]
    Duplicate {
        /// The kind of route, such as "tool".
        kind: &'static str,
        /// The name or URI.
        key: String,
    },
    /// The server cannot serve the route.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The server of the handle was dropped.
    #[error("the server is gone; a handle changes nothing once its server was dropped")]
    ServerDropped,
}

// Added routes stay outside the closures until they are accepted: a rejected handler must not be
// dropped while the registry is locked.

/// The server of a handle.
#[derive(Debug, Clone)]
pub(crate) struct Edited {
    registry: Weak<SharedRegistry>,
    /// Changes are announced to clients.
    is_announced: bool,
}

impl Edited {
    pub(crate) fn new(registry: Weak<SharedRegistry>, is_announced: bool) -> Self {
        Self {
            registry,
            is_announced,
        }
    }

    fn edit(&self, differs: bool) -> Edit {
        Edit {
            is_announced: differs && self.is_announced,
        }
    }
}

/// Replaces routes and adds others, as one change, and returns the replaced ones. The change is announced if clients may
/// see another list.
fn replace<R: ConfigList>(
    server: &Edited,
    is_replaced: impl Fn(&str) -> bool,
    mut routes: Vec<R>,
) -> Result<Vec<R>, EditError> {
    let registry = server.registry.upgrade().ok_or(EditError::ServerDropped)?;
    let routes = &mut routes;
    registry.change::<R, _, _>(|config| {
        if let Some(route) = R::list(config).find_duplicate(routes, &is_replaced) {
            return Err(EditError::Duplicate {
                kind: R::KIND.name(),
                key: route.key().to_owned(),
            });
        }
        check_added(routes, config)?;
        let is_adding = !routes.is_empty();
        let replacement = R::list_mut(config).replace(&is_replaced, std::mem::take(routes));
        let is_changed = is_adding || !replacement.removed.is_empty();
        let edit = is_changed.then(|| server.edit(replacement.differs));
        Ok((replacement.removed, edit))
    })
}

fn remove<R: ConfigList>(server: &Edited, key: &str) -> Option<R> {
    let removed = server.registry.upgrade()?.change::<R, _, _>(|config| {
        let removed = R::list_mut(config).remove(key).ok_or(())?;
        Ok::<_, ()>((removed, Some(server.edit(true))))
    });
    removed.ok()
}

fn set_enabled<R: ConfigList>(server: &Edited, key: &str, is_enabled: bool) -> bool {
    let Some(registry) = server.registry.upgrade() else {
        return false;
    };
    let found = registry.change::<R, _, _>(|config| {
        let is_changed = R::list_mut(config).set_enabled(key, is_enabled);
        let edit = is_changed.ok_or(())?.then(|| server.edit(true));
        Ok::<_, ()>(((), edit))
    });
    found.is_ok()
}

fn keys<R: ConfigList>(server: &Edited) -> Vec<String> {
    let Some(registry) = server.registry.upgrade() else {
        return Vec::new();
    };
    registry.read_config(|config| {
        let routes = R::list(config).enabled();
        routes.map(|(_, route)| route.key().to_owned()).collect()
    })
}

macro_rules! handles {
    ($(
        $(#[$doc:meta])*
        $handle:ident of $route:ident ($item:literal) as $keys:ident, $kind:ident;
    )*) => {
        $(
            $(#[$doc])*
            ///
            /// Get the handle from the server before a transport takes the server, or as a handler
            /// parameter. Clones are cheap and may be used on any task or thread, at any time.
            ///
            /// A change applies to new calls; running calls finish as they started. Clients that have
            /// subscribed to changes are notified. Several quick changes may be announced as one.
            #[derive(Debug, Clone)]
            pub struct $handle(Edited);

            impl $handle {
                pub(crate) const CHANGE_KINDS: ChangeKinds = ChangeKinds {
                    $kind: true,
                    ..ChangeKinds::NONE
                };

                pub(crate) fn new(server: Edited) -> Self {
                    Self(server)
                }

                #[doc = concat!("Adds a ", $item, ".")]
                ///
                /// # Errors
                ///
                /// Returns an [`EditError`] when it exists already or cannot be served.
                pub fn add(&self, route: impl Into<$route>) -> Result<(), EditError> {
                    self.extend([route.into()])
                }

                #[doc = concat!("Adds several ", $item, "s, or none if one of them is not acceptable.")]
                ///
                /// # Errors
                ///
                /// Returns an [`EditError`] for the first that exists already, or for all that cannot
                /// be served.
                pub fn extend(
                    &self,
                    routes: impl IntoIterator<Item = $route>,
                ) -> Result<(), EditError> {
                    replace(&self.0, |_| false, routes.into_iter().collect()).map(drop)
                }

                #[doc = concat!("Replaces the ", $item, " with the same key and returns it, or adds a \
                                 ", $item, " at the end of the list.")]
                ///
                /// Clients are not notified if they see the same list as before: an equal definition with another
                /// handler.
                ///
                /// # Errors
                ///
                /// Returns an [`EditError`] when it cannot be served.
                pub fn put(
                    &self,
                    route: impl Into<$route>,
                ) -> Result<Option<$route>, EditError> {
                    let route = route.into();
                    let key = route.key().to_owned();
                    let replaced = replace(&self.0, |other| other == key, vec![route])?;
                    Ok(replaced.into_iter().next())
                }

                #[doc = concat!("Removes each ", $item, " whose key is in `removed`, and adds others: one change, \
                                 which clients are notified of once. One that replaces another with its key takes its \
                                 place in the list.")]
                ///
                /// # Errors
                ///
                /// Returns an [`EditError`] for the first that exists already, or for all that cannot
                /// be served. Nothing is removed then.
                pub fn replace(
                    &self,
                    removed: impl IntoIterator<Item = impl Into<String>>,
                    added: impl IntoIterator<Item = $route>,
                ) -> Result<(), EditError> {
                    let removed: HashSet<String> = removed.into_iter().map(Into::into).collect();
                    let added = added.into_iter().collect();
                    replace(&self.0, |key| removed.contains(key), added).map(drop)
                }

                #[doc = concat!("Replaces the whole list, also disabled ", $item, "s: one change, so that no client sees \
                                 an empty list, or both lists. One whose key the list has already takes its place, \
                                 and others follow at the end. Clients are notified once, and not at all if they \
                                 see the same list as before.")]
                ///
                /// # Errors
                ///
                /// Returns an [`EditError`] for the first key that occurs twice, or for all that cannot be served. The
                /// list is unchanged then.
                pub fn replace_all(
                    &self,
                    routes: impl IntoIterator<Item = $route>,
                ) -> Result<(), EditError> {
                    replace(&self.0, |_| true, routes.into_iter().collect()).map(drop)
                }

                #[doc = concat!("Removes a ", $item, " and returns it, if it exists.")]
                pub fn remove(&self, key: &str) -> Option<$route> {
                    remove(&self.0, key)
                }

                #[doc = concat!("Disables a ", $item, " until it is enabled again. Returns \
                                 whether it exists.")]
                pub fn disable(&self, key: &str) -> bool {
                    set_enabled::<$route>(&self.0, key, false)
                }

                #[doc = concat!("Enables a ", $item, " at its former position. Returns \
                                 whether it exists.")]
                pub fn enable(&self, key: &str) -> bool {
                    set_enabled::<$route>(&self.0, key, true)
                }

                #[doc = concat!("Returns the ", stringify!($keys), " of all enabled ", $item, "s, in \
                                 the order of the list.")]
                pub fn $keys(&self) -> Vec<String> {
                    keys::<$route>(&self.0)
                }
            }

            impl FromCall for $handle {
                fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
                    let registry = SharedRegistry::from_call(call, Self::CHANGE_KINDS);
                    Ok(Self(Edited::new(registry, true)))
                }

                fn describe(spec: &mut RouteSpec) {
                    spec.change_kinds.insert(Self::CHANGE_KINDS);
                }
            }
        )*
    };
}

handles! {
    /// A handle that changes a running server's tools.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// /// For administrators: the list should not depend on earlier calls of the same client.
    /// fn install(tools: Tools) -> Result<&'static str, ToolError> {
    ///     tools.add(Tool::new("greet").handler(|| "hello"))?;
    ///     Ok("installed for all clients")
    /// }
    ///
    /// let server = Server::new("plugins", "1.0.0").tool(Tool::new("install").handler(install));
    /// let tools = server.tools();
    /// tools.disable("install");
    /// assert!(tools.names().is_empty());
    /// # server.check()?;
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    Tools of ToolRoute ("tool") as names, tools;

    /// A handle that changes the resources while the server runs. Use
    /// [`Notify`](crate::Notify) to announce that the contents of a resource have changed.
    Resources of ResourceRoute ("resource") as uris, resources;

    /// A handle that changes a running server's URI templates.
    Templates of TemplateRoute ("URI template") as uris, resources;

    /// A handle that changes a running server's prompts.
    Prompts of PromptRoute ("prompt") as names, prompts;
}

impl Templates {
    /// Returns the URI template that a URI is read by: the first enabled one that matches, unless the server has a
    /// resource with this URI.
    pub fn matching(&self, uri: &str) -> Option<String> {
        let registry = self.0.registry.upgrade()?;
        registry.read(|registry| registry.template_of(uri).map(str::to_owned))
    }
}

/// A handle that replaces extensions while the server runs. Get it from
/// [`Server::extensions`](crate::Server::extensions).
///
/// The extensions are those of `server/discover` and of new sessions at once. A session of the revisions before
/// 2026-07-28 publishes those that the server had when it was opened.
#[derive(Debug)]
pub struct RawExtensions {
    registry: Weak<SharedRegistry>,
    /// The identifiers of this handle's current extensions.
    ids: Vec<String>,
}

impl RawExtensions {
    pub(crate) fn new(registry: Weak<SharedRegistry>) -> Self {
        Self {
            registry,
            ids: Vec::new(),
        }
    }

    /// Replaces this handle's extensions. Has no effect after the server was dropped.
    pub fn replace(&mut self, extensions: Vec<RawExtension>) {
        let Some(registry) = self.registry.upgrade() else {
            return;
        };
        let ids = extensions.iter();
        let ids = ids.map(|extension| extension.registration.id().to_owned());
        let removed = std::mem::replace(&mut self.ids, ids.collect());
        registry.configure(|config| config.replace_raw_extensions(&removed, extensions));
    }
}

impl FromCall for Notify {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self::new(SharedRegistry::from_call(
            call,
            Self::CHANGE_KINDS,
        )))
    }

    fn describe(spec: &mut RouteSpec) {
        spec.change_kinds.insert(Self::CHANGE_KINDS);
    }
}
