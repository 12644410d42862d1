//! The server and its builder.

mod routes;

use std::sync::{Arc, Once, Weak};

use mcp_core::extension::{RegisteredExtension, Registration};
use mcp_core::schema::{Lint, LintProfile, Validator};
use mcp_core::{
    BoxFuture, Call, ChangeBus, Changes, ClientFacts, Exchange, Extensions, Fault, Observer,
    ParamHeaders, Reply, ServerProfile, Service, TaskEngine, TaskSubscriptions,
};
use mcp_types::{CacheHint, Implementation};
use serde::Serialize;

use crate::broadcaster::Broadcaster;
use crate::call::ServerTasks;
use crate::caller::Caller;
use crate::change_kinds::ChangeKinds;
use crate::check::{self, SetupError};
use crate::content_policy::ContentPolicy;
use crate::dispatch::dispatch;
use crate::extension::{ServerExtension, ServerSetup, TasksExtension};
use crate::handles::{Prompts, Resources, Templates, Tools};
use crate::middleware::{LayerStack, Layers, Middleware};
use crate::notify::Notify;
use crate::registry::{Registry, ServerConfig, SharedRegistry};
use crate::request_state::{Sealer, StateKeys};

/// A Model Context Protocol server: its identity, its routes, its settings.
///
/// Build it by adding routes, then pass it to a transport.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
///
/// let server = Server::new("clock", "1.0.0")
///     .instructions("Ask `now` for the time.")
///     .tool(Tool::new("now").describe("The time").handler(|| "half past"));
/// server.check()?;
/// # Ok::<(), mcp::SetupError>(())
/// ```
#[derive(Debug)]
pub struct Server {
    registry: Arc<SharedRegistry>,
    layer_stack: LayerStack,
    /// The layers of the stack.
    layers: Layers,
    lints_logged: Once,
}

/// A value that converts into a server: a [`Server`], or a value whose `impl` block has
/// `#[mcp::server]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a server",
    note = "put `#[mcp::server]` on its `impl` block, or build a `Server` by hand"
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
        Self {
            registry: SharedRegistry::new(info),
            layer_stack: LayerStack::default(),
            layers: Layers::default(),
            lints_logged: Once::new(),
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

    /// Adds an extension of the protocol: publishes its settings, and adds its handlers, layers and
    /// routes.
    ///
    /// The layers of the extension are added here, as if by [`layer`](Self::layer): they are around the
    /// layers that were added before, and inside of those that are added later.
    /// [`layers_of`](Self::layers_of) gives them another position.
    ///
    /// [`check`](Self::check) reports extensions with the same identifier, methods with the same name,
    /// and requirements of the extension that the server does not meet.
    ///
    /// # Examples
    ///
    /// See [`ServerExtension`].
    // spec: EXT-01
    #[must_use]
    pub fn extension(mut self, extension: impl ServerExtension) -> Self {
        let mut parts = ServerSetup::collect(extension, self.broadcaster());
        let layers = std::mem::take(&mut parts.layers);
        let id = parts.registration.extension().id();
        self.layer_stack.add_extension(id, layers);
        self.layers = self.layer_stack.compose();
        self.configure(|config| config.add_extension(parts))
    }

    /// Puts the layers of an extension here instead of at its call of [`extension`](Self::extension),
    /// which follows: around the layers that were added before, and inside of those that are added
    /// later. `id` is the identifier of the extension. For extensions that are added elsewhere, such as
    /// by a function of another crate.
    ///
    /// [`check`](Self::check) reports a position for an extension that is not registered, or was
    /// registered before.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::Server;
    /// use mcp::extension::{Extension, ServerExtension, ServerSetup};
    /// use mcp::middleware::{Exchange, Next, from_fn};
    ///
    /// struct Quota;
    ///
    /// impl Extension for Quota {
    ///     const ID: &'static str = "com.example/quota";
    ///     type ServerSettings = ();
    ///     type ClientSettings = ();
    /// }
    ///
    /// impl ServerExtension for Quota {
    ///     fn settings(&self) {}
    ///
    ///     fn register(self, setup: &mut ServerSetup<Self>) {
    ///         setup.layer(from_fn(|exchange: Exchange, next: Next| next.run(exchange)));
    ///     }
    /// }
    ///
    /// let server = Server::new("files", "1.0.0")
    ///     // The log is around the quota, although the extension is added last.
    ///     .layers_of(Quota::ID)
    ///     .layer(from_fn(|exchange: Exchange, next: Next| async move {
    ///         println!("{}", exchange.call.method_name());
    ///         next.run(exchange).await
    ///     }))
    ///     .extension(Quota);
    /// server.check()?;
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    #[must_use]
    pub fn layers_of(mut self, id: impl Into<String>) -> Self {
        self.layer_stack.reserve(id);
        self
    }

    /// Returns the registered extensions, in the order of their registration.
    pub fn extensions(&self) -> Vec<RegisteredExtension> {
        self.registry.read_config(|config| {
            let extensions = config.extensions.iter();
            extensions.map(|it| it.extension().clone()).collect()
        })
    }

    /// Declares an extension of the protocol with its settings: a struct or a map. A
    /// [layer](Self::layer) has to answer the extension's methods, which it receives as
    /// [`Call::Other`](mcp_core::Call::Other). Use [`extension`](Self::extension) for typed handlers.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::Server;
    /// use mcp::core::ResultBody;
    /// use mcp::middleware::{Call, Exchange, Next, Reply, from_fn};
    /// use mcp::types::RawObject;
    /// use serde_json::json;
    ///
    /// async fn wave(exchange: Exchange, next: Next) -> Reply {
    ///     match &exchange.call {
    ///         Call::Other { method, .. } if **method == *"acme/wave" => {
    ///             ResultBody::Other(RawObject::empty()).into()
    ///         }
    ///         _ => next.run(exchange).await,
    ///     }
    /// }
    ///
    /// let server = Server::new("acme", "1.0.0")
    ///     .declare_extension("com.example/wave", &json!({"hands": 2}))
    ///     .layer(from_fn(wave));
    /// ```
    // spec: EXT-01
    #[must_use]
    pub fn declare_extension(self, id: impl Into<String>, settings: &impl Serialize) -> Self {
        let registration = Registration::new(id, "declare_extension", settings);
        self.configure(|config| config.extensions.push(registration))
    }

    /// Sets how long clients may cache the result of `server/discover`.
    #[must_use]
    pub fn discover_cache(self, cache: CacheHint) -> Self {
        self.configure(|config| config.discover_cache = cache)
    }

    /// Sets how long clients may cache the list of tools.
    #[must_use]
    pub fn tools_cache(self, cache: CacheHint) -> Self {
        self.configure(|config| config.tools.cache = Some(cache))
    }

    /// Sets how long clients may cache the lists of resources and of templates. Use
    /// [`ResourceRoute::cache`] for the contents of a single resource.
    #[must_use]
    pub fn resources_cache(self, cache: CacheHint) -> Self {
        self.configure(|config| {
            config.resources.cache = Some(cache);
            config.templates.cache = Some(cache);
        })
    }

    /// Sets how long clients may cache the list of prompts.
    #[must_use]
    pub fn prompts_cache(self, cache: CacheHint) -> Self {
        self.configure(|config| config.prompts.cache = Some(cache))
    }

    /// Sets the number of items on a page of a list, at least one. By default a list is one page, which
    /// suits all but very long lists: the page is serialized once for all clients.
    #[must_use]
    pub fn page_size(self, items: usize) -> Self {
        self.configure(|config| config.page_size = items.max(1))
    }

    /// Adds a value that handlers receive as [`State`](crate::State). A second value of the same type
    /// replaces the first.
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(self, value: T) -> Self {
        self.configure(|config| config.context.states.insert(value))
    }

    /// Sets the keys that seal the state of a call while its client is asked. Needed if several nodes
    /// serve one endpoint; by default each process has a random key.
    // spec: MRTR-07, MRTR-16
    #[must_use]
    pub fn request_state_keys(self, keys: StateKeys) -> Self {
        self.configure(|config| {
            let sealer = Sealer::new(&*config.info.name, Some(keys));
            config.context.sealer = Arc::new(sealer);
        })
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
        self.layer_stack.add(layer);
        self.layers = self.layer_stack.compose();
        self
    }

    /// Sets the bus that distributes changes. Nodes that serve one endpoint share a bus, so that a
    /// change on one node reaches the clients of all. The default is a
    /// [`MemoryBus`](mcp_core::MemoryBus) for this server.
    #[must_use]
    pub fn change_bus(self, bus: impl ChangeBus) -> Self {
        let bus = Arc::new(bus);
        self.configure(|config| config.changes = config.changes.clone().bus(bus))
    }

    /// Sets the engine that runs calls of tools as tasks, and declares the tasks extension. Which calls
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

    /// Sets how many `subscriptions/listen` requests of all clients may run at the same time; 1024 by
    /// default. Further ones are refused.
    // spec: SUB-15
    #[must_use]
    pub fn max_subscriptions(self, subscriptions: usize) -> Self {
        self.configure(|config| {
            config.changes = config.changes.clone().max_subscriptions(subscriptions)
        })
    }

    /// Returns a handle that announces changes to clients.
    pub fn notify(&self) -> Notify {
        Notify::new(self.announce(Notify::CHANGE_KINDS))
    }

    /// Returns a handle that sends notifications of extensions to all clients that declare them.
    pub fn broadcaster(&self) -> Broadcaster {
        let registry = Arc::downgrade(&self.registry);
        Broadcaster::new(registry)
    }

    /// Returns a handle that changes the tools while the server runs.
    pub fn tools(&self) -> Tools {
        Tools::new(self.announce(Tools::CHANGE_KINDS))
    }

    /// Returns a handle that changes the resources while the server runs.
    pub fn resources(&self) -> Resources {
        Resources::new(self.announce(Resources::CHANGE_KINDS))
    }

    /// Returns a handle that changes the URI templates while the server runs.
    pub fn templates(&self) -> Templates {
        Templates::new(self.announce(Templates::CHANGE_KINDS))
    }

    /// Returns a handle that changes the prompts while the server runs.
    pub fn prompts(&self) -> Prompts {
        Prompts::new(self.announce(Prompts::CHANGE_KINDS))
    }

    /// Declares changes of these kinds, for a new handle.
    fn announce(&self, kinds: ChangeKinds) -> Weak<SharedRegistry> {
        self.registry.announce(kinds);
        Arc::downgrade(&self.registry)
    }

    /// Sets a validator for JSON Schemas. It checks the arguments of tools with an input schema of
    /// [`Tool::raw`], which no Rust type checks, and the structured content of all tools with an
    /// output schema.
    ///
    /// [`check`](Self::check) reports schemas that the validator cannot use. A result that violates
    /// its schema goes to the log, and the client receives an internal error.
    // spec: TOOL-16, TOOL-22, JSCH-01, JSCH-02
    #[must_use]
    pub fn validate_with(self, validator: impl Validator) -> Self {
        let validator: Arc<dyn Validator> = Arc::new(validator);
        self.configure(|config| config.context.validation.validator = Some(validator))
    }

    /// Converts string arguments of tools to the type that the schema asks for, if it accepts no
    /// string: `"5"` to a number, `"true"` to a boolean, `"null"` and `"[1, 2]"` to their JSON. For
    /// language models that write such arguments. Off by default: then the model receives an error.
    /// The number `5.0` is always accepted for an integer.
    #[must_use]
    pub fn lenient_arguments(self) -> Self {
        self.configure(|config| config.context.validation.lenient = true)
    }

    /// Hides the messages of errors that handlers return by `?`. The client receives a number, and the
    /// log the error with this number and its sources. By default clients and language models receive
    /// the message, which may contain names of files, hosts or tables.
    ///
    /// Messages that are written for the client stay visible: those of [`ToolError::new`] and its
    /// counterparts, protocol errors, and mistakes in arguments.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::{Server, Tool, ToolError, ToolExt};
    ///
    /// fn read() -> Result<String, ToolError> {
    ///     // The client receives "the tool failed (error 5bf1…)".
    ///     Ok(std::fs::read_to_string("/srv/notes.md")?)
    /// }
    ///
    /// let server = Server::new("notes", "1.0.0")
    ///     .tool(Tool::new("read").handler(read))
    ///     .mask_errors();
    /// ```
    ///
    /// [`ToolError::new`]: crate::ToolError::new
    #[must_use]
    pub fn mask_errors(self) -> Self {
        self.configure(|config| config.context.masks_errors = true)
    }

    /// Sets the content of results of tools that have structured content; [`ContentPolicy::Both`] by
    /// default.
    // spec: TOOL-15
    #[must_use]
    pub fn content_policy(self, policy: ContentPolicy) -> Self {
        self.configure(|config| config.context.content_policy = policy)
    }

    fn configure(self, change: impl FnOnce(&mut ServerConfig)) -> Self {
        self.registry.configure(change);
        self
    }

    /// Finds mistakes that would otherwise become visible at the first call: two routes with one name,
    /// a malformed URI template, missing state. The functions `serve_*` and the test kit call it.
    ///
    /// The first successful check also writes the [lints](Self::lints) to the log.
    ///
    /// # Errors
    ///
    /// Returns a [`SetupError`] with every mistake and how to fix it.
    pub fn check(&self) -> Result<(), SetupError> {
        self.registry.read_config(|config| {
            check::check_server(config, self.layer_stack.find_problems())?;
            self.lints_logged
                .call_once(|| check::log_lints(check::lints(config)));
            Ok(())
        })
    }

    /// Returns why clients may refuse tools: their names, schemas or results. For tests;
    /// [`check`](Self::check) writes the same to the log, once.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// let server = Server::new("clock", "1.0.0").tool(Tool::new("clock.now").handler(|| "half past"));
    /// let lints = server.lints();
    /// assert!(lints[0].to_string().contains("a tool whose name has a `.`"));
    /// ```
    pub fn lints(&self) -> Vec<Lint> {
        self.registry.read_config(check::lints)
    }

    /// Returns the [lints](Self::lints) that concern one client: those about it, and those about every
    /// client.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::schema::LintProfile;
    /// use mcp::{Server, Tool, ToolExt};
    ///
    /// let server = Server::new("clock", "1.0.0").tool(Tool::new("clock.now").handler(|| "half past"));
    /// assert_eq!(server.lints_for(LintProfile::Claude).len(), 1);
    /// assert!(server.lints_for(LintProfile::Zed).is_empty());
    /// ```
    pub fn lints_for(&self, profile: LintProfile) -> Vec<Lint> {
        let mut lints = self.lints();
        lints.retain(|lint| lint.concerns(profile));
        lints
    }
}

impl Service for Server {
    fn profile(&self) -> Arc<ServerProfile> {
        self.registry.read(|registry| registry.profile.clone())
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        let registry = self.registry.current();
        let endpoint = move |exchange| dispatch(&registry, exchange);
        self.layers.run(exchange, endpoint)
    }

    fn observer(&self) -> Option<Arc<dyn Observer>> {
        self.layers.observer().cloned()
    }

    // spec: SUB-12
    fn changes(&self) -> Option<Changes> {
        Some(self.registry.read(|registry| registry.changes.clone()))
    }

    // spec: TASK-19
    fn task_subscriptions(&self) -> Option<Arc<dyn TaskSubscriptions>> {
        let registry = self.registry.current();
        let tasks = registry.context.tasks.as_ref()?;
        Some(tasks.engine.clone())
    }

    // The transport does not know the caller. The route of the tool reports a mismatch, after its
    // visibility was checked.
    fn header_plan(&self, tool: &str) -> Option<Arc<ParamHeaders>> {
        let find = |registry: &Registry| registry.header_plans.get(tool).cloned();
        self.registry.read(find)
    }

    fn check_scopes(
        &self,
        call: &Call,
        facts: &ClientFacts,
        extensions: &Extensions,
    ) -> Result<(), Fault> {
        let caller = Caller::new(facts, extensions);
        self.registry
            .read(|registry| registry.check_scopes(call, &caller))
    }
}
