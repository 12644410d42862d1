//! What a function returned becomes its result.
//!
//! A type that does not is told once, by the function of this module that makes the route; here it
//! is accepted in silence, again by method lookup: `By…` takes the value itself, `No…` a reference
//! to it.

use mcp_types::{CallToolResult, CompleteResult, GetPromptResult, ReadResourceResult};

use crate::completion::IntoCompletion;
use crate::failure::{CompletionError, PromptError, ResourceError};
use crate::prompts::IntoPrompt;
use crate::resources::IntoContents;
use crate::tools::{IntoToolResult, ToolError};

/// What a function returned.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "only macros make it")]
pub struct Returned<T>(pub T);

macro_rules! results {
    ($($by:ident, $no:ident: $method:ident, $bound:ident::$becomes:ident -> $result:ty, $error:ty;)*) => {
        $(
            /// First step: results.
            pub trait $by {
                /// Becomes the result.
                ///
                /// # Errors
                ///
                /// Why there is none.
                fn $method(self) -> Result<$result, $error>;
            }

            impl<T: $bound> $by for Returned<T> {
                fn $method(self) -> Result<$result, $error> {
                    self.0.$becomes()
                }
            }

            /// Second step: everything else. Never called.
            pub trait $no {
                /// Never called.
                ///
                /// # Errors
                ///
                /// Always.
                fn $method(self) -> Result<$result, $error>;
            }

            impl<T> $no for &Returned<T> {
                fn $method(self) -> Result<$result, $error> {
                    Err(<$error>::new("not a result"))
                }
            }
        )*
    };
}

results! {
    ByResult, NoResult: into_result,
        IntoToolResult::into_tool_result -> CallToolResult, ToolError;
    ByContents, NoContents: into_contents,
        IntoContents::into_contents -> ReadResourceResult, ResourceError;
    ByPrompt, NoPrompt: into_prompt,
        IntoPrompt::into_prompt -> GetPromptResult, PromptError;
    ByCompletion, NoCompletion: into_completion,
        IntoCompletion::into_completion -> CompleteResult, CompletionError;
}
