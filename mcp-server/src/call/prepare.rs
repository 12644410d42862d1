//! Extractors that await: they run before the other extractors and the handler.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::Either;
use mcp_core::BoxFuture;

use super::context::CallContext;
use crate::rejection::Rejection;

type PrepareFn =
    dyn for<'a> Fn(&'a mut CallContext) -> BoxFuture<'a, Result<(), Rejection>> + Send + Sync;

/// The extractors of a handler that await, in parameter order.
#[derive(Clone, Default)]
pub(crate) struct Preparations(Vec<Arc<PrepareFn>>);

impl Preparations {
    pub(crate) fn push(
        &mut self,
        prepare: impl for<'a> Fn(&'a mut CallContext) -> BoxFuture<'a, Result<(), Rejection>>
        + Send
        + Sync
        + 'static,
    ) {
        self.0.push(Arc::new(prepare));
    }

    /// Adds the extractors of optional parameters, whose rejections do not end the call.
    pub(super) fn extend_optional(&mut self, optional: &Self) {
        for prepare in &optional.0 {
            let prepare = prepare.clone();
            self.push(move |call| {
                let preparing = prepare(call);
                Box::pin(async move {
                    // The parameter is `None`.
                    let _ = preparing.await;
                    Ok(())
                })
            });
        }
    }

    async fn run(self, mut call: CallContext) -> Result<CallContext, Rejection> {
        for prepare in &self.0 {
            prepare(&mut call).await?;
        }
        Ok(call)
    }
}

impl fmt::Debug for Preparations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} extractors", self.0.len())
    }
}

/// Returns the handler with its extractors that await. A handler without them stays as it is.
pub(crate) fn with_preparations<F, Fut, O, E>(
    preparations: Preparations,
    handler: F,
    reject: fn(Rejection) -> E,
) -> impl Fn(CallContext) -> Either<Fut, BoxFuture<'static, Result<O, E>>> + Send + Sync + 'static
where
    F: Fn(CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<O, E>> + Send + 'static,
    O: 'static,
    E: 'static,
{
    let handler = Arc::new(handler);
    move |call| {
        if preparations.0.is_empty() {
            return Either::Left(handler(call));
        }
        let (preparing, handler) = (preparations.clone().run(call), handler.clone());
        Either::Right(Box::pin(async move {
            let call = preparing.await.map_err(reject)?;
            handler(call).await
        }))
    }
}
