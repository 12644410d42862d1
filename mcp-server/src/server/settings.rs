//! Server settings, and their check.

use std::sync::Arc;

use mcp_core::schema::Lint;
use mcp_types::CacheHint;

use super::Server;
use crate::check::{self, SetupError};
use crate::request_state::{Sealer, StateKeys};

/// Methods without bounds on their arguments. The others stand beside [`Server`], because an error of the compiler
/// about a bound names the method's module.
impl Server {
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

    /// Sets how long clients may cache the lists of resources and templates. Use
    /// [`ResourceRoute::cache`](crate::ResourceRoute::cache) for the contents of a single resource.
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

    /// Omits from lists what the scopes of the caller do not permit: tools, resources, templates and
    /// prompts with [scopes](crate::ToolRoute::scopes) that its token lacks. Calls of them are still answered
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

    /// Sets the keys that seal the state of a call while its client is asked. Needed if several nodes
    /// serve one endpoint; by default each process has a random key.
    // spec: MRTR-16
    #[must_use]
    pub fn request_state_keys(self, keys: StateKeys) -> Self {
        self.configure(|config| {
            let sealer = Sealer::new(&*config.info.name, Some(keys));
            config.context.sealer = Arc::new(sealer);
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

    /// Omits the text that repeats the structured content of tool results, for clients that would pass both to
    /// their language model. Clients of revisions without structured content receive the text. By default, results
    /// have both, because some clients do not read structured content.
    // spec: TOOL-15
    #[must_use]
    pub fn structured_only(self) -> Self {
        self.configure(|config| config.context.structured_only = true)
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
            check::check_server(config)?;
            config
                .lints_logged
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
}
