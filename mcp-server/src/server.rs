//! The server: routes, state, identity.

use std::future::ready;
use std::sync::{Arc, OnceLock};

use mcp_core::{BoxFuture, Call, Exchange, Fault, ItemKind, Reply, ServerProfile, Service};
use mcp_types::{
    CacheHint, Implementation, ListChangedCapability, ResourcesCapability, ServerCapabilities,
    Settings,
};

use crate::completion::{CompletionRoute, CompletionSet};
use crate::extract::CallContext;
use crate::failure::Failed;
use crate::handler::CompletionHandler;
use crate::middleware::{Layers, Middleware};
use crate::prompts::{PromptRoute, PromptSet};
use crate::resources::{ResourceRoute, ResourceSet, TemplateRoute};
use crate::routes::Routes;
use crate::state::States;
use crate::tools::{ToolRoute, ToolSet};

/// A Model Context Protocol server: who it is, and what it offers.
///
/// Built by adding to it, then given to a transport.
///
/// # Examples
///
/// ```
/// use mcp_server::{Server, Tool, ToolExt};
///
/// let server = Server::new("clock", "1.0.0")
///     .instructions("Ask `now` for the time.")
///     .tool(Tool::new("now").describe("The time").handler(|| "half past"));
/// server.check()?;
/// # Ok::<(), mcp_server::SetupError>(())
/// ```
#[derive(Debug)]
pub struct Server {
    info: Implementation,
    instructions: Option<String>,
    caches: Caches,
    states: Arc<States>,
    routes: Routes,
    layers: Layers,
    built: OnceLock<Arc<Built>>,
}

/// How long clients may keep what the server says about itself.
// spec: CACHE-01
#[derive(Debug, Default)]
struct Caches {
    discover: CacheHint,
    tools: Option<CacheHint>,
    resources: Option<CacheHint>,
    prompts: Option<CacheHint>,
}

/// What serving needs, made once from what the author gave.
#[derive(Debug)]
struct Built {
    profile: Arc<ServerProfile>,
    states: Arc<States>,
    tools: ToolSet,
    resources: ResourceSet,
    prompts: PromptSet,
    completions: CompletionSet,
}

/// What becomes a server: a [`Server`], or a value whose `impl` block has `#[mcp::server]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a server",
    note = "put `#[mcp::server]` on its `impl` block, or build a `Server` by hand"
)]
pub trait IntoServer {
    /// Becomes a server.
    fn into_server(self) -> Server;
}

impl IntoServer for Server {
    fn into_server(self) -> Server {
        self
    }
}

/// A server cannot serve as it was built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server {server:?} cannot serve:\n{}", problems.join("\n"))]
pub struct SetupError {
    server: String,
    problems: Vec<String>,
}

impl SetupError {
    /// What is wrong, a line each.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl Server {
    /// A server that offers nothing yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::with_info(Implementation::new(name, version))
    }

    /// A server that says more about itself than its name and its version.
    pub fn with_info(info: Implementation) -> Self {
        Self {
            info,
            instructions: None,
            caches: Caches::default(),
            states: Arc::default(),
            routes: Routes::default(),
            layers: Layers::default(),
            built: OnceLock::new(),
        }
    }

    /// The server that a value makes: one whose `impl` block has `#[mcp::server]`.
    pub fn of(value: impl IntoServer) -> Self {
        value.into_server()
    }

    /// Says how to use the server, for a language model.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self.changed()
    }

    /// Sets how long clients may keep the answer to `server/discover`.
    #[must_use]
    pub fn discover_cache(mut self, cache: CacheHint) -> Self {
        self.caches.discover = cache;
        self.changed()
    }

    /// Sets how long clients may keep the list of tools.
    #[must_use]
    pub fn tools_cache(mut self, cache: CacheHint) -> Self {
        self.caches.tools = Some(cache);
        self.changed()
    }

    /// Sets how long clients may keep the lists of resources and of templates. What a single
    /// resource has is set by [`ResourceRoute::cache`].
    #[must_use]
    pub fn resources_cache(mut self, cache: CacheHint) -> Self {
        self.caches.resources = Some(cache);
        self.changed()
    }

    /// Sets how long clients may keep the list of prompts.
    #[must_use]
    pub fn prompts_cache(mut self, cache: CacheHint) -> Self {
        self.caches.prompts = Some(cache);
        self.changed()
    }

    /// Gives a value that handlers take as [`State`](crate::State). One value per type; a second
    /// one replaces the first.
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(self, value: T) -> Self {
        let mut server = self.changed();
        // Nobody else has the states before the server serves.
        if let Some(states) = Arc::get_mut(&mut server.states) {
            states.insert(value);
        }
        server
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: ToolRoute) -> Self {
        self.routes.tools.push(tool);
        self.changed()
    }

    /// Adds several tools.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = ToolRoute>) -> Self {
        self.routes.tools.extend(tools);
        self.changed()
    }

    /// Adds a resource.
    #[must_use]
    pub fn resource(mut self, resource: ResourceRoute) -> Self {
        self.routes.resources.push(resource);
        self.changed()
    }

    /// Adds a URI template: a family of resources.
    #[must_use]
    pub fn template(mut self, template: TemplateRoute) -> Self {
        self.routes.templates.push(template);
        self.changed()
    }

    /// Adds a prompt.
    #[must_use]
    pub fn prompt(mut self, prompt: PromptRoute) -> Self {
        self.routes.prompts.push(prompt);
        self.changed()
    }

    /// Adds a completion of an argument.
    #[must_use]
    pub fn completion(mut self, completion: CompletionRoute) -> Self {
        self.routes.completions.push(completion);
        self.changed()
    }

    /// Completes an argument of a prompt. Arguments whose type is an enum complete by themselves.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_server::{Args, Prefix, PromptExt, Server};
    /// use mcp_types::Prompt;
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
    /// # Ok::<(), mcp_server::SetupError>(())
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

    /// Completes a variable of a URI template. Variables whose type is an enum complete by
    /// themselves.
    #[must_use]
    pub fn completion_for_template<M, H: CompletionHandler<M>>(
        self,
        uri_template: impl Into<String>,
        variable: impl Into<String>,
        handler: H,
    ) -> Self {
        self.completion(CompletionRoute::template(uri_template, variable, handler))
    }

    /// Adds all routes of another source.
    #[must_use]
    pub fn merge(mut self, routes: Routes) -> Self {
        self.routes = self.routes.merge(routes);
        self.changed()
    }

    /// Puts a layer around all calls, whichever routes are added before or after it: a tower layer,
    /// or [`from_fn`](crate::middleware::from_fn). The last one that is added is the outermost, as
    /// in axum; in a `ServiceBuilder`, which is one layer, the first one is.
    ///
    /// Layers see every call that reaches the server, of unknown tools and methods, too, and not
    /// `server/discover` and what else is answered before it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use mcp_server::middleware::{Exchange, Next, from_fn};
    /// use mcp_server::{Server, Tool, ToolExt};
    /// use tower::timeout::TimeoutLayer;
    ///
    /// let server = Server::new("clock", "1.0.0")
    ///     .tool(Tool::new("now").handler(|| "half past"))
    ///     .layer(from_fn(|exchange: Exchange, next: Next| async move {
    ///         println!("{} from {:?}", exchange.call.method_name(), exchange.facts.client_info());
    ///         next.run(exchange).await
    ///     }))
    ///     .layer(TimeoutLayer::new(Duration::from_secs(30)));
    /// server.check()?;
    /// # Ok::<(), mcp_server::SetupError>(())
    /// ```
    #[must_use]
    pub fn layer(mut self, layer: impl Middleware) -> Self {
        self.layers.add(layer);
        self
    }

    fn changed(mut self) -> Self {
        self.built = OnceLock::new();
        self
    }

    /// Looks for mistakes that would otherwise show at the first call: two routes of one name, a
    /// URI template that cannot be matched, state that nobody gave. `serve_*` and the test kit
    /// call it.
    ///
    /// # Errors
    ///
    /// [`SetupError`] with every mistake, and how to mend it.
    pub fn check(&self) -> Result<(), SetupError> {
        let problems = self.routes.problems(&self.states);
        if problems.is_empty() {
            return Ok(());
        }
        Err(SetupError {
            server: self.info.name.clone(),
            problems,
        })
    }

    fn built(&self) -> &Arc<Built> {
        self.built.get_or_init(|| {
            let routes = &self.routes;
            let (resources, templates) = (&routes.resources, &routes.templates);
            let tools = ToolSet::new(&routes.tools, self.caches.tools);
            let resources = ResourceSet::new(resources, templates, self.caches.resources);
            let prompts = PromptSet::new(&routes.prompts, self.caches.prompts);
            let completions = CompletionSet::new(&routes.completions, routes.have_choices());

            // spec: TOOL-01, RSRC-01, PROMPT-01, COMP-01, LOG-01
            let logs = routes.specs().any(|spec| spec.logs);
            let mut offers = ServerCapabilities::default();
            offers.tools = (!tools.is_empty()).then(ListChangedCapability::default);
            offers.resources = (!resources.is_empty()).then(ResourcesCapability::default);
            offers.prompts = (!prompts.is_empty()).then(ListChangedCapability::default);
            offers.completions = (!completions.is_empty()).then(Settings::default);
            offers.logging = logs.then(Settings::default);

            let profile = ServerProfile::new(self.info.clone())
                .capabilities(offers)
                .instructions(self.instructions.clone())
                .cache(self.caches.discover);
            Arc::new(Built {
                profile: Arc::new(profile),
                states: self.states.clone(),
                tools,
                resources,
                prompts,
                completions,
            })
        })
    }
}

/// An answer that nobody has to wait for.
fn now(reply: impl Into<Reply>) -> BoxFuture<'static, Reply> {
    Box::pin(ready(reply.into()))
}

fn missing(kind: ItemKind, id: &str) -> BoxFuture<'static, Reply> {
    now(Failed { kind, id }.not_found())
}

impl Service for Server {
    fn profile(&self) -> Arc<ServerProfile> {
        self.built().profile.clone()
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        self.layers.run(exchange, self.built(), Built::answer)
    }
}

impl Built {
    // spec: RSRC-05, RSRC-06, PROMPT-05
    fn answer(self: &Arc<Self>, exchange: Exchange) -> BoxFuture<'static, Reply> {
        let Self {
            tools,
            resources,
            prompts,
            completions,
            ..
        } = &**self;
        let context = |exchange| CallContext::new(exchange, self.states.clone());
        match &exchange.call {
            Call::CallTool(params) => match tools.find(&params.name) {
                Some(route) => route.call(context(exchange)),
                None => missing(ItemKind::Tool, &params.name),
            },
            Call::ListTools(page) if !tools.is_empty() => now(tools.list(page)),
            Call::ReadResource(params) if !resources.is_empty() => {
                match resources.find(&params.uri) {
                    Some(found) => found.call(context(exchange)),
                    None => missing(ItemKind::Resource, &params.uri),
                }
            }
            Call::ListResources(page) if !resources.is_empty() => now(resources.list(page)),
            Call::ListResourceTemplates(page) if !resources.is_empty() => {
                now(resources.list_templates(page))
            }
            Call::GetPrompt(params) if !prompts.is_empty() => match prompts.find(&params.name) {
                Some(route) => route.call(context(exchange)),
                None => missing(ItemKind::Prompt, &params.name),
            },
            Call::ListPrompts(page) if !prompts.is_empty() => now(prompts.list(page)),
            Call::Complete(params) if !completions.is_empty() => {
                match completions.find(params, prompts, resources) {
                    Ok(found) => found.call(context(exchange)),
                    Err(fault) => now(fault),
                }
            }
            other => now(Fault::no_such_method(other.method_name())),
        }
    }
}

#[cfg(test)]
mod tests;
