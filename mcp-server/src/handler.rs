//! Functions as handlers: extractors are taken in order, then the function is called.

use std::future::Future;

use crate::extract::{CallContext, FromCall, Rejection, RouteSpec};
use crate::tools::IntoToolResult;

/// Marks handlers that return a future.
#[derive(Debug)]
#[non_exhaustive]
pub struct Async;

/// Marks handlers that return their result at once.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sync;

/// A function or closure of up to twelve extractors, `async` or not. `M` is found by the compiler.
///
/// Implemented for all of them; not meant to be implemented by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler of a tool",
    label = "this function does not fit",
    note = "every parameter must be an extractor (`Args<T>`, `RawArgs`, `State<T>`, `Headers`, …)",
    note = "the result must implement `IntoToolResult` (`String`, a number, `Json<T>`, `Result<_, ToolError>`, …), now or as the output of a `Send` future",
    note = "the function must be `Fn + Clone + Send + Sync + 'static`: move owned values in and clone what each call consumes"
)]
pub trait Handler<M>: Clone + Send + std::marker::Sync + 'static {
    /// What the function returns in the end.
    type Output: IntoToolResult;

    /// Writes down what the extractors need.
    fn describe(spec: &mut RouteSpec);

    /// Takes the extractors and runs the function.
    fn call(
        &self,
        call: CallContext,
    ) -> impl Future<Output = Result<Self::Output, Rejection>> + Send;
}

macro_rules! handlers {
    ($([$($extractor:ident),*])*) => {
        $(handler!($($extractor),*);)*
    };
}

macro_rules! handler {
    ($($extractor:ident),*) => {
        #[allow(non_snake_case, unused_mut, unused_variables)]
        impl<F, Fut, $($extractor),*> Handler<(Async, $($extractor,)*)> for F
        where
            F: Fn($($extractor),*) -> Fut + Clone + Send + std::marker::Sync + 'static,
            Fut: Future<Output: IntoToolResult> + Send,
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

        #[allow(non_snake_case, unused_mut, unused_variables)]
        impl<F, R, $($extractor),*> Handler<(Sync, $($extractor,)*)> for F
        where
            F: Fn($($extractor),*) -> R + Clone + Send + std::marker::Sync + 'static,
            R: IntoToolResult,
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
    []
    [T1]
    [T1, T2]
    [T1, T2, T3]
    [T1, T2, T3, T4]
    [T1, T2, T3, T4, T5]
    [T1, T2, T3, T4, T5, T6]
    [T1, T2, T3, T4, T5, T6, T7]
    [T1, T2, T3, T4, T5, T6, T7, T8]
    [T1, T2, T3, T4, T5, T6, T7, T8, T9]
    [T1, T2, T3, T4, T5, T6, T7, T8, T9, T10]
    [T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11]
    [T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12]
}
