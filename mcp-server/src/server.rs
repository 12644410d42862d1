//! The server: routes, state, identity.

use std::collections::HashSet;
use std::future::ready;
use std::sync::{Arc, OnceLock};

use mcp_core::{BoxFuture, Call, Exchange, Fault, Reply, ServerProfile, Service};
use mcp_types::{CacheHint, Implementation, ListChangedCapability, ServerCapabilities, Settings};

use crate::extract::CallContext;
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
    cache: CacheHint,
    states: Arc<States>,
    routes: Routes,
    built: OnceLock<Built>,
}

/// Routes that belong together. The macros make them, [`Server::merge`] takes them.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Routes {
    /// Tools.
    pub tools: Vec<ToolRoute>,
}

impl Routes {
    /// No routes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: ToolRoute) -> Self {
        self.tools.push(tool);
        self
    }
}

/// What serving needs, made once from what the author gave.
#[derive(Debug)]
struct Built {
    profile: Arc<ServerProfile>,
    tools: ToolSet,
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
    /// A server without tools.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::with_info(Implementation::new(name, version))
    }

    /// A server that says more about itself than its name and its version.
    pub fn with_info(info: Implementation) -> Self {
        Self {
            info,
            instructions: None,
            cache: CacheHint::default(),
            states: Arc::default(),
            routes: Routes::default(),
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
        self.cache = cache;
        self.changed()
    }

    /// Gives a value that handlers take as [`State`](crate::State). One value per type; a second
    /// one replaces the first.
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        // Nobody else has the states before the server serves.
        if let Some(states) = Arc::get_mut(&mut self.states) {
            states.insert(value);
        }
        self
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

    /// Adds all routes of another source.
    #[must_use]
    pub fn merge(self, routes: Routes) -> Self {
        self.tools(routes.tools)
    }

    fn changed(mut self) -> Self {
        self.built = OnceLock::new();
        self
    }

    /// Looks for mistakes that would otherwise show at the first call: two tools of one name,
    /// state that nobody gave. `serve_*` and the test kit call it.
    ///
    /// # Errors
    ///
    /// [`SetupError`] with every mistake, and how to mend it.
    pub fn check(&self) -> Result<(), SetupError> {
        let problems = self.problems();
        if problems.is_empty() {
            return Ok(());
        }
        Err(SetupError {
            server: self.info.name.clone(),
            problems,
        })
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut names = HashSet::new();
        for route in &self.routes.tools {
            let name = route.tool().name.as_str();
            if name.is_empty() {
                problems.push("a tool has no name".to_owned());
            }
            if !names.insert(name) {
                problems.push(format!("two tools are named `{name}`; rename one"));
            }
            for (id, state) in &route.spec().states {
                if !self.states.has(*id) {
                    problems.push(format!(
                        "the tool `{name}` takes `State<{state}>`, which nobody gave; add `.state(…)`"
                    ));
                }
            }
            let own = route.spec().problems.iter();
            problems.extend(own.map(|problem| format!("the tool `{name}`: {problem}")));
        }
        problems
    }

    fn built(&self) -> &Built {
        self.built.get_or_init(|| Built {
            profile: Arc::new(
                ServerProfile::new(self.info.clone())
                    .capabilities(self.capabilities())
                    .instructions(self.instructions.clone())
                    .cache(self.cache),
            ),
            tools: ToolSet::new(&self.routes.tools),
        })
    }

    // spec: TOOL-01, LOG-01
    fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::default();
        let tools = &self.routes.tools;
        capabilities.tools = (!tools.is_empty()).then(ListChangedCapability::default);
        let logs = tools.iter().any(|route| route.spec().logs);
        capabilities.logging = logs.then(Settings::default);
        capabilities
    }
}

impl Service for Server {
    fn profile(&self) -> Arc<ServerProfile> {
        self.built().profile.clone()
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        let tools = &self.built().tools;
        let reply = match &exchange.call {
            Call::CallTool(params) => match tools.get(&params.name) {
                Some(route) => return route.call(CallContext::new(exchange, self.states.clone())),
                None => Fault::no_such_tool(&*params.name).into(),
            },
            Call::ListTools(page) if !self.routes.tools.is_empty() => tools.list(page),
            other => Fault::no_such_method(other.method_name()).into(),
        };
        Box::pin(ready(reply))
    }
}

#[cfg(test)]
mod tests;
