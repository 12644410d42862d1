//! Functions as handlers: each parameter is an extractor.

use std::future::Future;

use crate::call::{CallContext, RouteSpec};
use crate::extract::FromCall;
use crate::rejection::Rejection;
use crate::result::{IntoCompletion, IntoContents, IntoPrompt, IntoResourceList, IntoToolResult};

/// Defines one trait per kind of result and implements it for functions and closures of up to twelve
/// extractors.
macro_rules! handlers {
    ($($(#[$doc:meta])* $handler:ident -> $result:ident;)*) => {
        $(
            $(#[$doc])*
            pub trait $handler<M>: Clone + Send + Sync + 'static {
                /// The function's return value, or output of its future.
                type Output: $result;

                /// Adds the requirements of all extractors.
                fn describe(spec: &mut RouteSpec);

                /// Calls the extractors in order, then the function.
                ///
                /// # Errors
                ///
                /// Returns the first rejection of an extractor.
                fn call(
                    &self,
                    call: CallContext,
                ) -> impl Future<Output = Result<Self::Output, Rejection>> + Send;
            }

            arities!(handler($handler, $result,), [], T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12);
        )*
    };
}

/// Calls a macro for no extractor, the first, the first two, and so on.
macro_rules! arities {
    ($each:ident($($argument:tt)*), [$($extractor:ident),*]) => {
        $each!($($argument)* [$($extractor),*]);
    };
    ($each:ident($($argument:tt)*), [$($extractor:ident),*], $next:ident $(, $rest:ident)*) => {
        $each!($($argument)* [$($extractor),*]);
        arities!($each($($argument)*), [$($extractor,)* $next] $(, $rest)*);
    };
}

pub(crate) use arities;

/// The parameter `M` tells the two implementations apart: a tuple of extractors for functions that return a
/// future, a function pointer for others.
macro_rules! handler {
    ($handler:ident, $result:ident, [$($extractor:ident),*]) => {
        implementation! {
            $handler<($($extractor,)*)>, [$($extractor),*],
            Fut: [Future<Output: $result> + Send] => Fut::Output, .await
        }
        implementation! {
            $handler<fn($($extractor),*)>, [$($extractor),*], R: [$result] => R,
        }
    };
}

macro_rules! implementation {
    (
        $handler:ident<$marker:ty>, [$($extractor:ident),*],
        $returned:ident: [$($bound:tt)*] => $output:ty, $($wait:tt)*
    ) => {
        #[allow(
            non_snake_case,
            unused_mut,
            unused_variables,
            reason = "variables are named like their types; without extractors nothing is used"
        )]
        impl<F, $returned, $($extractor),*> $handler<$marker> for F
        where
            F: Fn($($extractor),*) -> $returned + Clone + Send + Sync + 'static,
            $returned: $($bound)*,
            $($extractor: FromCall + Send,)*
        {
            type Output = $output;

            fn describe(spec: &mut RouteSpec) {
                $($extractor::describe(spec);)*
            }

            async fn call(&self, mut call: CallContext) -> Result<Self::Output, Rejection> {
                $(let $extractor = $extractor::from_call(&mut call)?;)*
                drop(call);
                Ok(self($($extractor),*) $($wait)*)
            }
        }
    };
}

handlers! {
    /// A tool handler: a function or closure of up to twelve extractors, `async` or not. The
    /// compiler infers `M`.
    ///
    /// Every function that fits implements it; do not implement it by hand.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a handler of a tool",
        label = "this function does not fit",
        note = "every parameter must be an extractor: `Args<T>` (`T` derives `serde::Deserialize` and `schemars::JsonSchema`), `RawArgs`, `State<T>`, `Headers`, …; plain arguments need `#[tool]`",
        note = "the result must implement `IntoToolResult` (`String`, a number, `Json<T>`, `Result<_, ToolError>`, …), now or as the output of a `Send` future",
        note = "the function must be `Fn + Clone + Send + Sync + 'static`: move owned values in and clone what each call consumes"
    )]
    Handler -> IntoToolResult;

    /// A handler of a resource or a URI template; see [`Handler`].
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a handler of a resource",
        label = "this function does not fit",
        note = "every parameter must be an extractor: `Args<T>` for the variables of a template (`T` derives `serde::Deserialize` and `schemars::JsonSchema`), `State<T>`, `Headers`, …; plain ones need `#[resource]`",
        note = "the result must implement `IntoContents` (`String`, `Vec<u8>`, `Json<T>`, `Option<_>`, `Result<_, ResourceError>`, …), now or as the output of a `Send` future",
        note = "the function must be `Fn + Clone + Send + Sync + 'static`: move owned values in and clone what each call consumes"
    )]
    ReadHandler -> IntoContents;

    /// A prompt handler; see [`Handler`].
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a handler of a prompt",
        label = "this function does not fit",
        note = "every parameter must be an extractor: `Args<T>` (`T` derives `serde::Deserialize` and `schemars::JsonSchema`), `RawArgs`, `State<T>`, `Headers`, …; plain arguments need `#[prompt]`",
        note = "the result must implement `IntoPrompt` (`String`, `PromptMessage`, `Vec<PromptMessage>`, `Result<_, PromptError>`, …), now or as the output of a `Send` future",
        note = "the function must be `Fn + Clone + Send + Sync + 'static`: move owned values in and clone what each call consumes"
    )]
    PromptHandler -> IntoPrompt;

    /// A function that lists resources; see [`Handler`].
    #[diagnostic::on_unimplemented(
        message = "`{Self}` does not list resources",
        label = "this function does not fit",
        note = "every parameter must be an extractor (`PageCursor`, `Identity`, `State<T>`, …)",
        note = "the result must be a `Vec<Resource>`, a `ResourceList`, or a `Result` of these, now or as the output of a `Send` future",
        note = "the function must be `Fn + Clone + Send + Sync + 'static`: move owned values in and clone what each call consumes"
    )]
    ListHandler -> IntoResourceList;

    /// A completion handler; see [`Handler`].
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a handler of a completion",
        label = "this function does not fit",
        note = "every parameter must be an extractor (`Prefix`, `Args<T>` for the arguments that have values already, `State<T>`, …)",
        note = "the result must implement `IntoCompletion` (`Vec<String>`, `Completion`, `Result<_, CompletionError>`, …), now or as the output of a `Send` future",
        note = "the function must be `Fn + Clone + Send + Sync + 'static`: move owned values in and clone what each call consumes"
    )]
    CompletionHandler -> IntoCompletion;
}
