//! Return values and errors of handlers.
//!
//! | file | content |
//! |---|---|
//! | `json` | the wrapper [`Json`] |
//! | `error` | errors of resources, prompts and completions: always protocol errors |
//! | `tool_error` | errors of tools: results for the language model, or protocol errors |
//! | `tool`, `contents`, `prompt`, `completion` | conversion of return values into results |

mod completion;
mod contents;
mod error;
mod json;
mod prompt;
mod tool;
mod tool_error;

pub use completion::IntoCompletion;
pub use contents::IntoContents;
pub(crate) use error::ItemRef;
pub use error::{CompletionError, NotFound, PromptError, ResourceError};
pub use json::Json;
pub use prompt::{IntoPrompt, assistant, user};
pub use tool::IntoToolResult;
pub use tool_error::ToolError;
