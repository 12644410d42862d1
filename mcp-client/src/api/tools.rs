//! Tools.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>

use futures_core::Stream;
use mcp_core::{Call, ResultBody};
use mcp_types::{CallToolParams, CallToolResult, Cursor, ListToolsResult, Tool};
use serde::Serialize;

use super::pages::paged;
use super::with_arguments;
use crate::{Client, Error, PreparedCall};

paged! {
    ListToolsResult of Tool in tools by ListTools;
}

impl Client {
    /// Calls a tool. The arguments are anything that serializes to a JSON object (`json!`, a
    /// struct, a map), or `()` for none.
    ///
    /// A tool that fails is no error here: see [`CallToolResult::is_error`] and
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
    /// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::Error> {
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

    /// The tools of the server one by one; each page is asked for when it is needed. An error ends
    /// the stream.
    ///
    /// This is [`list_all_tools`](Self::list_all_tools) as a [`stream`](PreparedCall::stream), which
    /// takes settings.
    pub fn list_tools(&self) -> impl Stream<Item = Result<Tool, Error>> + Send + Unpin + use<> {
        self.list_all_tools().stream()
    }

    /// All tools of the server, over all pages; [`max_pages`](PreparedCall::max_pages) bounds them.
    ///
    /// # Errors
    ///
    /// Those of a call, and one for a list that never ends: a cursor that comes twice, or more pages
    /// than there may be.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// # async fn example(client: mcp_client::Client) -> Result<(), mcp_client::Error> {
    /// for tool in client.list_all_tools().timeout(Duration::from_secs(5)).await? {
    ///     println!("{}: {}", tool.name, tool.description());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_all_tools<'a>(&self) -> PreparedCall<'a, Vec<Tool>> {
        self.all::<ListToolsResult>()
    }

    /// One page of tools: the first one, or the one at a cursor.
    pub fn list_tools_page<'a>(
        &self,
        cursor: impl Into<Option<Cursor>>,
    ) -> PreparedCall<'a, ListToolsResult> {
        self.page(cursor.into())
    }
}
