//! Who asks, for what is not shown to everybody.

use std::fmt;

use mcp_core::{ClientFacts, Exchange, Extensions, Principal};

/// Who asks: what a filter of visibility can judge by.
///
/// # Examples
///
/// ```
/// use mcp_server::{Caller, Server, Tool, ToolExt};
///
/// fn is_admin(caller: &Caller<'_>) -> bool {
///     caller.principal().is_some_and(|who| who.scopes.iter().any(|scope| scope == "admin"))
/// }
///
/// let server = Server::new("desk", "1.0.0")
///     .tool(Tool::new("shred").handler(|| "gone").visible_to(is_admin))
///     .tool(Tool::new("read").handler(|| "dear sir"));
/// # server.check()?;
/// # Ok::<(), mcp_server::SetupError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    facts: &'a ClientFacts,
    extensions: &'a Extensions,
}

impl<'a> Caller<'a> {
    pub(crate) fn new(facts: &'a ClientFacts, extensions: &'a Extensions) -> Self {
        Self { facts, extensions }
    }

    pub(crate) fn of(exchange: &'a Exchange) -> Self {
        Self::new(&exchange.facts, &exchange.extensions)
    }

    /// What the client says of itself. No proof of anything.
    pub fn facts(&self) -> &'a ClientFacts {
        self.facts
    }

    /// Who is behind the call, when a layer has verified it.
    pub fn principal(&self) -> Option<&'a Principal> {
        self.extensions.get()
    }

    /// A value that a layer inserted into the request's extensions.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&'a T> {
        self.extensions.get()
    }

    /// A header of the HTTP request. `None` also on other transports, and when it is no plain text.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let parts = self.extensions.parts()?;
        parts.headers.get(name)?.to_str().ok()
    }
}

impl fmt::Debug for Caller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("principal", &self.principal())
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}
