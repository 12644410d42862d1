//! Handles for what a server offers, to change it while it serves.

use std::sync::Weak;

use crate::check::{self, SetupError};
use crate::context::CallContext;
use crate::edits::Edits;
use crate::extract::FromCall;
use crate::listing::Shelf;
use crate::live::{Kept, Live, MakeOthers, Others};
use crate::prompts::PromptRoute;
use crate::rejection::Rejection;
use crate::resources::{ResourceRoute, TemplateRoute};
use crate::spec::RouteSpec;
use crate::tools::ToolRoute;

/// A server could not take what was to be added to it; it is as it was before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The name or the URI is taken.
    #[error("there is a {kind} `{key}` already; remove it first, or `put` this one in its place")]
    Taken {
        /// What it is: a tool, a prompt, …
        kind: &'static str,
        /// Its name or its URI.
        key: String,
    },
    /// What was added could not be served.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// There is no server any more.
    #[error("the server is gone; a handle changes nothing once its server was dropped")]
    Gone,
}

fn extend<R: Kept>(live: &Weak<Live>, routes: Vec<R>) -> Result<(), EditError> {
    let live = live.upgrade().ok_or(EditError::Gone)?;
    live.change(|shelf: &mut Shelf<R>, book| {
        if let Some(route) = shelf.taken(&routes) {
            return Err(EditError::Taken {
                kind: R::KIND.name(),
                key: route.key().to_owned(),
            });
        }
        SetupError::of(book, check::routes(&routes, book))?;
        let any = !routes.is_empty();
        routes.into_iter().for_each(|route| shelf.push(route));
        Ok(((), any))
    })
}

#[inline]
fn put<R: Kept>(live: &Weak<Live>, route: R) -> Result<Option<R>, EditError> {
    let live = live.upgrade().ok_or(EditError::Gone)?;
    live.change(|shelf: &mut Shelf<R>, book| {
        SetupError::of(book, check::routes(std::slice::from_ref(&route), book))?;
        Ok((shelf.put(route), true))
    })
}

#[inline]
fn remove<R: Kept>(live: &Weak<Live>, key: &str) -> Option<R> {
    let removed = live.upgrade()?.change(|shelf: &mut Shelf<R>, _| {
        let removed = shelf.remove(key);
        removed.map(|route| (route, true)).ok_or(())
    });
    removed.ok()
}

fn set_in_use<R: Kept>(live: &Weak<Live>, key: &str, in_use: bool) -> bool {
    let Some(live) = live.upgrade() else {
        return false;
    };
    let done = live.change(|shelf: &mut Shelf<R>, _| {
        let changed = shelf.set_in_use(key, in_use);
        changed.map(|changed| ((), changed)).ok_or(())
    });
    done.is_ok()
}

fn keys<R: Kept>(live: &Weak<Live>) -> Vec<String> {
    let Some(live) = live.upgrade() else {
        return Vec::new();
    };
    live.read(|book| {
        let routes = R::shelf(book).in_use();
        routes.map(|(_, route)| route.key().to_owned()).collect()
    })
}

macro_rules! handles {
    (@others) => { None };
    (@others $others:path) => { Some($others) };
    ($(
        $(#[$about:meta])*
        $handle:ident of $route:ident ($item:literal, $a:literal) as $keys:ident, $edit:ident $(with $others:path)?;
    )*) => {
        $(
            $(#[$about])*
            ///
            /// Cheap to clone; for any task, at any time. Take it from the server before it is given
            /// to a transport, or as a parameter of a handler. Calls that are running finish with
            /// what they began with. Every change is told to the clients that asked for changes,
            /// several at once as one.
            #[derive(Debug, Clone)]
            pub struct $handle(Weak<Live>);

            // Inline, so that only servers that change compile what a change takes.
            impl $handle {
                pub(crate) const EDITS: Edits = Edits {
                    $edit: true,
                    ..Edits::NONE
                };

                pub(crate) const OTHERS: Option<MakeOthers> = handles!(@others $($others)?);

                #[inline]
                pub(crate) fn new(live: Weak<Live>) -> Self {
                    Self(live)
                }

                #[doc = concat!("Adds ", $a, " ", $item, ".")]
                ///
                /// # Errors
                ///
                /// [`EditError`] when it is there already or could not be served.
                #[inline]
                pub fn add(&self, route: $route) -> Result<(), EditError> {
                    extend(&self.0, vec![route])
                }

                #[doc = concat!("Adds several ", $item, "s, or none of them when one does not fit.")]
                ///
                /// # Errors
                ///
                /// [`EditError`] for the first that is there already, or for all that could not be
                /// served.
                pub fn extend(
                    &self,
                    routes: impl IntoIterator<Item = $route>,
                ) -> Result<(), EditError> {
                    extend(&self.0, routes.into_iter().collect())
                }

                #[doc = concat!("Puts ", $a, " ", $item, " into the place of the one that there is, \
                                 which is returned, or at the end.")]
                ///
                /// # Errors
                ///
                /// [`EditError`] when it could not be served.
                #[inline]
                pub fn put(&self, route: $route) -> Result<Option<$route>, EditError> {
                    put(&self.0, route)
                }

                #[doc = concat!("Takes ", $a, " ", $item, " away; `None` when there is none.")]
                #[inline]
                pub fn remove(&self, key: &str) -> Option<$route> {
                    remove(&self.0, key)
                }

                #[doc = concat!("Takes ", $a, " ", $item, " out of use until it is enabled again. \
                                 Tells whether there is one.")]
                #[inline]
                pub fn disable(&self, key: &str) -> bool {
                    set_in_use::<$route>(&self.0, key, false)
                }

                #[doc = concat!("Takes ", $a, " ", $item, " that was disabled into use again. Tells \
                                 whether there is one.")]
                #[inline]
                pub fn enable(&self, key: &str) -> bool {
                    set_in_use::<$route>(&self.0, key, true)
                }

                #[doc = concat!("The ", stringify!($keys), " of all that are in use, in the order of the list.")]
                #[inline]
                pub fn $keys(&self) -> Vec<String> {
                    keys::<$route>(&self.0)
                }
            }

            impl FromCall for $handle {
                #[inline]
                fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
                    Ok(Self(Live::of(call, Self::EDITS, Self::OTHERS)))
                }

                #[inline]
                fn describe(spec: &mut RouteSpec) {
                    spec.edits.add(Self::EDITS);
                    spec.others = spec.others.or(Self::OTHERS);
                }
            }
        )*
    };
}

handles! {
    /// The tools of a server, to change them while it serves.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_server::{Server, Tool, ToolError, ToolExt, Tools};
    ///
    /// /// For the administrator: a list must not depend on what a client has called before.
    /// fn install(tools: Tools) -> Result<&'static str, ToolError> {
    ///     tools.add(Tool::new("greet").handler(|| "hello"))?;
    ///     Ok("everybody can greet from now on")
    /// }
    ///
    /// let server = Server::new("pupil", "1.0.0").tool(Tool::new("install").handler(install));
    /// let tools = server.tools();
    /// tools.disable("install");
    /// assert!(tools.names().is_empty());
    /// # server.check()?;
    /// # Ok::<(), mcp_server::SetupError>(())
    /// ```
    // spec: TOOL-03
    Tools of ToolRoute ("tool", "a") as names, tools;

    /// The resources of a server, to change them while it serves. That the contents of one have
    /// changed is told by [`Notify`](crate::Notify).
    Resources of ResourceRoute ("resource", "a") as uris, resources with Others::of;

    /// The URI templates of a server, to change them while it serves.
    Templates of TemplateRoute ("URI template", "a") as uris, resources with Others::of;

    /// The prompts of a server, to change them while it serves.
    Prompts of PromptRoute ("prompt", "a") as names, prompts with Others::of;
}
