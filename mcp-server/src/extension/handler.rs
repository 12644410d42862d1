//! Functions as handlers of custom methods: the first parameter is the message's parameters, the
//! others are extractors.

use std::future::Future;

use crate::call::{CallContext, RouteSpec};
use crate::extract::FromCall;
use crate::handler::arities;
use crate::result::RequestError;

impl<T> sealed::Convert<T> for T {
    fn into_method_result(self) -> Result<T, RequestError> {
        Ok(self)
    }
}

impl<T, E: Into<RequestError>> sealed::Convert<T> for Result<T, E> {
    fn into_method_result(self) -> Result<T, RequestError> {
        self.map_err(Into::into)
    }
}

/// A handler of a request or a notification of an extension: an `async` function of its parameters
/// `P` and up to eight extractors, which returns `T` or a `Result` of it. The compiler infers `M`.
///
/// Every function that fits implements it; do not implement it by hand.
pub trait MethodHandler<P, T, M>: sealed::Call<P, T, M> {}

impl<P, T, M, F: sealed::Call<P, T, M>> MethodHandler<P, T, M> for F {}

/// Methods of the sealed traits.
pub(super) mod sealed {
    use super::{CallContext, Future, RequestError, RouteSpec};

    /// A value that the handler of a custom method returns: the result, or a `Result` of it.
    #[expect(unnameable_types, reason = "handlers return it")]
    pub trait Convert<T> {
        /// Converts the value.
        fn into_method_result(self) -> Result<T, RequestError>;
    }

    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a handler of this method",
        label = "this function does not fit",
        note = "the first parameter must be the parameters of the method, `{P}`; every other parameter must be an extractor: `State<T>`, `Notifier`, `Declared<E>`, `Headers`, …",
        note = "the function must be `async` and return `{T}`, or a `Result` of it whose error converts into `RequestError`",
        note = "the function must be `Fn + Clone + Send + Sync + 'static`: move owned values in and clone what each call consumes"
    )]
    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait Call<P, T, M>: Clone + Send + Sync + 'static {
        /// Adds the requirements of all extractors.
        fn describe(spec: &mut RouteSpec);

        /// Calls the extractors in order, then the function.
        fn call(
            &self,
            params: P,
            call: CallContext,
        ) -> impl Future<Output = Result<T, RequestError>> + Send;
    }
}

macro_rules! method_handler {
    ([$($extractor:ident),*]) => {
        #[allow(
            non_snake_case,
            unused_mut,
            unused_variables,
            reason = "variables are named like their types; without extractors nothing is used"
        )]
        impl<F, Fut, P, T, $($extractor),*> sealed::Call<P, T, (P, $($extractor,)*)> for F
        where
            F: Fn(P, $($extractor),*) -> Fut + Clone + Send + Sync + 'static,
            Fut: Future<Output: sealed::Convert<T>> + Send,
            P: Send + 'static,
            T: Send + 'static,
            $($extractor: FromCall + Send,)*
        {
            fn describe(spec: &mut RouteSpec) {
                $($extractor::describe(spec);)*
            }

            async fn call(&self, params: P, mut call: CallContext) -> Result<T, RequestError> {
                $(
                    let $extractor = $extractor::from_call(&mut call)
                        .map_err(RequestError::from_rejection)?;
                )*
                drop(call);
                sealed::Convert::into_method_result(self(params, $($extractor),*).await)
            }
        }
    };
}

arities!(method_handler(), [], T1, T2, T3, T4, T5, T6, T7, T8);
