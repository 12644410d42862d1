//! Prompts.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts>

use mcp_core::Call;
use mcp_types::{GetPromptParams, GetPromptResult, ListPromptsResult, Prompt};
use serde::Serialize;

use super::arguments::{serialize, with_arguments};
use super::pages::list_page;
use crate::call::{PreparedCall, result_of};
use crate::client::Client;

list_page! {
    ListPromptsResult of Prompt in prompts named name by ListPrompts;
}

impl Client {
    /// Gets a prompt. `args` must serialize to a JSON object of strings, or be `()`.
    pub fn get_prompt<'a>(
        &self,
        name: impl Into<String>,
        args: impl Serialize,
    ) -> PreparedCall<'a, GetPromptResult> {
        let call = |args| Call::GetPrompt(GetPromptParams::new(name, args));
        with_arguments(self, serialize(&args), call, result_of!(GetPrompt))
    }

    /// Lists the prompts, like [`list_tools`](Self::list_tools).
    pub fn list_prompts<'a>(&self) -> PreparedCall<'a, Vec<Prompt>> {
        self.list::<ListPromptsResult>()
    }
}
