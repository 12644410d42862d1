//! Routes that belong together.

use std::sync::Arc;

use crate::completion::CompletionRoute;
use crate::middleware::{Middleware, Shared};
use crate::prompts::PromptRoute;
use crate::resources::{ResourceRoute, TemplateRoute};
use crate::state::States;
use crate::tools::ToolRoute;

/// Routes that belong together: a router. The macros make them,
/// [`Server::merge`](crate::Server::merge) and [`Server::nest`](crate::Server::nest) take them.
///
/// # Examples
///
/// ```
/// use mcp_server::{Routes, Server, State, Tool, ToolExt};
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
/// // Its tools are `logs_root` and `mail_root`; each finds the state of its own router.
/// let server = Server::new("files", "1.0.0")
///     .nest("logs", files("/var/log"))
///     .nest("mail", files("/var/mail"));
/// server.check()?;
/// # Ok::<(), mcp_server::SetupError>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Routes {
    /// Tools.
    pub tools: Vec<ToolRoute>,
    /// Resources.
    pub resources: Vec<ResourceRoute>,
    /// URI templates.
    pub templates: Vec<TemplateRoute>,
    /// Prompts.
    pub prompts: Vec<PromptRoute>,
    /// Completions of arguments.
    pub completions: Vec<CompletionRoute>,
    states: States,
}

impl Routes {
    /// No routes.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    #[must_use]
    #[inline]
    pub fn tool(mut self, tool: ToolRoute) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a resource.
    #[must_use]
    #[inline]
    pub fn resource(mut self, resource: ResourceRoute) -> Self {
        self.resources.push(resource);
        self
    }

    /// Adds a URI template.
    #[must_use]
    #[inline]
    pub fn template(mut self, template: TemplateRoute) -> Self {
        self.templates.push(template);
        self
    }

    /// Adds a prompt.
    #[must_use]
    #[inline]
    pub fn prompt(mut self, prompt: PromptRoute) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Adds a completion.
    #[must_use]
    #[inline]
    pub fn completion(mut self, completion: CompletionRoute) -> Self {
        self.completions.push(completion);
        self
    }

    /// Gives a value that the handlers of these routes take as [`State`](crate::State), wherever the
    /// routes go. It is found before one of its type that the routes come to: that of an outer
    /// router or of the server. One value per type; a second one replaces the first.
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }

    /// Puts a layer around all routes that are here already, as axum does; those that are added
    /// later are not behind it. The routes share its limits. It is outside of the layers that the
    /// routes have, and inside of those of the server.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_server::middleware::{Exchange, Fault, Next, Reply, from_fn};
    /// use mcp_server::{Routes, Server, Tool, ToolExt};
    ///
    /// async fn known(exchange: Exchange, next: Next) -> Result<Reply, Fault> {
    ///     match exchange.principal() {
    ///         Some(_) => Ok(next.run(exchange).await),
    ///         None => Err(Fault::Refused("who are you?".into())),
    ///     }
    /// }
    ///
    /// let admin = Routes::new()
    ///     .tool(Tool::new("stop").handler(|| "stopped"))
    ///     .layer(from_fn(known));
    /// let server = Server::new("clock", "1.0.0")
    ///     .tool(Tool::new("now").handler(|| "half past"))
    ///     .merge(admin);
    /// ```
    #[must_use]
    pub fn layer(self, layer: impl Middleware) -> Self {
        let shared = Shared::new(layer);
        let layered = || shared.clone();
        Self {
            tools: self
                .tools
                .into_iter()
                .map(|it| it.layer(layered()))
                .collect(),
            resources: self
                .resources
                .into_iter()
                .map(|it| it.layer(layered()))
                .collect(),
            templates: self
                .templates
                .into_iter()
                .map(|it| it.layer(layered()))
                .collect(),
            prompts: self
                .prompts
                .into_iter()
                .map(|it| it.layer(layered()))
                .collect(),
            completions: self
                .completions
                .into_iter()
                .map(|it| it.layer(layered()))
                .collect(),
            states: self.states,
        }
    }

    /// Adds all routes of another router. They keep its state.
    #[must_use]
    #[inline]
    pub fn merge(mut self, other: Self) -> Self {
        let other = other.bound();
        self.tools.extend(other.tools);
        self.resources.extend(other.resources);
        self.templates.extend(other.templates);
        self.prompts.extend(other.prompts);
        self.completions.extend(other.completions);
        self
    }

    /// Adds all routes of another router below a name: its tools and prompts are called
    /// `prefix_name` from now on. Resources and templates keep their URIs, which name the same
    /// thing wherever they are written down; that two of them differ is the business of their
    /// routers.
    #[must_use]
    pub fn nest(self, prefix: impl AsRef<str>, mut other: Self) -> Self {
        let below = |name: &str| format!("{}_{name}", prefix.as_ref());
        for route in &mut other.tools {
            route.rename(below(&route.tool().name));
        }
        for route in &mut other.prompts {
            route.rename(below(&route.prompt().name));
        }
        for route in &mut other.completions {
            route.rename_prompt(below);
        }
        self.merge(other)
    }

    /// The routes with their router's state, which they keep from here on.
    pub(crate) fn bound(mut self) -> Self {
        if self.states.is_empty() {
            return self;
        }
        let states = Arc::new(std::mem::take(&mut self.states));
        let tools = self.tools.iter_mut().map(|route| &mut route.standing);
        let resources = self.resources.iter_mut().map(|route| &mut route.standing);
        let templates = self.templates.iter_mut().map(|route| &mut route.standing);
        let prompts = self.prompts.iter_mut().map(|route| &mut route.standing);
        let completions = self.completions.iter_mut().map(|route| &mut route.standing);
        tools
            .chain(resources)
            .chain(templates)
            .chain(prompts)
            .chain(completions)
            .for_each(|standing| standing.enter(&states));
        self
    }
}

macro_rules! from_routes {
    ($($route:ident in $field:ident;)*) => {
        $(impl FromIterator<$route> for Routes {
            fn from_iter<I: IntoIterator<Item = $route>>(routes: I) -> Self {
                let $field = routes.into_iter().collect();
                Self { $field, ..Self::default() }
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
