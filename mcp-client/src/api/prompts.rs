//! Prompts.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts>

use futures_core::Stream;
use mcp_core::{Call, ResultBody};
use mcp_types::{Cursor, GetPromptParams, GetPromptResult, ListPromptsResult, Prompt};
use serde::Serialize;

use super::pages::paged;
use super::with_arguments;
use crate::{Client, Error, PreparedCall};

paged! {
    ListPromptsResult of Prompt in prompts by ListPrompts;
}

impl Client {
    /// Gets a prompt. The arguments are anything that serializes to a JSON object of strings, or
    /// `()` for none.
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

    /// The prompts of the server, over all pages, like [`list_tools`](Self::list_tools).
    pub fn list_prompts(&self) -> impl Stream<Item = Result<Prompt, Error>> + Send + Unpin + use<> {
        self.list_all_prompts().stream()
    }

    /// All prompts of the server, like [`list_all_tools`](Self::list_all_tools).
    pub fn list_all_prompts<'a>(&self) -> PreparedCall<'a, Vec<Prompt>> {
        self.all::<ListPromptsResult>()
    }

    /// One page of prompts: the first one, or the one at a cursor.
    pub fn list_prompts_page<'a>(
        &self,
        cursor: impl Into<Option<Cursor>>,
    ) -> PreparedCall<'a, ListPromptsResult> {
        self.page(cursor.into())
    }
}
