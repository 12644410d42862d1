//! Return values and handler errors.
//!
//! | file | content |
//! |---|---|
//! | `json` | the wrapper [`Json`] |
//! | `mask` | errors whose messages go to the log only |
//! | `error` | errors of resources, prompts, completions and custom requests: always protocol errors; results of other methods |
//! | `tool_error` | tool errors: results for the language model, or protocol errors |
//! | `combine` | output schemas of lists, options and tuples |
//! | `tool`, `contents`, `resource_list`, `prompt`, `completion` | conversion of return values into results |

mod combine;
mod completion;
mod contents;
mod error;
mod json;
mod mask;
mod prompt;
mod resource_list;
mod tool;
mod tool_error;

pub use completion::IntoCompletion;
pub use contents::IntoContents;
pub(crate) use error::ItemRef;
pub use error::{CompletionError, NotFound, PromptError, RequestError, ResourceError};
pub use json::Json;
pub use prompt::{IntoPrompt, assistant, user};
pub use resource_list::{IntoResourceList, ResourceList};
pub use tool::IntoToolResult;
pub use tool_error::ToolError;
