//! Prompts.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts>

use futures_core::Stream;
use mcp_core::{Call, ResultBody};
use mcp_types::{Cursor, GetPromptParams, GetPromptResult, ListPromptsResult, Prompt};
use serde::Serialize;

use super::arguments::with_arguments;
use super::pages::list_page;
use crate::client::Client;
use crate::error::Error;
use crate::prepared::PreparedCall;

list_page! {
    ListPromptsResult of Prompt in prompts by ListPrompts;
}

impl Client {
    /// Gets a prompt. `args` must serialize to a JSON object of strings, or be `()`.
    pub fn get_prompt<'a>(
        &self,
        name: impl Into<String>,
        args: impl Serialize,
    ) -> PreparedCall<'a, GetPromptResult> {
        let call = |args| Call::GetPrompt(GetPromptParams::new(name, args));
        with_arguments(self, &args, call, |body| match body {
            ResultBody::GetPrompt(result) => Some(result),
            _ => None,
        })
    }

    /// Returns the prompts of all pages as a stream, like [`list_tools`](Self::list_tools).
    pub fn list_prompts(&self) -> impl Stream<Item = Result<Prompt, Error>> + Send + Unpin + use<> {
        self.list_all_prompts().stream()
    }

    /// Lists the prompts of all pages, like [`list_all_tools`](Self::list_all_tools).
    pub fn list_all_prompts<'a>(&self) -> PreparedCall<'a, Vec<Prompt>> {
        self.all::<ListPromptsResult>()
    }

    /// Lists one page of prompts: the first one, or the one at a cursor.
    pub fn list_prompts_page<'a>(
        &self,
        cursor: impl Into<Option<Cursor>>,
    ) -> PreparedCall<'a, ListPromptsResult> {
        self.page(cursor.into())
    }
}
