//! Conversion of the return values of functions.
//!
//! The functions in `routes` require that the return type converts, and the compiler reports a type
//! that does not once, there. The conversion itself accepts every type by method probing, as in
//! `probe`, so that the compiler does not report the same mistake twice.

use mcp_types::{CallToolResult, CompleteResult, GetPromptResult, ReadResourceResult};

use crate::result::{
    CompletionError, IntoCompletion, IntoContents, IntoPrompt, IntoToolResult, PromptError,
    ResourceError, ToolError,
};

/// The return value of a function.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hidden; only generated code names it"
)]
pub struct HandlerOutput<T>(pub T);

macro_rules! conversions {
    ($($is:ident, $not:ident: $method:ident, $bound:ident::$convert:ident -> $result:ty, $error:ty;)*) => {
        $(
            /// First probing step: types that convert.
            pub trait $is {
                /// Converts the value.
                ///
                /// # Errors
                ///
                /// Returns the handler's error.
                fn $method(self) -> Result<$result, $error>;
            }

            impl<T: $bound> $is for HandlerOutput<T> {
                fn $method(self) -> Result<$result, $error> {
                    self.0.$convert()
                }
            }

            /// Second probing step: all other types. Code that calls it does not compile.
            pub trait $not {
                /// Never called.
                ///
                /// # Errors
                ///
                /// Always.
                fn $method(self) -> Result<$result, $error>;
            }

            impl<T> $not for &HandlerOutput<T> {
                fn $method(self) -> Result<$result, $error> {
                    Err(<$error>::new("not a result"))
                }
            }
        )*
    };
}

conversions! {
    IsToolResult, NotToolResult: into_result,
        IntoToolResult::into_tool_result -> CallToolResult, ToolError;
    IsContents, NotContents: into_contents,
        IntoContents::into_contents -> ReadResourceResult, ResourceError;
    IsPrompt, NotPrompt: into_prompt,
        IntoPrompt::into_prompt -> GetPromptResult, PromptError;
    IsCompletion, NotCompletion: into_completion,
        IntoCompletion::into_completion -> CompleteResult, CompletionError;
}
