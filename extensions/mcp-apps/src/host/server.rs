//! The server that a view may use.

use std::sync::Arc;

use mcp_core::BoxFuture;
use mcp_types::{
    CallToolParams, CallToolResult, ListToolsResult, ReadResourceResult, Resource,
    ResourceTemplate, Tool,
};

use super::types::Refusal;
use crate::access::ToolAccess;

/// The server that a view may use: the one whose tool named the view's document. A view never reaches
/// another server.
///
/// [`Client`](https://docs.rs/omnimcp/latest/mcp/struct.Client.html) implements it. Implement it to ask the
/// user for confirmation or to log calls.
pub trait AppServer: Send + Sync + 'static {
    /// Lists all tools of the server.
    ///
    /// # Errors
    ///
    /// Returns the [`Refusal`] that the view receives.
    fn list_tools(&self) -> BoxFuture<'static, Result<Vec<Tool>, Refusal>>;

    /// Calls a tool, after the bridge has checked that views may call it.
    ///
    /// # Errors
    ///
    /// Returns the [`Refusal`] that the view receives.
    fn call_tool(
        &self,
        params: CallToolParams,
    ) -> BoxFuture<'static, Result<CallToolResult, Refusal>>;

    /// Lists all resources of the server.
    ///
    /// # Errors
    ///
    /// Returns the [`Refusal`] that the view receives.
    fn list_resources(&self) -> BoxFuture<'static, Result<Vec<Resource>, Refusal>>;

    /// Lists all URI templates of the server.
    ///
    /// # Errors
    ///
    /// Returns the [`Refusal`] that the view receives.
    fn list_templates(&self) -> BoxFuture<'static, Result<Vec<ResourceTemplate>, Refusal>>;

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// Returns the [`Refusal`] that the view receives.
    fn read_resource(&self, uri: String)
    -> BoxFuture<'static, Result<ReadResourceResult, Refusal>>;
}

/// Lists the tools that views may call.
pub(super) async fn list_tools(server: Arc<dyn AppServer>) -> Result<ListToolsResult, Refusal> {
    let tools = server.list_tools().await?.into_iter();
    let tools = tools.filter(|tool| ToolAccess::of(tool).app);
    Ok(tools.collect::<Vec<_>>().into())
}

/// Calls a tool, if views may call it.
// spec: APP-08
pub(super) async fn call_tool(
    server: Arc<dyn AppServer>,
    params: CallToolParams,
) -> Result<CallToolResult, Refusal> {
    let tools = server.list_tools().await?;
    let tool = tools.iter().find(|tool| tool.name == params.name);
    match tool.map(ToolAccess::of) {
        None => Err(Refusal::new("the server of this view has no such tool")),
        Some(access) if !access.app => Err(Refusal::new(
            "the tool is for the language model, views cannot call it",
        )),
        Some(_) => {
            server
                .call_tool(CallToolParams::new(params.name, params.arguments))
                .await
        }
    }
}

#[cfg(feature = "client")]
impl AppServer for mcp_client::Client {
    fn list_tools(&self) -> BoxFuture<'static, Result<Vec<Tool>, Refusal>> {
        let call = self.list_tools();
        Box::pin(async move { call.await.map_err(refused) })
    }

    fn call_tool(
        &self,
        params: CallToolParams,
    ) -> BoxFuture<'static, Result<CallToolResult, Refusal>> {
        let arguments = params.arguments.unwrap_or_default();
        let call = self.call(params.name, arguments);
        Box::pin(async move { call.await.map_err(refused) })
    }

    fn list_resources(&self) -> BoxFuture<'static, Result<Vec<Resource>, Refusal>> {
        let call = self.list_resources();
        Box::pin(async move { call.await.map_err(refused) })
    }

    fn list_templates(&self) -> BoxFuture<'static, Result<Vec<ResourceTemplate>, Refusal>> {
        let call = self.list_resource_templates();
        Box::pin(async move { call.await.map_err(refused) })
    }

    fn read_resource(
        &self,
        uri: String,
    ) -> BoxFuture<'static, Result<ReadResourceResult, Refusal>> {
        let call = self.read_resource(uri);
        Box::pin(async move { call.await.map_err(refused) })
    }
}

#[cfg(feature = "client")]
fn refused(error: mcp_client::Error) -> Refusal {
    Refusal::new(error.to_string())
}
