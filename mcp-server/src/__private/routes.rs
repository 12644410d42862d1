//! Routes of functions.
//!
//! Generated code passes the return type's span, so that the compiler reports a violated bound on
//! `Output` there.

use std::future::Future;
use std::sync::Arc;

use mcp_types::{
    CallToolResult, CompleteResult, CompletionReference, GetPromptResult, Prompt,
    ReadResourceResult, Resource, ResourceTemplate, Tool,
};

use super::parameters::Parameters;
use super::plan::ParameterPlan;
use crate::call::CallContext;
use crate::rejection::Rejection;
use crate::result::{
    CompletionError, IntoCompletion, IntoContents, IntoPrompt, IntoToolResult, PromptError,
    ResourceError, ToolError,
};
use crate::routes::{
    CompletionRoute, PromptRoute, ResourceHandler, ResourceRoute, TemplateRoute, ToolRoute,
};

/// Output of generated code: the handler's result, or a parameter's rejection.
type CallResult<T, E> = Result<Result<T, E>, Rejection>;

/// Returns the route's requirements and its handler. A macro, because the type of the handler's
/// future has no name.
macro_rules! spec_and_handler {
    ($parameters:ident, $handler:ident, $error:ty) => {{
        let (spec, plan) = $parameters.finish();
        let plan = Arc::new(plan);
        let call = move |call| {
            let running = $handler(plan.clone(), call);
            async move {
                let result = running.await;
                result.unwrap_or_else(|rejection| Err(<$error>::from_rejection(rejection)))
            }
        };
        (spec, call)
    }};
}

/// Creates a tool route.
pub fn tool<Output, F, Fut>(tool: Tool, parameters: Parameters, handler: F) -> ToolRoute
where
    Output: IntoToolResult,
    F: Fn(Arc<ParameterPlan>, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = CallResult<CallToolResult, ToolError>> + Send + 'static,
{
    let (spec, call) = spec_and_handler!(parameters, handler, ToolError);
    ToolRoute::new::<Output, _, _, _>(tool, spec, call)
}

/// Creates a resource route.
pub fn resource<Output, F, Fut>(
    mut resource: Resource,
    parameters: Parameters,
    handler: F,
) -> ResourceRoute
where
    Output: IntoContents,
    F: Fn(Arc<ParameterPlan>, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = CallResult<ReadResourceResult, ResourceError>> + Send + 'static,
{
    let (spec, call) = spec_and_handler!(parameters, handler, ResourceError);
    let handler = ResourceHandler::new::<Output, _, _, _>(spec, &mut resource.mime_type, call);
    ResourceRoute::new(resource, handler)
}

/// Creates a URI template route.
pub fn template<Output, F, Fut>(
    mut template: ResourceTemplate,
    parameters: Parameters,
    handler: F,
) -> TemplateRoute
where
    Output: IntoContents,
    F: Fn(Arc<ParameterPlan>, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = CallResult<ReadResourceResult, ResourceError>> + Send + 'static,
{
    let (spec, call) = spec_and_handler!(parameters, handler, ResourceError);
    let handler = ResourceHandler::new::<Output, _, _, _>(spec, &mut template.mime_type, call);
    TemplateRoute::new(template, handler)
}

/// Creates a prompt route.
pub fn prompt<Output, F, Fut>(prompt: Prompt, parameters: Parameters, handler: F) -> PromptRoute
where
    Output: IntoPrompt,
    F: Fn(Arc<ParameterPlan>, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = CallResult<GetPromptResult, PromptError>> + Send + 'static,
{
    let (spec, call) = spec_and_handler!(parameters, handler, PromptError);
    PromptRoute::new(prompt, spec, call)
}

/// Creates a completion route.
pub fn completion<Output, F, Fut>(
    (reference, argument): (CompletionReference, impl Into<String>),
    parameters: Parameters,
    handler: F,
) -> CompletionRoute
where
    Output: IntoCompletion,
    F: Fn(Arc<ParameterPlan>, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = CallResult<CompleteResult, CompletionError>> + Send + 'static,
{
    let (spec, call) = spec_and_handler!(parameters, handler, CompletionError);
    CompletionRoute::new(reference, argument.into(), spec, call)
}
