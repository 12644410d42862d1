//! Completion of the arguments of prompts and of the variables of URI templates.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion>

mod choices;
mod prefix;
mod result;
mod route;
mod set;

pub(crate) use choices::Choices;
pub use prefix::Prefix;
pub use result::IntoCompletion;
pub use route::CompletionRoute;
pub(crate) use set::CompletionSet;
