//! Prompts: routes, what they return.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts>

mod result;
mod route;
mod set;

pub use result::{IntoPrompt, assistant, user};
pub use route::{PromptExt, PromptRoute};
pub(crate) use set::PromptSet;
