//! Sampling: a server's requests to its client's language model.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/sampling>

mod message;
mod request;
mod result;

pub use message::{BrokenConversation, SamplingContent, SamplingMessage};
pub use request::{
    CreateMessageParams, IncludeContext, ModelHint, ModelPreferences, ToolChoice, ToolChoiceMode,
};
pub use result::{CreateMessageResult, StopReason};

#[cfg(test)]
mod tests;
