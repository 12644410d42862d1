//! The routes of functions whose parameters were described.
//!
//! The bound on `Output` tells of a type that is no result, where it is written.

use std::future::Future;
use std::sync::Arc;

use mcp_types::{
    CallToolResult, CompleteResult, CompletionReference, GetPromptResult, Prompt,
    ReadResourceResult, Resource, ResourceTemplate, Tool,
};

use super::{Params, Plan};
use crate::completion::{CompletionRoute, IntoCompletion};
use crate::context::CallContext;
use crate::failure::{CompletionError, PromptError, ResourceError};
use crate::prompts::{IntoPrompt, PromptRoute};
use crate::rejection::Rejection;
use crate::resources::{IntoContents, Reader, ResourceRoute, TemplateRoute};
use crate::tools::{IntoToolResult, ToolError, ToolRoute};

/// What a call gave, if its parameters could be taken.
type Taken<T, E> = Result<Result<T, E>, Rejection>;

/// What the route needs, and its handler with the plan of its parameters. (The future has no name, so
/// no function can return the handler.)
macro_rules! planned {
    ($params:ident, $handler:ident, $error:ty) => {{
        let (spec, plan) = $params.finish();
        let plan = Arc::new(plan);
        let call = move |call| {
            let running = $handler(plan.clone(), call);
            async move {
                let taken = running.await;
                taken.unwrap_or_else(|rejection| Err(<$error>::rejected(rejection)))
            }
        };
        (spec, call)
    }};
}

/// Makes the route of a tool.
pub fn tool<Output, F, Fut>(tool: Tool, params: Params, handler: F) -> ToolRoute
where
    Output: IntoToolResult,
    F: Fn(Arc<Plan>, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Taken<CallToolResult, ToolError>> + Send + 'static,
{
    let (spec, call) = planned!(params, handler, ToolError);
    ToolRoute::new::<Output, _, _>(tool, spec, call)
}

/// Makes the route of a resource.
pub fn resource<Output, F, Fut>(mut resource: Resource, params: Params, handler: F) -> ResourceRoute
where
    Output: IntoContents,
    F: Fn(Arc<Plan>, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Taken<ReadResourceResult, ResourceError>> + Send + 'static,
{
    let (spec, call) = planned!(params, handler, ResourceError);
    let reader = Reader::new::<Output, _, _>(spec, &mut resource.mime_type, call);
    ResourceRoute::new(resource, reader)
}

/// Makes the route of a URI template.
pub fn template<Output, F, Fut>(
    mut template: ResourceTemplate,
    params: Params,
    handler: F,
) -> TemplateRoute
where
    Output: IntoContents,
    F: Fn(Arc<Plan>, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Taken<ReadResourceResult, ResourceError>> + Send + 'static,
{
    let (spec, call) = planned!(params, handler, ResourceError);
    let reader = Reader::new::<Output, _, _>(spec, &mut template.mime_type, call);
    TemplateRoute::new(template, reader)
}

/// Makes the route of a prompt.
pub fn prompt<Output, F, Fut>(prompt: Prompt, params: Params, handler: F) -> PromptRoute
where
    Output: IntoPrompt,
    F: Fn(Arc<Plan>, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Taken<GetPromptResult, PromptError>> + Send + 'static,
{
    let (spec, call) = planned!(params, handler, PromptError);
    PromptRoute::new(prompt, spec, call)
}

/// Makes the route of a completion.
pub fn completion<Output, F, Fut>(
    (reference, argument): (CompletionReference, impl Into<String>),
    params: Params,
    handler: F,
) -> CompletionRoute
where
    Output: IntoCompletion,
    F: Fn(Arc<Plan>, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Taken<CompleteResult, CompletionError>> + Send + 'static,
{
    let (spec, call) = planned!(params, handler, CompletionError);
    CompletionRoute::new(reference, argument.into(), spec, call)
}
