//! The shapes of parameters and results: they are read as the types of their methods.

use mcp::types::ext::tasks::Task;
use mcp::types::{
    CallToolResult, Cancelled, CompleteResult, CreateMessageParams, DiscoverResult, ElicitParams,
    ElicitationComplete, GetPromptResult, InitializeResult, InputRequired, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LogMessage, Method,
    ProgressParams, ReadResourceResult, ResourceUpdated,
};
use serde::Deserialize;
use serde_json::Value;

/// Checks the parameters of a call of the server.
pub(super) fn params(method: Method, params: &Value) -> Result<(), String> {
    match method {
        Method::Progress => shape::<ProgressParams>(params),
        Method::LogMessage => shape::<LogMessage>(params),
        Method::Cancelled => shape::<Cancelled>(params),
        Method::ResourceUpdated => shape::<ResourceUpdated>(params),
        Method::ElicitationComplete => shape::<ElicitationComplete>(params),
        Method::CreateMessage => shape::<CreateMessageParams>(params),
        Method::Elicit => shape::<ElicitParams>(params),
        Method::TaskChanged => shape::<Task>(params),
        _ => Ok(()),
    }
}

/// Checks the result of a request of the client.
pub(super) fn result(method: Method, result: &Value) -> Result<(), String> {
    match method {
        Method::Initialize => shape::<InitializeResult>(result),
        Method::Discover => shape::<DiscoverResult>(result),
        Method::ListTools => shape::<ListToolsResult>(result),
        Method::CallTool => shape::<CallToolResult>(result),
        Method::ListPrompts => shape::<ListPromptsResult>(result),
        Method::GetPrompt => shape::<GetPromptResult>(result),
        Method::ListResources => shape::<ListResourcesResult>(result),
        Method::ListResourceTemplates => shape::<ListResourceTemplatesResult>(result),
        Method::ReadResource => shape::<ReadResourceResult>(result),
        Method::Complete => shape::<CompleteResult>(result),
        _ => Ok(()),
    }
}

/// Checks a result that asks for input.
pub(super) fn input_required(result: &Value) -> Result<(), String> {
    shape::<InputRequired>(result)
}

/// Checks the result of a call that became a task.
pub(super) fn task(result: &Value) -> Result<(), String> {
    shape::<Task>(result)
}

fn shape<'a, T: Deserialize<'a>>(value: &'a Value) -> Result<(), String> {
    match T::deserialize(value) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
