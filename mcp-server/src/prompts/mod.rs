//! Prompts: routes, what they return.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts>

mod result;
mod route;

pub use result::{IntoPrompt, assistant, user};
pub use route::{PromptExt, PromptRoute};
