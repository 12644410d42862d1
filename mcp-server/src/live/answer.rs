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
    // spec: TOOL-02, RSRC-05, RSRC-06, PROMPT-05
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
    fn context(self: &Arc<Self>, exchange: Exchange) -> CallContext {
        CallContext::new(exchange, Arc::clone(self))
    }

    /// The answer to what is no call of a tool. Apart, so that calls of tools need less memory.
    #[inline(never)]
    fn answer_other(self: &Arc<Self>, exchange: Exchange) -> BoxFuture<'static, Reply> {
        let offers = &self.profile.capabilities;
        let caller = Caller::of(&exchange);
        let context = |exchange| self.context(exchange);
        match &exchange.call {
            Call::ListTools(page) if offers.tools.is_some() => now(self.tools.list(page, &caller)),
            Call::ReadResource(params) if offers.resources.is_some() => {
                match self.reads(&params.uri, &caller) {
                    Some(found) => found.call(context(exchange)),
                    None => missing(ItemKind::Resource, &params.uri),
                }
            }
            Call::ListResources(page) if offers.resources.is_some() => {
                now(self.resources.list(page, &caller))
            }
            Call::ListResourceTemplates(page) if offers.resources.is_some() => {
                now(self.templates.list(page, &caller))
            }
            Call::GetPrompt(params) if offers.prompts.is_some() => {
                match self.prompts.find(&params.name, &caller) {
                    Some(route) => route.call(context(exchange)),
                    None => missing(ItemKind::Prompt, &params.name),
                }
            }
            Call::ListPrompts(page) if offers.prompts.is_some() => {
                now(self.prompts.list(page, &caller))
            }
            Call::Complete(params) if offers.completions.is_some() => {
                match self.completes(params, &caller) {
                    Ok(found) => found.call(context(exchange)),
                    Err(fault) => now(fault),
                }
            }
            other => now(Fault::no_such_method(other.method_name())),
        }
    }
}

/// An answer that nobody has to wait for.
fn now(reply: impl Into<Reply>) -> BoxFuture<'static, Reply> {
    Box::pin(ready(reply.into()))
}

fn missing(kind: ItemKind, id: &str) -> BoxFuture<'static, Reply> {
    now(Failed { kind, id }.not_found())
}
