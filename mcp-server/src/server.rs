//! The server: routes, state, identity.

use std::sync::{Arc, Weak};

use mcp_core::schema::{Lint, Validator};
use mcp_core::{
    BoxFuture, ChangeBus, Changes, Exchange, ParamHeaders, Reply, ServerProfile, Service,
};
use mcp_types::{CacheHint, Implementation, Prompt, Resource, ResourceTemplate, Tool};
use serde::Serialize;

use crate::caller::Caller;
use crate::check::{self, SetupError};
use crate::completion::CompletionRoute;
use crate::edits::Edits;
use crate::handler::CompletionHandler;
use crate::handles::{Prompts, Resources, Templates, Tools};
use crate::live::{Book, Catalogue, Live, MakeOthers};
use crate::middleware::{Layers, Middleware};
use crate::notify::Notify;
use crate::prompts::PromptRoute;
use crate::request_state::StateKeys;
use crate::resources::{ResourceRoute, TemplateRoute};
use crate::routes::Routes;
use crate::tools::{ToolRoute, coerce};

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
    live: Arc<Live>,
    layers: Layers,
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

impl Server {
    /// A server that offers nothing yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::with_info(Implementation::new(name, version))
    }

    /// A server that says more about itself than its name and its version.
    pub fn with_info(info: Implementation) -> Self {
        Self {
            live: Live::new(info),
            layers: Layers::default(),
        }
    }

    /// The server that a value makes: one whose `impl` block has `#[mcp::server]`.
    pub fn of(value: impl IntoServer) -> Self {
        value.into_server()
    }

    /// Says how to use the server, for a language model.
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.write(|book| book.instructions = Some(instructions.into()))
    }

    /// Declares an extension of the protocol with its settings: a struct or a map. Its methods are
    /// answered by a [layer](Self::layer), which gets them as [`Call::Other`](mcp_core::Call::Other).
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_server::middleware::{Call, Exchange, Next, Reply, from_fn};
    /// use mcp_server::Server;
    /// use mcp_core::ResultBody;
    /// use mcp_types::RawObject;
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
        self.write(|book| {
            let declared = std::mem::take(&mut book.declared);
            book.declared = declared.with_extension(id, settings);
        })
    }

    /// Sets how long clients may keep the answer to `server/discover`.
    #[must_use]
    #[inline]
    pub fn discover_cache(self, cache: CacheHint) -> Self {
        self.write(|book| book.cache = cache)
    }

    /// Sets how long clients may keep the list of tools.
    #[must_use]
    #[inline]
    pub fn tools_cache(self, cache: CacheHint) -> Self {
        self.write(|book| book.tools.cache = Some(cache))
    }

    /// Sets how long clients may keep the lists of resources and of templates. What a single
    /// resource has is set by [`ResourceRoute::cache`].
    #[must_use]
    #[inline]
    pub fn resources_cache(self, cache: CacheHint) -> Self {
        self.write(|book| {
            book.resources.cache = Some(cache);
            book.templates.cache = Some(cache);
        })
    }

    /// Sets how long clients may keep the list of prompts.
    #[must_use]
    #[inline]
    pub fn prompts_cache(self, cache: CacheHint) -> Self {
        self.write(|book| book.prompts.cache = Some(cache))
    }

    /// Sets how many items a page of a list holds, at least one. Without it a list is one page,
    /// which is best for all but very long ones: its text is written once and sent to everybody.
    #[must_use]
    #[inline]
    pub fn page_size(self, items: usize) -> Self {
        self.write(|book| book.page_size = items.max(1))
    }

    /// Gives a value that handlers take as [`State`](crate::State). One value per type; a second
    /// one replaces the first.
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(self, value: T) -> Self {
        self.write(|book| Arc::make_mut(&mut book.states).insert(value))
    }

    /// Sets the keys that seal what a call keeps while its client is asked. Needed where several
    /// nodes serve one endpoint; else each process has a random key.
    // spec: MRTR-07, MRTR-16
    #[must_use]
    #[inline]
    pub fn request_state_keys(self, keys: StateKeys) -> Self {
        self.state(Arc::new(keys))
    }

    /// Adds a tool.
    #[must_use]
    #[inline]
    pub fn tool(self, tool: ToolRoute) -> Self {
        self.write(|book| book.tools.push(tool))
    }

    /// Adds a resource.
    #[must_use]
    #[inline]
    pub fn resource(self, resource: ResourceRoute) -> Self {
        self.write(|book| book.resources.push(resource))
    }

    /// Adds a URI template: a family of resources.
    #[must_use]
    #[inline]
    pub fn template(self, template: TemplateRoute) -> Self {
        self.write(|book| book.templates.push(template))
    }

    /// Adds a prompt.
    #[must_use]
    #[inline]
    pub fn prompt(self, prompt: PromptRoute) -> Self {
        self.write(|book| book.prompts.push(prompt))
    }

    /// Adds a completion of an argument.
    #[must_use]
    #[inline]
    pub fn completion(self, completion: CompletionRoute) -> Self {
        self.write(|book| book.completions.push(completion))
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

    /// Adds all routes of a router.
    #[must_use]
    pub fn merge(self, routes: Routes) -> Self {
        self.write(|book| book.add(routes))
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

    /// Adds all routes of a router below a name; see [`Routes::nest`].
    #[must_use]
    pub fn nest(self, prefix: impl AsRef<str>, routes: Routes) -> Self {
        self.merge(Routes::new().nest(prefix, routes))
    }

    /// Shows tools only to the callers that `sees` accepts. What a caller does not see, it cannot
    /// call either: for that caller it is unknown. See [`ToolRoute::visible_to`] for a single tool.
    ///
    /// A list that depends on who asks is made for every call anew, and is told to be private
    /// whatever its cache hint says.
    // spec: TOOL-03, CACHE-12
    #[must_use]
    pub fn visible_tools(
        self,
        sees: impl Fn(&Caller<'_>, &Tool) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.write(|book| book.tools.sight = Some(Arc::new(sees)))
    }

    /// Shows resources only to the callers that `sees` accepts; see
    /// [`visible_tools`](Self::visible_tools). A caller is not told either that one has changed
    /// which it does not see.
    // spec: GAP-10
    #[must_use]
    pub fn visible_resources(
        self,
        sees: impl Fn(&Caller<'_>, &Resource) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.write(|book| book.resources.sight = Some(Arc::new(sees)))
    }

    /// Shows URI templates, and all that is read by them, only to the callers that `sees` accepts;
    /// see [`visible_resources`](Self::visible_resources).
    #[must_use]
    pub fn visible_templates(
        self,
        sees: impl Fn(&Caller<'_>, &ResourceTemplate) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.write(|book| book.templates.sight = Some(Arc::new(sees)))
    }

    /// Shows prompts only to the callers that `sees` accepts; see
    /// [`visible_tools`](Self::visible_tools).
    #[must_use]
    pub fn visible_prompts(
        self,
        sees: impl Fn(&Caller<'_>, &Prompt) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.write(|book| book.prompts.sight = Some(Arc::new(sees)))
    }

    /// Tells changes over a bus of your own: one that the nodes share which serve one endpoint, so
    /// that a change on one of them reaches the clients of all. [`MemoryBus`](mcp_core::MemoryBus)
    /// is what a server has by itself.
    #[must_use]
    pub fn change_bus(self, bus: impl ChangeBus) -> Self {
        let bus = Arc::new(bus);
        self.write(|book| book.changes = book.changes.clone().bus(bus))
    }

    /// Sets how many `subscriptions/listen` requests the server takes at a time, of all clients: 1024
    /// without it. More are refused with an error that says so.
    // spec: SUB-15
    #[must_use]
    #[inline]
    pub fn max_subscriptions(self, subscriptions: usize) -> Self {
        self.write(|book| book.changes = book.changes.clone().max_subscriptions(subscriptions))
    }

    /// A handle to tell clients what has changed.
    #[inline]
    pub fn notify(&self) -> Notify {
        Notify::new(self.expect(Notify::EDITS, None))
    }

    /// A handle to change the tools while the server serves.
    #[inline]
    pub fn tools(&self) -> Tools {
        Tools::new(self.expect(Tools::EDITS, Tools::OTHERS))
    }

    /// A handle to change the resources while the server serves.
    #[inline]
    pub fn resources(&self) -> Resources {
        Resources::new(self.expect(Resources::EDITS, Resources::OTHERS))
    }

    /// A handle to change the URI templates while the server serves.
    #[inline]
    pub fn templates(&self) -> Templates {
        Templates::new(self.expect(Templates::EDITS, Templates::OTHERS))
    }

    /// A handle to change the prompts while the server serves.
    #[inline]
    pub fn prompts(&self) -> Prompts {
        Prompts::new(self.expect(Prompts::EDITS, Prompts::OTHERS))
    }

    fn expect(&self, edits: Edits, others: Option<MakeOthers>) -> Weak<Live> {
        self.live.expect(edits, others);
        Arc::downgrade(&self.live)
    }

    /// Checks what no type checks by whole JSON Schemas: the arguments of tools whose input schema
    /// was given by hand, and the structured content of all tools that have an output schema. A
    /// schema that the validator cannot use is a mistake that [`check`](Self::check) finds; a result
    /// that breaks its schema goes to the log, and its client gets an internal error.
    // spec: TOOL-16, TOOL-22, JSCH-01, JSCH-02
    #[must_use]
    pub fn validate_with(self, validator: impl Validator) -> Self {
        let validator: Arc<dyn Validator> = Arc::new(validator);
        self.write(|book| Arc::make_mut(&mut book.checking).validator = Some(validator))
    }

    /// Reads arguments of tools that are strings as what the schema asks for, where it takes no
    /// string: `"5"` as a number, `"true"` as a boolean, `"null"`, `"[1, 2]"`; and `5.0` as the
    /// integer that it is. For language models that write so. Off by default: then all of these are
    /// told to the model as what does not fit.
    #[must_use]
    #[inline]
    pub fn lenient_arguments(self) -> Self {
        self.write(|book| Arc::make_mut(&mut book.checking).lenient = Some(coerce))
    }

    fn write(self, edit: impl FnOnce(&mut Book)) -> Self {
        self.live.write(edit);
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
        self.live.read(|book| {
            SetupError::of(book, check::book(book))?;
            if self.live.is_first_check() {
                check::tell(check::lints(book));
            }
            Ok(())
        })
    }

    /// What clients are known to refuse in the tools: names, schemas, results. [`check`](Self::check)
    /// writes it to the log, once; tests look at it here.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_server::{Server, Tool, ToolExt};
    ///
    /// let server = Server::new("clock", "1.0.0").tool(Tool::new("clock.now").handler(|| "half past"));
    /// let lints = server.lints();
    /// assert!(lints[0].to_string().contains("a tool whose name has a `.`"));
    /// ```
    pub fn lints(&self) -> Vec<Lint> {
        self.live.read(check::lints)
    }
}

impl Service for Server {
    fn profile(&self) -> Arc<ServerProfile> {
        self.live.current().profile.clone()
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        let server = self.live.current();
        self.layers.run(exchange, &*server, Catalogue::answer)
    }

    // spec: SUB-12
    fn changes(&self) -> Option<Changes> {
        Some(self.live.current().changes.clone())
    }

    // Who may see a tool is not known yet: the plan of one that is hidden is told, too, so that its
    // headers are compared.
    fn header_plan(&self, tool: &str) -> Option<Arc<ParamHeaders>> {
        let server = self.live.current();
        server.tools.get(tool)?.headers().cloned()
    }
}

#[cfg(test)]
mod tests;
