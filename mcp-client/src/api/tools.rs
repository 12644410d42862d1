//! Tools.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>

use futures_core::Stream;
use mcp_core::{Call, ResultBody};
use mcp_types::{CallToolParams, CallToolResult, Cursor, ListToolsResult, Tool};
use serde::Serialize;

use super::arguments::with_arguments;
use super::pages::list_page;
use crate::client::Client;
use crate::error::Error;
use crate::prepared::PreparedCall;

list_page! {
    ListToolsResult of Tool in tools by ListTools;
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
        with_arguments(self, &args, call, |body| match body {
            ResultBody::CallTool(result) => Some(result),
            _ => None,
        })
    }

    /// Returns the tools of all pages as a stream. A page is requested when its first tool is
    /// needed. An error ends the stream.
    ///
    /// To set options, use [`stream`](PreparedCall::stream) of
    /// [`list_all_tools`](Self::list_all_tools).
    pub fn list_tools(&self) -> impl Stream<Item = Result<Tool, Error>> + Send + Unpin + use<> {
        self.list_all_tools().stream()
    }

    /// Lists the tools of all pages. [`max_pages`](PreparedCall::max_pages) limits their number.
    ///
    /// # Errors
    ///
    /// The call returns an error when a request fails, when the server repeats a cursor, or when the
    /// list has too many pages.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// for tool in client.list_all_tools().timeout(Duration::from_secs(5)).await? {
    ///     println!("{}: {}", tool.name, tool.description());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_all_tools<'a>(&self) -> PreparedCall<'a, Vec<Tool>> {
        self.all::<ListToolsResult>()
    }

    /// Lists one page of tools: the first one, or the one at a cursor.
    pub fn list_tools_page<'a>(
        &self,
        cursor: impl Into<Option<Cursor>>,
    ) -> PreparedCall<'a, ListToolsResult> {
        self.page(cursor.into())
    }
}
