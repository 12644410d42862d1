//! Tools, resources, templates, prompts and completions of the gateway: those of its servers.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::{Client, Step};
use mcp_core::{ResultBody, TaskMode};
use mcp_server::{
    CompletionError, Prefix, PromptError, PromptExt as _, PromptRoute, RawArgs, ResourceError,
    ResourceExt as _, ResourceRoute, TemplateRoute, ToolError, ToolExt as _, ToolRoute,
};
use mcp_types::{
    CacheHint, CallToolResult, CompleteParams, CompleteResult, CompletionReference, JsonObject,
    Prompt, RawObject, Resource, ResourceTemplate, Tool, uri_template,
};

use crate::calls::caller::Caller;
use crate::calls::failure::CallFailure;
use crate::calls::request::Request;
use crate::calls::server_info;
use crate::calls::state::RequestState;
use crate::calls::upstream::Upstream;
use crate::settings::tool::ToolOptions;
use crate::status::CallOutcome;
use crate::tasks::body::TaskBody;
use crate::tasks::follow::{follow, resume};
use crate::tasks::ids::{CreatedTask, TaskSlot};

/// An item of a server, and its name in the gateway.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Named<T> {
    pub(crate) name: String,
    pub(crate) item: T,
}

/// Returns the item names for clients.
pub(crate) fn names<T>(items: &[Named<T>]) -> Vec<String> {
    items.iter().map(|item| item.name.clone()).collect()
}

pub(crate) fn tool(upstream: &Arc<Upstream>, listed: &Named<Tool>) -> ToolRoute {
    let own: Arc<str> = listed.item.name.as_str().into();
    let options = upstream.settings.tool(&own);
    let visible = upstream.settings.visible(Some(&options));
    let mut tool = listed.item.clone();
    tool.name.clone_from(&listed.name);
    // People still read a name that was cleaned or cut. One from the settings stays alone.
    let is_changed = !listed.name.ends_with(&*own) && upstream.settings.exact_name(&own).is_none();
    if is_changed && !own.is_empty() && tool.display_name() == listed.name {
        tool.title = Some(own.to_string());
    }
    options.apply(&mut tool);
    let upstream = upstream.clone();
    let handler = move |request: Request, slot: Option<TaskSlot>, RawArgs(arguments): RawArgs| {
        let (upstream, own, options) = (upstream.clone(), own.clone(), options.clone());
        async move {
            let mut entry = upstream.audit(&request.caller.key, "tool", own.clone());
            let mut failed = CallOutcome::Refused;
            let called = call_tool(
                &upstream,
                &own,
                &options,
                request,
                slot,
                arguments,
                &mut failed,
            );
            let called = called.await;
            entry.end(match &called {
                Ok(body) if body.is_tool_error() => CallOutcome::ErrorResult,
                Ok(_) => CallOutcome::Ok,
                Err(_) => failed,
            });
            called
        }
    };
    // The server decides which calls become tasks.
    let route = tool
        .handler(handler)
        .task(TaskMode::After(Duration::ZERO))
        .forwarded();
    visible.into_iter().fold(route, ToolRoute::visible_to)
}

/// Calls a tool within its server's limits and its own. `failed` becomes the outcome of a call without a result.
async fn call_tool(
    upstream: &Arc<Upstream>,
    own: &Arc<str>,
    options: &ToolOptions,
    request: Request,
    slot: Option<TaskSlot>,
    arguments: RawObject,
    failed: &mut CallOutcome,
) -> Result<ResultBody, ToolError> {
    let arguments = options.arguments(arguments)?;
    let (shared, single) = (&upstream.settings.limiter, &options.limiter);
    let caller = &request.caller.key;
    let state = request.state().map_err(ToolError::fault)?;
    match state.as_ref().map(RequestState::counted_id) {
        None => {
            single.count(caller)?;
            shared.count(caller)?;
        }
        // The answer to a question continues a call that was counted, once.
        Some(Some(id)) if single.rate.is_some() || shared.rate.is_some() => {
            let (used, lifetime) = (&upstream.used_states, request.state_lifetime());
            used.count(caller, id, lifetime).await?;
        }
        Some(_) => {}
    }
    let _single = single.turn().await?;
    let _shared = shared.turn().await?;
    // From here on the limits are about the server's answer.
    *failed = CallOutcome::Error;
    // Pinned here, because each limiter would move the future.
    let call = pin!(async {
        let prepare = |client: &Client| client.call(&**own, arguments.clone()).raw();
        let result = match state {
            Some(RequestState::Task { task, .. }) => resume(upstream, &request, task).await,
            state => {
                let declares_tasks = slot.is_some();
                match upstream
                    .forward(&request, state, declares_tasks, prepare)
                    .await
                {
                    Ok(Step::Extended { body, .. }) => {
                        end_with_task(upstream, own, &request, slot, &body).await
                    }
                    step => step.and_then(|step| upstream.result(step)),
                }
            }
        };
        let mut body = result.map_err(|failure| {
            *failed = failure.outcome();
            failure.into_tool_error()
        })?;
        server_info::remove(&mut body);
        Ok(body)
    });
    shared.run(single.run(call)).await
}

/// Ends the call of a client that declares tasks. For other clients, the task is followed to its end.
async fn end_with_task(
    upstream: &Arc<Upstream>,
    own: &Arc<str>,
    request: &Request,
    slot: Option<TaskSlot>,
    task: &RawObject,
) -> Result<ResultBody, CallFailure> {
    let Some(slot) = slot else {
        return follow(upstream, request, task).await;
    };
    slot.set(CreatedTask {
        upstream: upstream.clone(),
        tool: own.clone(),
        body: TaskBody::parse(task).map_err(CallFailure::of_server)?,
    });
    // The task replaces the result.
    Ok(CallToolResult::default().into())
}

pub(crate) fn prompt(upstream: &Arc<Upstream>, listed: &Named<Prompt>) -> PromptRoute {
    let own: Arc<str> = listed.item.name.as_str().into();
    let visible = upstream.settings.visible(None);
    let mut prompt = listed.item.clone();
    prompt.name.clone_from(&listed.name);
    let reference = CompletionReference::prompt(&*own);
    let server = upstream.clone();
    let route = prompt.handler(move |request: Request, RawArgs(arguments): RawArgs| {
        let (upstream, own) = (server.clone(), own.clone());
        async move {
            let call = upstream.call(&request, |client| {
                client.get_prompt(&*own, arguments.clone()).raw()
            });
            let got = upstream.audited(&request.caller.key, "prompt", &own, call);
            let mut body = got.await.map_err(PromptError::fault)?;
            server_info::remove(&mut body);
            Ok::<_, PromptError>(body)
        }
    });
    let arguments = listed.item.arguments.iter().map(|argument| &*argument.name);
    let arguments: BTreeSet<_> = arguments.collect();
    let route = arguments.into_iter().fold(route, |route, argument| {
        route.completion(argument, completer(upstream, reference.clone(), argument))
    });
    visible.into_iter().fold(route, PromptRoute::visible_to)
}

pub(crate) fn resource(upstream: &Arc<Upstream>, listed: &Named<Resource>) -> ResourceRoute {
    let route = listed.item.clone().read(reader(upstream.clone()));
    let visible = upstream.settings.visible(None).into_iter();
    visible.fold(route, ResourceRoute::visible_to)
}

pub(crate) fn template(
    upstream: &Arc<Upstream>,
    listed: &Named<ResourceTemplate>,
) -> TemplateRoute {
    let uri = &*listed.item.uri_template;
    let route = listed.item.clone().read(reader(upstream.clone()));
    let reference = CompletionReference::template(uri);
    let variables: BTreeSet<_> = uri_template::variables(uri).collect();
    let route = variables.into_iter().fold(route, |route, (variable, _)| {
        route.completion(variable, completer(upstream, reference.clone(), variable))
    });
    let visible = upstream.settings.visible(None).into_iter();
    visible.fold(route, TemplateRoute::visible_to)
}

/// A handler that reads the request's resource.
fn reader(upstream: Arc<Upstream>) -> impl mcp_server::ReadHandler<(Request,)> {
    move |request: Request| {
        let upstream = upstream.clone();
        async move {
            let uri = &*request.item;
            let read = upstream.call(&request, |client| client.read_resource(uri).raw());
            let read = upstream.audited(&request.caller.key, "resource", uri, read);
            let read = read.await.map(for_one_principal);
            read.map_err(ResourceError::fault)
        }
    }
}

/// Makes a result that a server shares with everybody cacheable for one principal: the gateway decides for each
/// principal what it may read.
fn for_one_principal(mut body: ResultBody) -> ResultBody {
    server_info::remove(&mut body);
    if let ResultBody::Raw(result) = &mut body {
        result.cache = result.cache.map(|hint| CacheHint::private(hint.ttl));
    }
    body
}

/// A handler that completes an argument of a prompt, or a variable of a template.
fn completer(
    upstream: &Arc<Upstream>,
    reference: CompletionReference,
    argument: &str,
) -> impl mcp_server::CompletionHandler<(Caller, Prefix, RawArgs)> + use<> {
    let (upstream, argument) = (upstream.clone(), Arc::<str>::from(argument));
    move |caller: Caller, prefix: Prefix, RawArgs(known): RawArgs| {
        let upstream = upstream.clone();
        let params = CompleteParams::new(reference.clone(), &*argument, prefix.0);
        async move { complete(&upstream, &caller, params, &known).await }
    }
}

async fn complete(
    upstream: &Arc<Upstream>,
    caller: &Caller,
    params: CompleteParams,
    known: &RawObject,
) -> Result<CompleteResult, CompletionError> {
    let params = match known.parse::<JsonObject>() {
        Ok(known) if !known.is_empty() => params.context(known),
        _ => params,
    };
    let _in_use = upstream.usage.begin();
    let completed = upstream.complete(caller, params).await;
    let mut result = completed.map_err(|failure| CompletionError::fault(failure.into_fault()))?;
    server_info::remove_from(&mut result.meta);
    Ok(result)
}
