//! Who answers a call.

use std::future::ready;
use std::sync::Arc;

use mcp_core::{BoxFuture, Call, Exchange, Fault, ItemKind, Reply};

use super::Catalogue;
use crate::caller::Caller;
use crate::context::CallContext;
use crate::failure::Failed;

impl Catalogue {
    /// The answer to a call.
    // spec: TOOL-02
    #[inline]
    pub(crate) fn answer(self: &Arc<Self>, exchange: Exchange) -> BoxFuture<'static, Reply> {
        let Call::CallTool(params) = &exchange.call else {
            return self.answer_other(exchange);
        };
        match self.tools.find(&params.name, &Caller::of(&exchange)) {
            Some(route) => route.call(self.context(exchange)),
            None => missing(ItemKind::Tool, &params.name),
        }
    }

    #[inline]
    pub(super) fn context(self: &Arc<Self>, exchange: Exchange) -> CallContext {
        CallContext::new(exchange, Arc::clone(self))
    }

    /// The answer to what is no call of a tool. Apart, so that calls of tools need less memory.
    #[inline(never)]
    fn answer_other(self: &Arc<Self>, exchange: Exchange) -> BoxFuture<'static, Reply> {
        match (&exchange.call, &self.others) {
            (Call::ListTools(page), _) if self.profile.capabilities.tools.is_some() => {
                now(self.tools.list(page, &Caller::of(&exchange)))
            }
            (_, Some(others)) => others.answer(self, exchange),
            (other, None) => now(Fault::no_such_method(other.method_name()).into()),
        }
    }
}

/// An answer that nobody has to wait for.
pub(super) fn now(reply: Reply) -> BoxFuture<'static, Reply> {
    Box::pin(ready(reply))
}

pub(super) fn missing(kind: ItemKind, id: &str) -> BoxFuture<'static, Reply> {
    now(Failed { kind, id }.not_found().into())
}
