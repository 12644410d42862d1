//! The server and its builder.

mod service;
mod settings;

use std::fmt;
use std::ops::RangeBounds;
use std::sync::{Arc, Weak};

use mcp_core::schema::Validator;
use mcp_core::{Call, ChangeBus, Observer, ServerProfile, SubscribedResources, TaskEngine};
use mcp_types::{Implementation, ProtocolVersion, Tool};

use crate::broadcaster::Broadcaster;
use crate::call::ServerTasks;
use crate::change_kinds::ChangeKinds;
use crate::dispatch::dispatch;
use crate::extension::{IntoServerExtension, ServerSetup, TasksExtension};
use crate::handles::{Edited, Prompts, RawExtensions, Resources, Templates, Tools};
use crate::middleware::{Middleware, Next};
use crate::notify::Notify;
use crate::registry::{ServerConfig, SharedRegistry};
use crate::routes::{
    CompletionRoute, IntoRoute, PromptRoute, ResourceRoute, Routes, TemplateRoute, ToolRoute,
};
use crate::tokens::TokenSealer;

/// A Model Context Protocol server: its identity, its routes, its settings.
///
/// Build it by adding routes, then pass it to a transport. Clones share the routes and settings; a layer is added to
/// one clone only.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
///
/// let server = Server::new("clock", "1.0.0")
///     .instructions("Ask `now` for the time.")
///     .tool(Tool::new("now").description("The time").handler(|| "half past"));
/// server.check()?;
/// # Ok::<(), mcp::SetupError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Server {
    registry: Arc<SharedRegistry>,
    /// The layers around the registry.
    service: Next,
    /// Replaces calls before anything else sees them.
    replace_call: Option<ReplaceCall>,
    /// The observer of the layers.
    observer: Option<Arc<dyn Observer>>,
    /// Handles announce no changes of lists.
    is_unannounced: bool,
}

/// Returns the call to answer in place of another one.
#[derive(Clone)]
struct ReplaceCall(Arc<ReplaceFn>);

type ReplaceFn = dyn Fn(&Call) -> Option<Call> + Send + Sync;

impl fmt::Debug for ReplaceCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplaceCall")
    }
}

/// A value that converts into a server: a [`Server`], or a value whose `impl` block has
/// `#[mcp::server]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not become a server",
    label = "expected a `Server`, or a value with `#[mcp::server]`",
    note = "a type of yours needs `#[mcp::server]` on its `impl` block, and must be `Send + Sync`",
    note = "`Routes` are added to a server: `Server::new(name, version).merge(routes)`",
    note = "pass a `Server` itself; only `StreamableHttp`, `Serve`, `StdioServer` and `InProcess` take an `Arc<Server>`",
    note = "`InProcess(server)` is the target of a client: pass the server itself here"
)]
pub trait IntoServer {
    /// Converts the value into a server.
    fn into_server(self) -> Server;
}

impl IntoServer for Server {
    fn into_server(self) -> Server {
        self
    }
}

impl Server {
    /// Creates a server without routes.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::with_info(Implementation::new(name, version))
    }

    /// Creates a server without routes that has a title, a description, icons or a website.
    pub fn with_info(info: Implementation) -> Self {
        let registry = SharedRegistry::new(info);
        let service = {
            let registry = registry.clone();
            Next::new(move |exchange| registry.read(|registry| dispatch(registry, exchange)))
        };
        Self {
            registry,
            service,
            replace_call: None,
            observer: None,
            is_unannounced: false,
        }
    }

    /// Creates the server of a value whose `impl` block has `#[mcp::server]`.
    pub fn of(value: impl IntoServer) -> Self {
        value.into_server()
    }

    /// Sets instructions for language models on how to use the server.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.configure(|config| config.instructions = Some(instructions.into()))
    }

    /// Sets the protocol revisions that the server offers. Default: all. For servers that rely on what a revision has,
    /// such as sessions, and for clients that must not find a revision which was not tested with them.
    ///
    /// `server/discover` and `initialize` name only these revisions. A request of another revision is answered with
    /// the error `UnsupportedProtocolVersion`, which lists them, so that clients choose one of them. A session has the
    /// newest offered revision if the client asks for another one. Over HTTP without sessions and on a pipe before
    /// `initialize`, a legacy request that names no revision is one of 2025-03-26.
    ///
    /// [`check`](Self::check) reports an empty range.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// // Only revisions with sessions.
    /// let server = Server::new("notebook", "1.0.0").revisions(..=ProtocolVersion::V2025_11_25);
    /// # server.check()?;
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    // spec: VER-03
    #[must_use]
    pub fn revisions(self, revisions: impl RangeBounds<ProtocolVersion>) -> Self {
        let known = ProtocolVersion::ALL.into_iter();
        let offered = known
            .filter(|version| revisions.contains(version))
            .collect();
        self.configure(|config| config.revisions = offered)
    }

    /// Adds a protocol extension: publishes its settings, and adds its handlers, layers and
    /// routes.
    ///
    /// The extension's layers are added here, as if by [`layer`](Self::layer): they are around the
    /// layers that were added before, and inside those that are added later.
    ///
    /// [`check`](Self::check) reports extensions with the same identifier, methods with the same name,
    /// and requirements of the extension that the server does not meet.
    ///
    /// # Examples
    ///
    /// See [`ServerExtension`](crate::ServerExtension), and [`RawExtension`](crate::RawExtension) for an
    /// extension that is known at run time only.
    // spec: EXT-01
    #[must_use]
    pub fn extension(mut self, extension: impl IntoServerExtension) -> Self {
        let registry = Arc::downgrade(&self.registry);
        let notify = Notify::new(registry);
        let mut parts = ServerSetup::collect(extension, self.broadcaster(), notify);
        if parts.notifies {
            self.registry.announce(Notify::CHANGE_KINDS);
        }
        let layers = std::mem::take(&mut parts.layers);
        if let Some(layer) = layers.into_layer() {
            self = self.layer(layer);
        }
        self.configure(|config| config.add_extension(parts))
    }

    /// Returns a handle that replaces extensions while the server runs, for programs that pass messages on.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::Server;
    /// use mcp::extension::RawExtension;
    ///
    /// let server = Server::new("echo", "1.0.0");
    /// let mut extensions = server.extensions();
    /// extensions.replace(vec![RawExtension::new("com.example/echo", &())]);
    /// // The program that is passed on has lost its extension.
    /// extensions.replace(Vec::new());
    /// ```
    // spec: EXT-01
    pub fn extensions(&self) -> RawExtensions {
        RawExtensions::new(Arc::downgrade(&self.registry))
    }

    /// Adds a value that handlers receive as [`State`](crate::State). A second value of the same type
    /// replaces the first.
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(self, value: T) -> Self {
        self.configure(|config| config.context.states.insert(value))
    }

    /// Adds a tool: a route, or a function with `#[tool]`.
    #[must_use]
    pub fn tool(self, tool: impl IntoRoute<ToolRoute>) -> Self {
        self.configure(|config| config.tools.push(tool.into_route()))
    }

    /// Adds a resource: a route, or a function with `#[resource]`.
    #[must_use]
    pub fn resource(self, resource: impl IntoRoute<ResourceRoute>) -> Self {
        self.configure(|config| config.resources.push(resource.into_route()))
    }

    /// Adds a URI template, a resource family: a route, or a function with `#[resource]`.
    #[must_use]
    pub fn template(self, template: impl IntoRoute<TemplateRoute>) -> Self {
        self.configure(|config| config.templates.push(template.into_route()))
    }

    /// Adds a prompt: a route, or a function with `#[prompt]`.
    #[must_use]
    pub fn prompt(self, prompt: impl IntoRoute<PromptRoute>) -> Self {
        self.configure(|config| config.prompts.push(prompt.into_route()))
    }

    /// Adds a completion: a route, or a function with `#[completion]`. Without macros, a prompt and a
    /// template take their completions themselves: [`PromptRoute::completion`],
    /// [`TemplateRoute::completion`].
    #[must_use]
    pub fn completion(self, completion: impl IntoRoute<CompletionRoute>) -> Self {
        self.configure(|config| config.completions.push(completion.into_route()))
    }

    /// Adds all routes of a router.
    #[must_use]
    pub fn merge(self, routes: Routes) -> Self {
        self.configure(|config| config.add_routes(routes))
    }

    /// Adds a layer around all calls, also of routes that are added later: a tower layer, or
    /// [`from_fn`](crate::middleware::from_fn). The layer that is added last is the outermost, as in
    /// axum. A `ServiceBuilder` counts as one layer, in which the first layer is the outermost.
    ///
    /// Layers see every call that reaches the server, also of unknown tools and methods. They do not
    /// see requests that the protocol layer answers, such as `server/discover`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use mcp::middleware::{Exchange, Next, from_fn};
    /// use mcp::prelude::*;
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
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    #[must_use]
    pub fn layer(mut self, layer: impl Middleware) -> Self {
        if let Some(observer) = layer.observer() {
            self.observer = Some(observer);
        }
        self.service = layer.wrap(self.service);
        self
    }

    /// Sets a function that replaces calls before gates and scopes are checked and before layers and routes see them, for a
    /// tool that stands for other tools. Headers that repeat arguments are compared with the replacement, if the request has
    /// any. The call as the client sent it is in the exchange's extensions:
    /// `exchange.extensions.get::<Call>()`. `None` keeps the call. A panic keeps it, too.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::middleware::Call;
    /// use mcp::prelude::*;
    /// use mcp::types::CallToolParams;
    ///
    /// let server = Server::new("clock", "2.0.0")
    ///     .tool(Tool::new("now").handler(|| "half past"))
    ///     .replace_calls(|call| match call {
    ///         Call::CallTool(params) if params.name == "time" => {
    ///             Some(Call::CallTool(CallToolParams::new("now", None)))
    ///         }
    ///         _ => None,
    ///     });
    /// # server.check()?;
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    #[must_use]
    pub fn replace_calls(
        mut self,
        replace: impl Fn(&Call) -> Option<Call> + Send + Sync + 'static,
    ) -> Self {
        self.replace_call = Some(ReplaceCall(Arc::new(replace)));
        self
    }

    /// Adds all routes of a router under a prefix; see [`Routes::nest`].
    #[must_use]
    pub fn nest(self, prefix: impl AsRef<str>, routes: Routes) -> Self {
        self.merge(Routes::new().nest(prefix, routes))
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
                route.scope.required_scopes.add(scopes);
            }
        })
    }

    /// Sets the bus that distributes changes. Nodes that serve one endpoint share a bus, so that a
    /// change on one node reaches the clients of all. The default is a
    /// [`MemoryBus`](mcp_core::MemoryBus) for this server.
    #[must_use]
    pub fn change_bus(self, bus: impl ChangeBus) -> Self {
        let bus = Arc::new(bus);
        self.configure(|config| config.changes = config.changes.clone().bus(bus))
    }

    /// Sets the engine that runs tool calls as tasks, and declares the tasks extension. Which calls
    /// become tasks is a setting of each tool; see [`ToolRoute::task`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use mcp::prelude::*;
    /// use mcp::tasks::{TaskMode, Tasks};
    ///
    /// let render = Tool::new("render").handler(async || "done");
    /// let server = Server::new("studio", "1.0.0")
    ///     .tool(render.task(TaskMode::After(Duration::from_secs(1))))
    ///     .tasks(Tasks::in_memory().ttl(Duration::from_secs(3600)));
    /// server.check()?;
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    // spec: TASK-01
    #[must_use]
    pub fn tasks(self, engine: impl TaskEngine) -> Self {
        let engine: Arc<dyn TaskEngine> = Arc::new(engine);
        let server = self.extension(TasksExtension(engine.clone()));
        server.configure(|config| {
            let profile = Arc::new(ServerProfile::new(config.info.clone()));
            config.context.tasks = Some(ServerTasks { engine, profile });
        })
    }

    /// Returns a handle that announces changes to clients.
    pub fn notify(&self) -> Notify {
        Notify::new(self.announce(Notify::CHANGE_KINDS))
    }

    /// Returns the resources that clients are subscribed to, for a server that watches only those. Call it before a
    /// transport takes the server: earlier subscribers are not counted.
    pub fn subscribed_resources(&self) -> SubscribedResources {
        self.registry
            .configure(|config| config.changes.subscribed_resources())
    }

    /// Returns a handle that sends extension notifications to all clients that declare them.
    pub fn broadcaster(&self) -> Broadcaster {
        let registry = Arc::downgrade(&self.registry);
        Broadcaster::new(registry)
    }

    /// Returns a handle that seals tokens with the keys of request states
    /// ([`request_state_keys`](Self::request_state_keys)).
    pub fn token_sealer(&self) -> TokenSealer {
        TokenSealer::new(Arc::downgrade(&self.registry))
    }

    /// Returns a handle that changes the tools while the server runs.
    pub fn tools(&self) -> Tools {
        Tools::new(self.edited(Tools::CHANGE_KINDS))
    }

    /// Returns a handle that changes the resources while the server runs.
    pub fn resources(&self) -> Resources {
        Resources::new(self.edited(Resources::CHANGE_KINDS))
    }

    /// Returns a handle that changes the URI templates while the server runs.
    pub fn templates(&self) -> Templates {
        Templates::new(self.edited(Templates::CHANGE_KINDS))
    }

    /// Returns a handle that changes the prompts while the server runs.
    pub fn prompts(&self) -> Prompts {
        Prompts::new(self.edited(Prompts::CHANGE_KINDS))
    }

    /// Returns a clone whose handles for lists ([`tools`](Self::tools), …) change the routes without a notification. For a
    /// program that decides itself which clients see another list, such as one with a layer that answers lists: it
    /// notifies them with [`Notify`].
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// let server = Server::new("plugins", "1.0.0");
    /// let (tools, notify) = (server.unannounced().tools(), server.notify());
    /// tools.add(Tool::new("debug").handler(|| "ok"))?;
    /// // The layer of this server lists these tools only.
    /// if tools.names().iter().any(|name| name.starts_with("public_")) {
    ///     notify.tools_changed();
    /// }
    /// # Ok::<(), mcp::EditError>(())
    /// ```
    #[must_use]
    pub fn unannounced(&self) -> Self {
        Self {
            is_unannounced: true,
            ..self.clone()
        }
    }

    /// Declares changes of these kinds, for a new handle of a list.
    fn edited(&self, kinds: ChangeKinds) -> Edited {
        Edited::new(self.announce(kinds), !self.is_unannounced)
    }

    /// Declares changes of these kinds, for a new handle.
    fn announce(&self, kinds: ChangeKinds) -> Weak<SharedRegistry> {
        self.registry.announce(kinds);
        Arc::downgrade(&self.registry)
    }

    /// Sets a validator for JSON Schemas. It checks arguments against the schema of
    /// [`Tool::input_schema`], which no Rust type checks, and the structured content of all tools with
    /// an output schema.
    ///
    /// [`check`](Self::check) reports schemas that the validator cannot use. A result that violates
    /// its schema goes to the log, and the client receives an internal error.
    #[must_use]
    pub fn validate_with(self, validator: impl Validator) -> Self {
        let validator: Arc<dyn Validator> = Arc::new(validator);
        self.configure(|config| config.context.validation.validator = Some(validator))
    }

    fn configure(self, change: impl FnOnce(&mut ServerConfig)) -> Self {
        self.registry.configure(change);
        self
    }
}
