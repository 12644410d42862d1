//! Functions as handlers: extractors are taken in order, then the function is called.

use std::future::Future;

use crate::completion::IntoCompletion;
use crate::context::CallContext;
use crate::extract::FromCall;
use crate::prompts::IntoPrompt;
use crate::rejection::Rejection;
use crate::resources::IntoContents;
use crate::spec::RouteSpec;
use crate::tools::IntoToolResult;

/// Marks handlers that return a future.
#[derive(Debug)]
#[non_exhaustive]
pub struct Async;

/// Marks handlers that return their result at once.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sync;

/// One trait for each kind of result, implemented for all functions that fit.
macro_rules! handlers {
    ($($(#[$about:meta])* $handler:ident -> $result:ident;)*) => {
        $(
            $(#[$about])*
            pub trait $handler<M>: Clone + Send + std::marker::Sync + 'static {
                /// What the function returns in the end.
                type Output: $result;

                /// Writes down what the extractors need.
                fn describe(spec: &mut RouteSpec);

                /// Takes the extractors and runs the function.
                fn call(
                    &self,
                    call: CallContext,
                ) -> impl Future<Output = Result<Self::Output, Rejection>> + Send;
            }

            arities!($handler, $result);
        )*
    };
}

macro_rules! arities {
    ($handler:ident, $result:ident) => {
        handler!($handler, $result, []);
        handler!($handler, $result, [T1]);
        handler!($handler, $result, [T1, T2]);
        handler!($handler, $result, [T1, T2, T3]);
        handler!($handler, $result, [T1, T2, T3, T4]);
        handler!($handler, $result, [T1, T2, T3, T4, T5]);
        handler!($handler, $result, [T1, T2, T3, T4, T5, T6]);
        handler!($handler, $result, [T1, T2, T3, T4, T5, T6, T7]);
        handler!($handler, $result, [T1, T2, T3, T4, T5, T6, T7, T8]);
        handler!($handler, $result, [T1, T2, T3, T4, T5, T6, T7, T8, T9]);
        handler!($handler, $result, [T1, T2, T3, T4, T5, T6, T7, T8, T9, T10]);
        handler!(
            $handler,
            $result,
            [T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11]
        );
        handler!(
            $handler,
            $result,
            [T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12]
        );
    };
}

macro_rules! handler {
    ($handler:ident, $result:ident, [$($extractor:ident),*]) => {
        #[allow(
            non_snake_case,
            unused_mut,
            unused_variables,
            reason = "variables are called like their types; no extractor uses nothing"
        )]
        impl<F, Fut, $($extractor),*> $handler<(Async, $($extractor,)*)> for F
        where
            F: Fn($($extractor),*) -> Fut + Clone + Send + std::marker::Sync + 'static,
            Fut: Future<Output: $result> + Send,
            $($extractor: FromCall + Send,)*
        {
            type Output = Fut::Output;

            fn describe(spec: &mut RouteSpec) {
                $($extractor::describe(spec);)*
            }

            async fn call(&self, mut call: CallContext) -> Result<Self::Output, Rejection> {
                $(let $extractor = $extractor::from_call(&mut call)?;)*
                drop(call);
                Ok(self($($extractor),*).await)
            }
        }

        #[allow(
            non_snake_case,
            unused_mut,
            unused_variables,
            reason = "variables are called like their types; no extractor uses nothing"
        )]
        impl<F, R, $($extractor),*> $handler<(Sync, $($extractor,)*)> for F
        where
            F: Fn($($extractor),*) -> R + Clone + Send + std::marker::Sync + 'static,
            R: $result,
            $($extractor: FromCall + Send,)*
        {
            type Output = R;

            fn describe(spec: &mut RouteSpec) {
                $($extractor::describe(spec);)*
            }

            async fn call(&self, mut call: CallContext) -> Result<R, Rejection> {
                $(let $extractor = $extractor::from_call(&mut call)?;)*
                drop(call);
                Ok(self($($extractor),*))
            }
        }
    };
}

handlers! {
    /// A function or closure of up to twelve extractors, `async` or not. `M` is found by the compiler.
    ///
    /// Implemented for all of them; not meant to be implemented by hand.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a handler of a tool",
        label = "this function does not fit",
        note = "every parameter must be an extractor: `Args<T>` (`T` derives `serde::Deserialize` and `schemars::JsonSchema`), `RawArgs`, `State<T>`, `Headers`, …; plain arguments need `#[tool]`",
        note = "the result must implement `IntoToolResult` (`String`, a number, `Json<T>`, `Result<_, ToolError>`, …), now or as the output of a `Send` future",
        note = "the function must be `Fn + Clone + Send + Sync + 'static`: move owned values in and clone what each call consumes"
    )]
    Handler -> IntoToolResult;

    /// As [`Handler`], for resources and templates.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a handler of a resource",
        label = "this function does not fit",
        note = "every parameter must be an extractor: `Args<T>` for the variables of a template (`T` derives `serde::Deserialize` and `schemars::JsonSchema`), `State<T>`, `Headers`, …; plain ones need `#[resource]`",
        note = "the result must implement `IntoContents` (`String`, `Vec<u8>`, `Json<T>`, `Option<_>`, `Result<_, ResourceError>`, …), now or as the output of a `Send` future",
        note = "the function must be `Fn + Clone + Send + Sync + 'static`: move owned values in and clone what each call consumes"
    )]
    ReadHandler -> IntoContents;

    /// As [`Handler`], for prompts.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a handler of a prompt",
        label = "this function does not fit",
        note = "every parameter must be an extractor: `Args<T>` (`T` derives `serde::Deserialize` and `schemars::JsonSchema`), `RawArgs`, `State<T>`, `Headers`, …; plain arguments need `#[prompt]`",
        note = "the result must implement `IntoPrompt` (`String`, `PromptMessage`, `Vec<PromptMessage>`, `Result<_, PromptError>`, …), now or as the output of a `Send` future",
        note = "the function must be `Fn + Clone + Send + Sync + 'static`: move owned values in and clone what each call consumes"
    )]
    PromptHandler -> IntoPrompt;

    /// As [`Handler`], for completions.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a handler of a completion",
        label = "this function does not fit",
        note = "every parameter must be an extractor (`Prefix`, `Args<T>` for the arguments that have values already, `State<T>`, …)",
        note = "the result must implement `IntoCompletion` (`Vec<String>`, `Completion`, `Result<_, CompletionError>`, …), now or as the output of a `Send` future",
        note = "the function must be `Fn + Clone + Send + Sync + 'static`: move owned values in and clone what each call consumes"
    )]
    CompletionHandler -> IntoCompletion;
}
