//! Extractors that await: they run before the other extractors and the handler.

use std::fmt;
use std::sync::Arc;

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

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) async fn run(self, mut call: CallContext) -> Result<CallContext, Rejection> {
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
