//! The parts of a definition that a user agrees to.

use mcp_types::meta::keys;
use mcp_types::{ExtraFields, Meta, Prompt, Tool};
use serde::Serialize;
use serde_json::Value;

/// Kinds of items, as they are called in files.
pub(crate) const TOOL: &str = "tool";
pub(crate) const PROMPT: &str = "prompt";

/// Members of a tool's `_meta` that hosts act on.
const ACTED_ON: [&str; 3] = [keys::UI, keys::UI_RESOURCE_URI, "openai/outputTemplate"];

/// A tool or a prompt. Other crates cannot implement it.
#[expect(unnameable_types, reason = "programs pass tools and prompts")]
pub trait Definition: Serialize + Sized {
    const KIND: &'static str;

    fn name(&self) -> &str;

    /// Returns the parts of a definition that models read, and that hosts act on or decide by.
    fn pinned(&self) -> Self;

    /// Returns an approved definition with the parts that are not texts, and need no approval.
    fn complete(&self, pinned: Self) -> Self {
        pinned
    }

    fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn pinned_json(&self) -> Value {
        self.pinned().to_json()
    }
}

impl Definition for Tool {
    const KIND: &'static str = TOOL;

    fn name(&self) -> &str {
        &self.name
    }

    fn pinned(&self) -> Self {
        let mut pinned = self.clone();
        pinned.execution = None;
        pinned.icons.clear();
        let meta = pinned.meta.take();
        let members = ACTED_ON.into_iter().filter_map(|key| {
            let value = meta.as_ref()?.get::<Value>(key)?;
            Some((key.to_owned(), value))
        });
        let acted_on: Meta = members.collect();
        pinned.meta = (!acted_on.is_empty()).then_some(acted_on);
        pinned.extra = ExtraFields::default();
        pinned
    }

    /// Adds the server's support for tasks.
    fn complete(&self, mut pinned: Self) -> Self {
        pinned.execution.clone_from(&self.execution);
        pinned
    }
}

impl Definition for Prompt {
    const KIND: &'static str = PROMPT;

    fn name(&self) -> &str {
        &self.name
    }

    fn pinned(&self) -> Self {
        let mut pinned = self.clone();
        pinned.icons.clear();
        pinned.meta = None;
        pinned.extra = ExtraFields::default();
        pinned
    }
}
