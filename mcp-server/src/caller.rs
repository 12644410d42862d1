//! The caller of a request, as visibility filters see it.

use std::fmt;

use mcp_core::{ClientFacts, Exchange, Extensions, Principal};

/// The caller of a request: the argument of visibility filters such as
/// [`ToolRoute::visible_to`](crate::ToolRoute::visible_to) and
/// [`Server::visible_tools`](crate::Server::visible_tools).
///
/// # Examples
///
/// ```
/// use mcp::Caller;
/// use mcp::prelude::*;
///
/// fn is_admin(caller: &Caller<'_>) -> bool {
///     caller.principal().is_some_and(|who| who.scopes.iter().any(|scope| scope == "admin"))
/// }
///
/// let server = Server::new("files", "1.0.0")
///     .tool(Tool::new("delete").handler(|| "deleted").visible_to(is_admin))
///     .tool(Tool::new("read").handler(|| "contents"));
/// # server.check()?;
/// # Ok::<(), mcp::SetupError>(())
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

    pub(crate) fn from_exchange(exchange: &'a Exchange) -> Self {
        Self::new(&exchange.facts, &exchange.extensions)
    }

    /// The client's version, capabilities and name. The client declares them itself, so they prove
    /// nothing.
    pub fn facts(&self) -> &'a ClientFacts {
        self.facts
    }

    /// The user behind the call, if a layer has authenticated one.
    pub fn principal(&self) -> Option<&'a Principal> {
        self.extensions.get()
    }

    /// A value of type `T` that a layer inserted into the request's extensions.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&'a T> {
        self.extensions.get()
    }

    /// The value of a header of the HTTP request. Returns `None` on other transports, and when the
    /// value is not visible ASCII.
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
