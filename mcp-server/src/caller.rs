//! The caller of a request, as visibility filters see it.

use std::fmt;

use mcp_core::{ClientContext, Exchange, Extensions, Principal};

/// The caller of a request: the argument of visibility filters such as
/// [`ToolRoute::visible_to`](crate::ToolRoute::visible_to).
///
/// # Examples
///
/// ```
/// use mcp::Caller;
/// use mcp::prelude::*;
///
/// fn is_admin(caller: &Caller<'_>) -> bool {
///     caller.has_scope("admin")
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
    facts: &'a ClientContext,
    extensions: &'a Extensions,
}

impl<'a> Caller<'a> {
    /// A caller with the extensions of its request. For engines and services that check a visibility by
    /// themselves.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::{CallContext, Caller};
    ///
    /// fn is_admin(call: &CallContext) -> bool {
    ///     Caller::new(call.facts(), call.extensions()).has_scope("admin")
    /// }
    /// ```
    pub fn new(facts: &'a ClientContext, extensions: &'a Extensions) -> Self {
        Self { facts, extensions }
    }

    pub(crate) fn from_exchange(exchange: &'a Exchange) -> Self {
        Self::new(&exchange.facts, &exchange.extensions)
    }

    /// The client's version, capabilities and name. The client declares them itself, so they prove
    /// nothing.
    pub fn facts(&self) -> &'a ClientContext {
        self.facts
    }

    /// The user behind the call, if a layer has authenticated one.
    pub fn principal(&self) -> Option<&'a Principal> {
        self.extensions.get()
    }

    /// Returns whether the caller's token has a scope. False for callers that no layer has
    /// authenticated.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// // Only callers with the scope see the tool; for others it is unknown.
    /// let delete = Tool::new("delete")
    ///     .handler(|| "deleted")
    ///     .visible_to(|caller| caller.has_scope("files:write"));
    /// # let _ = delete;
    /// ```
    pub fn has_scope(&self, scope: &str) -> bool {
        let has = |who: &Principal| who.scopes.iter().any(|own| own == scope);
        self.principal().is_some_and(has)
    }

    /// Returns whether the call arrived over HTTP.
    pub(crate) fn is_http(&self) -> bool {
        self.extensions.parts().is_some()
    }

    /// A value of type `T` that a layer inserted into the request's extensions.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&'a T> {
        self.extensions.get()
    }

    /// Returns the value of a header in the HTTP request. Returns `None` on other transports, and when
    /// the value is not visible ASCII.
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
