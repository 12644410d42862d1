//! Tools.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>

use mcp_core::Call;
use mcp_types::{CallToolParams, CallToolResult, ListToolsResult, Tool};
use serde::Serialize;

use super::arguments::{serialize, with_arguments};
use super::pages::list_page;
use crate::call::{PreparedCall, result_of};
use crate::client::Client;

list_page! {
    ListToolsResult of Tool in tools named name by ListTools;
}

impl Client {
    /// Calls a tool. `args` must serialize to a JSON object (`json!`, a struct, a map), or be `()`.
    ///
    /// A failure of the tool is not an `Err`: see [`CallToolResult::is_error`] and
    /// [`CallToolResult::parse`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// #[derive(serde::Serialize)]
    /// struct Add {
    ///     a: f64,
    ///     b: f64,
    /// }
    ///
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// let sum: f64 = client.call("add", Add { a: 1.0, b: 2.0 }).await?.parse()?;
    /// # Ok(())
    /// # }
    /// ```
    // spec: TOOL-12
    pub fn call<'a>(
        &self,
        tool: impl Into<String>,
        args: impl Serialize,
    ) -> PreparedCall<'a, CallToolResult> {
        let call = |args| Call::CallTool(CallToolParams::new(tool, args));
        with_arguments(self, serialize(&args), call, result_of!(CallTool))
    }

    /// Lists the tools. Awaited, the call requests all pages; [`max_pages`](PreparedCall::max_pages)
    /// limits their number. [`stream`](PreparedCall::stream) returns the tools one by one and requests
    /// each page when its first tool is needed. [`page`](PreparedCall::page) requests one page.
    ///
    /// # Errors
    ///
    /// The call returns an error when a request fails, when the server repeats a cursor, or when the
    /// list exceeds a limit.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// for tool in client.list_tools().timeout(Duration::from_secs(5)).await? {
    ///     println!("{}: {}", tool.name, tool.description.as_deref().unwrap_or_default());
    /// }
    /// let first = client.list_tools().page(None).await?;
    /// println!("{} tools on the first page", first.tools.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_tools<'a>(&self) -> PreparedCall<'a, Vec<Tool>> {
        self.list::<ListToolsResult>()
    }
}
