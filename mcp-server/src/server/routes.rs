//! The routes of a server, and who sees them.

use mcp_types::{Prompt, Resource, ResourceTemplate, Tool};

use super::Server;
use crate::caller::Caller;
use crate::handler::CompletionHandler;
use crate::routes::{
    CompletionRoute, PromptRoute, ResourceRoute, Routes, TemplateRoute, ToolRoute,
};

/// Routes, and who sees them.
impl Server {
    /// Adds a tool: a route, or a function with `#[tool]`.
    #[must_use]
    pub fn tool(self, tool: impl Into<ToolRoute>) -> Self {
        self.configure(|config| config.tools.push(tool.into()))
    }

    /// Adds a resource: a route, or a function with `#[resource]`.
    #[must_use]
    pub fn resource(self, resource: impl Into<ResourceRoute>) -> Self {
        self.configure(|config| config.resources.push(resource.into()))
    }

    /// Adds a URI template, a family of resources: a route, or a function with `#[resource]`.
    #[must_use]
    pub fn template(self, template: impl Into<TemplateRoute>) -> Self {
        self.configure(|config| config.templates.push(template.into()))
    }

    /// Adds a prompt: a route, or a function with `#[prompt]`.
    #[must_use]
    pub fn prompt(self, prompt: impl Into<PromptRoute>) -> Self {
        self.configure(|config| config.prompts.push(prompt.into()))
    }

    /// Adds a completion of an argument: a route, or a function with `#[completion]`.
    #[must_use]
    pub fn completion(self, completion: impl Into<CompletionRoute>) -> Self {
        self.configure(|config| config.completions.push(completion.into()))
    }

    /// Adds a completion of an argument of a prompt. Arguments whose type is an enum need none: the
    /// server suggests the values of the enum.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Review {
    ///     file: String,
    /// }
    ///
    /// let server = Server::new("reviews", "1.0.0")
    ///     .prompt(Prompt::new("review").handler(|Args(p): Args<Review>| p.file))
    ///     .completion_for_prompt("review", "file", |prefix: Prefix| {
    ///         let files = ["lib.rs", "main.rs"];
    ///         files.into_iter().filter(|file| file.starts_with(&*prefix)).collect::<Vec<_>>()
    ///     });
    /// server.check()?;
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    #[must_use]
    pub fn completion_for_prompt<M, H: CompletionHandler<M>>(
        self,
        prompt: impl Into<String>,
        argument: impl Into<String>,
        handler: H,
    ) -> Self {
        self.completion(CompletionRoute::prompt(prompt, argument, handler))
    }

    /// Adds a completion of a variable of a URI template. Variables whose type is an enum need none:
    /// the server suggests the values of the enum.
    #[must_use]
    pub fn completion_for_template<M, H: CompletionHandler<M>>(
        self,
        uri_template: impl Into<String>,
        variable: impl Into<String>,
        handler: H,
    ) -> Self {
        self.completion(CompletionRoute::template(uri_template, variable, handler))
    }

    /// Adds all routes of a router.
    #[must_use]
    pub fn merge(self, routes: Routes) -> Self {
        self.configure(|config| config.add_routes(routes))
    }

    /// Adds all routes of a router under a prefix; see [`Routes::nest`].
    #[must_use]
    pub fn nest(self, prefix: impl AsRef<str>, routes: Routes) -> Self {
        self.merge(Routes::new().nest(prefix, routes))
    }

    /// Hides tools from callers that `filter` does not accept. For other callers a hidden tool is
    /// unknown: lists omit it, and calls of it fail. See [`ToolRoute::visible_to`] for a single tool.
    ///
    /// A filtered list is built for every request, and its cache hint is always private.
    // spec: TOOL-03, CACHE-12
    #[must_use]
    pub fn visible_tools(
        self,
        filter: impl Fn(&Caller<'_>, &Tool) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.configure(|config| config.tools.set_filter(filter))
    }

    /// Hides resources from callers that `filter` does not accept; see
    /// [`visible_tools`](Self::visible_tools). Callers are not notified of changes of hidden
    /// resources.
    // spec: GAP-10
    #[must_use]
    pub fn visible_resources(
        self,
        filter: impl Fn(&Caller<'_>, &Resource) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.configure(|config| config.resources.set_filter(filter))
    }

    /// Hides URI templates and the resources behind them from callers that `filter` does not accept;
    /// see [`visible_resources`](Self::visible_resources).
    #[must_use]
    pub fn visible_templates(
        self,
        filter: impl Fn(&Caller<'_>, &ResourceTemplate) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.configure(|config| config.templates.set_filter(filter))
    }

    /// Hides prompts from callers that `filter` does not accept; see
    /// [`visible_tools`](Self::visible_tools).
    #[must_use]
    pub fn visible_prompts(
        self,
        filter: impl Fn(&Caller<'_>, &Prompt) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.configure(|config| config.prompts.set_filter(filter))
    }

    /// Adds scopes to all tools that have been added so far, see [`ToolRoute::scopes`].
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// fn scope(tool: &Tool) -> &'static str {
    ///     let hints = tool.annotations.as_ref();
    ///     match hints.and_then(|hints| hints.read_only_hint) {
    ///         Some(true) => "files:read",
    ///         _ => "files:write",
    ///     }
    /// }
    ///
    /// let server = Server::new("files", "1.0.0")
    ///     .tool(Tool::new("delete").handler(|| "deleted"))
    ///     .tool_scopes(|tool| [scope(tool)]);
    /// # server.check()?;
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    #[must_use]
    pub fn tool_scopes<S: Into<String>, I: IntoIterator<Item = S>>(
        self,
        scopes: impl Fn(&Tool) -> I,
    ) -> Self {
        self.configure(|config| {
            for route in config.tools.iter_mut() {
                let scopes = scopes(route.tool());
                route.scope.add_required_scopes(scopes);
            }
        })
    }

    /// Omits from lists what the scopes of the caller do not permit: tools, resources, templates and
    /// prompts with [scopes](ToolRoute::scopes) that its token lacks. Calls of them are still answered
    /// with the scopes that they need, so that a client which knows the name can ask for them. By default
    /// lists show everything.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// let server = Server::new("files", "1.0.0")
    ///     .tool(Tool::new("read").handler(|| "contents"))
    ///     .tool(Tool::new("delete").handler(|| "deleted").scopes(["files:write"]))
    ///     .list_by_scope();
    /// # server.check()?;
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    #[must_use]
    pub fn list_by_scope(self) -> Self {
        self.configure(|config| {
            config.tools.by_scope = true;
            config.resources.by_scope = true;
            config.templates.by_scope = true;
            config.prompts.by_scope = true;
        })
    }
}
