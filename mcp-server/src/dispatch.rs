//! Dispatch of a call to its route.

use std::future::ready;

use mcp_core::{BoxFuture, Call, Exchange, Fault, ItemKind, Reply, ResultBody};
use mcp_types::CompleteResult;

use crate::call::CallContext;
use crate::caller::Caller;
use crate::registry::{CompletionSource, Registry, ResourceMatch, ResourcePage};
use crate::result::ItemRef;

/// Dispatches a call to its route, or answers it from the lists of the registry. A method whose
/// capability the server does not declare is unknown.
// spec: PROMPT-05
pub(crate) fn dispatch(registry: &Registry, exchange: Exchange) -> BoxFuture<'static, Reply> {
    let declared = &registry.profile.capabilities;
    let caller = Caller::from_exchange(&exchange);
    let context = &registry.context;
    match &exchange.call {
        Call::CallTool(params) => match registry.tools.find(&params.name, &caller) {
            Some(route) => route.call(CallContext::new(exchange, context)),
            None => not_found(ItemKind::Tool, &params.name),
        },
        // spec: TOOL-02
        Call::ListTools(page) if declared.tools.is_some() => {
            ready_reply(registry.tools.list(page, &caller))
        }
        Call::ReadResource(params) if declared.resources.is_some() => {
            match registry.find_resource(&params.uri, &caller) {
                Some(ResourceMatch::Resource(route)) => {
                    route.call(CallContext::new(exchange, context))
                }
                Some(ResourceMatch::Template(route, variables)) => {
                    route.call(CallContext::new(exchange, context), variables)
                }
                None => {
                    registry.log_not_found(&params.uri);
                    // spec: RSRC-06
                    not_found(ItemKind::Resource, &params.uri)
                }
            }
        }
        // spec: RSRC-02
        Call::ListResources(page) if declared.resources.is_some() => {
            match registry.list_resources(page, &caller) {
                ResourcePage::Ready(reply) => ready_reply(reply),
                ResourcePage::Computed(route, target) => {
                    route.call_list(CallContext::new(exchange, context), target)
                }
            }
        }
        Call::ListResourceTemplates(page) if declared.resources.is_some() => {
            ready_reply(registry.templates.list(page, &caller))
        }
        Call::GetPrompt(params) if declared.prompts.is_some() => {
            match registry.prompts.find(&params.name, &caller) {
                Some(route) => route.call(CallContext::new(exchange, context)),
                None => not_found(ItemKind::Prompt, &params.name),
            }
        }
        // spec: PROMPT-02
        Call::ListPrompts(page) if declared.prompts.is_some() => {
            ready_reply(registry.prompts.list(page, &caller))
        }
        Call::Complete(params) if declared.completions.is_some() => {
            match registry.find_completion(params, &caller) {
                Ok(CompletionSource::Route(route)) => {
                    route.call(CallContext::new(exchange, context))
                }
                Ok(CompletionSource::Values(values)) => {
                    ready_reply(ResultBody::Complete(CompleteResult::from(values)).into())
                }
                Err(fault) => ready_reply(fault.into()),
            }
        }
        Call::Other { method, .. } => match registry.methods.find(method, true) {
            Some(route) => route.call(CallContext::new(exchange, context)),
            None => no_such_method(method),
        },
        Call::Notification { method, .. } => match registry.methods.find(method, false) {
            Some(route) => route.call(CallContext::new(exchange, context)),
            None => no_such_method(method),
        },
        other => no_such_method(other.method_name()),
    }
}

fn ready_reply(reply: Reply) -> BoxFuture<'static, Reply> {
    Box::pin(ready(reply))
}

fn no_such_method(method: &str) -> BoxFuture<'static, Reply> {
    ready_reply(Fault::no_such_method(method).into())
}

fn not_found(kind: ItemKind, id: &str) -> BoxFuture<'static, Reply> {
    ready_reply(ItemRef { kind, id }.not_found().into())
}
