//! Route sets.

use std::sync::Arc;

use super::completion::CompletionRoute;
use super::into_route::IntoRoute;
use super::prompt::PromptRoute;
use super::resource::ResourceRoute;
use super::scope::RouteScope;
use super::template::TemplateRoute;
use super::tool::ToolRoute;
use crate::middleware::{Middleware, SharedLayer};
use crate::state::StateMap;

/// A router: a set of routes with common state and layers. The macros create routers;
/// [`Server::merge`](crate::Server::merge) and [`Server::nest`](crate::Server::nest) add them to a
/// server.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
///
/// #[derive(Clone)]
/// struct Root(&'static str);
///
/// fn files(root: &'static str) -> Routes {
///     Routes::new()
///         .state(Root(root))
///         .tool(Tool::new("root").handler(|State(root): State<Root>| root.0))
/// }
///
/// // The tools are `logs_root` and `mail_root`; each has the state of its own router.
/// let server = Server::new("files", "1.0.0")
///     .nest("logs", files("/var/log"))
///     .nest("mail", files("/var/mail"));
/// server.check()?;
/// # Ok::<(), mcp::SetupError>(())
/// ```
#[derive(Debug, Default)]
pub struct Routes {
    /// Tools.
    pub(crate) tools: Vec<ToolRoute>,
    /// Resources.
    pub(crate) resources: Vec<ResourceRoute>,
    /// URI templates.
    pub(crate) templates: Vec<TemplateRoute>,
    /// Prompts.
    pub(crate) prompts: Vec<PromptRoute>,
    /// Argument completions.
    pub(crate) completions: Vec<CompletionRoute>,
    states: StateMap,
}

impl Routes {
    /// Creates a router without routes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool: a route, or a function with `#[tool]`.
    #[must_use]
    pub fn tool(mut self, tool: impl IntoRoute<ToolRoute>) -> Self {
        self.tools.push(tool.into_route());
        self
    }

    /// Adds a resource: a route, or a function with `#[resource]`.
    #[must_use]
    pub fn resource(mut self, resource: impl IntoRoute<ResourceRoute>) -> Self {
        self.resources.push(resource.into_route());
        self
    }

    /// Adds a URI template: a route, or a function with `#[resource]` and a template.
    #[must_use]
    pub fn template(mut self, template: impl IntoRoute<TemplateRoute>) -> Self {
        self.templates.push(template.into_route());
        self
    }

    /// Adds a prompt: a route, or a function with `#[prompt]`.
    #[must_use]
    pub fn prompt(mut self, prompt: impl IntoRoute<PromptRoute>) -> Self {
        self.prompts.push(prompt.into_route());
        self
    }

    /// Adds a completion: a route, or a function with `#[completion]`.
    #[must_use]
    pub fn completion(mut self, completion: impl IntoRoute<CompletionRoute>) -> Self {
        self.completions.push(completion.into_route());
        self
    }

    /// Adds a value that the handlers of these routes receive as [`State`](crate::State). It takes
    /// precedence over values of the same type in outer routers and in the server. A second value of
    /// the same type replaces the first.
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }

    /// Adds a layer around all routes that have been added so far. As in axum, the layer does not apply
    /// to routes that are added later. The routes share one instance of the layer, including its limits.
    /// A request passes the server's layers, then this layer, then the single route's layers.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::middleware::{Exchange, Fault, Next, Reply, from_fn};
    /// use mcp::prelude::*;
    ///
    /// async fn authenticated(exchange: Exchange, next: Next) -> Result<Reply, Fault> {
    ///     match exchange.principal() {
    ///         Some(_) => Ok(next.run(exchange).await),
    ///         None => Err(Fault::Refused("log in first".into())),
    ///     }
    /// }
    ///
    /// let admin = Routes::new()
    ///     .tool(Tool::new("stop").handler(|| "stopped"))
    ///     .layer(from_fn(authenticated));
    /// let server = Server::new("clock", "1.0.0")
    ///     .tool(Tool::new("now").handler(|| "half past"))
    ///     .merge(admin);
    /// ```
    #[must_use]
    pub fn layer(mut self, layer: impl Middleware) -> Self {
        let shared = SharedLayer::new(layer);
        self.for_each_scope(|scope| scope.layers.add(shared.clone()));
        self
    }

    /// Adds scopes that callers of all routes need that have been added so far, see
    /// [`ToolRoute::scopes`].
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// let admin = Routes::new()
    ///     .tool(Tool::new("stop").handler(|| "stopped"))
    ///     .scopes(["admin"]);
    /// let server = Server::new("clock", "1.0.0").merge(admin);
    /// # server.check()?;
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        let scopes: Vec<String> = scopes.into_iter().map(Into::into).collect();
        self.for_each_scope(|scope| scope.required_scopes.add(scopes.iter().cloned()));
        self
    }

    /// Adds all routes of another router. The added routes keep that router's state.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        let other = other.bind_state();
        self.tools.extend(other.tools);
        self.resources.extend(other.resources);
        self.templates.extend(other.templates);
        self.prompts.extend(other.prompts);
        self.completions.extend(other.completions);
        self
    }

    /// Adds all routes of another router and renames its tools and prompts to `{prefix}_{name}`.
    /// Resources and templates keep their URIs, because a URI identifies the same resource
    /// everywhere; give the routers distinct URIs.
    #[must_use]
    pub fn nest(self, prefix: impl AsRef<str>, mut other: Self) -> Self {
        let prefixed = |name: &str| format!("{}_{name}", prefix.as_ref());
        for route in &mut other.tools {
            route.rename(prefixed(&route.tool().name));
        }
        for route in &mut other.prompts {
            route.rename(prefixed(&route.prompt().name));
        }
        for route in &mut other.completions {
            route.rename_prompt(prefixed);
        }
        self.merge(other)
    }

    /// Moves the router's state into its routes.
    pub(crate) fn bind_state(mut self) -> Self {
        if !self.states.is_empty() {
            let states = Arc::new(std::mem::take(&mut self.states));
            self.for_each_scope(|scope| scope.router_states.push(&states));
        }
        self
    }

    fn for_each_scope(&mut self, mut change: impl FnMut(&mut RouteScope)) {
        let tools = self.tools.iter_mut();
        tools.for_each(|route| change(&mut route.scope));
        let resources = self.resources.iter_mut();
        resources.for_each(|route| change(&mut route.scope));
        let templates = self.templates.iter_mut();
        let templates = templates.map(|route| (&mut route.scope, &mut route.completions));
        let prompts = self.prompts.iter_mut();
        let prompts = prompts.map(|route| (&mut route.scope, &mut route.completions));
        let mut completions = vec![&mut self.completions];
        for (scope, own) in templates.chain(prompts) {
            change(scope);
            completions.push(own);
        }
        let completions = completions.into_iter().flatten();
        completions.for_each(|route| change(&mut route.scope));
    }
}

/// Creates [`Routes`] from functions with `#[tool]`, `#[resource]`, `#[prompt]` or `#[completion]`, from
/// single routes, and from other [`Routes`].
///
/// # Examples
///
/// ```
/// use mcp::{Server, Tool, ToolExt, routes};
///
/// let now = Tool::new("now").handler(|| "half past");
/// let today = Tool::new("today").handler(|| "Monday");
/// let server = Server::new("clock", "1.0.0").merge(routes![now, today]);
/// server.check()?;
/// # Ok::<(), mcp::SetupError>(())
/// ```
#[macro_export]
macro_rules! routes {
    ($($route:expr),* $(,)?) => {
        $crate::Routes::new()$(.merge($crate::Routes::from($route)))*
    };
}

macro_rules! from_routes {
    ($($route:ident in $field:ident;)*) => {
        $(impl FromIterator<$route> for Routes {
            fn from_iter<I: IntoIterator<Item = $route>>(routes: I) -> Self {
                let $field = routes.into_iter().collect();
                Self { $field, ..Self::default() }
            }
        }

        impl From<$route> for Routes {
            fn from(route: $route) -> Self {
                Self::from_iter([route])
            }
        })*
    };
}

from_routes! {
    ToolRoute in tools;
    ResourceRoute in resources;
    TemplateRoute in templates;
    PromptRoute in prompts;
    CompletionRoute in completions;
}
