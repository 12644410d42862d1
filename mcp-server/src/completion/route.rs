//! A completion as data: whose argument, and what is called.

use std::fmt;
use std::sync::Arc;

use mcp_core::{BoxFuture, ItemKind, Reply, ResultBody};
use mcp_types::{CompleteResult, CompletionReference};

use super::IntoCompletion;
use crate::extract::{CallContext, RouteSpec};
use crate::failure::{CompletionError, Failed};
use crate::guard::catch_panic;
use crate::handler::CompletionHandler;
use crate::middleware::{Layers, Middleware};

type Erased = Arc<dyn Fn(CallContext) -> BoxFuture<'static, Reply> + Send + Sync>;

/// What completes one argument of a prompt or one variable of a URI template.
///
/// The handler takes what was typed so far as [`Prefix`](crate::Prefix), and the arguments that have
/// their values already as [`Args`](crate::Args). Arguments whose type is an enum need none: they
/// complete by themselves.
#[derive(Clone)]
pub struct CompletionRoute {
    reference: CompletionReference,
    argument: Arc<str>,
    handler: Erased,
    spec: Arc<RouteSpec>,
    layers: Layers,
}

impl CompletionRoute {
    /// Completes an argument of a prompt.
    pub fn prompt<M, H: CompletionHandler<M>>(
        prompt: impl Into<String>,
        argument: impl Into<String>,
        handler: H,
    ) -> Self {
        Self::of(
            CompletionReference::prompt(prompt),
            argument.into(),
            handler,
        )
    }

    /// Completes a variable of a URI template.
    pub fn template<M, H: CompletionHandler<M>>(
        uri_template: impl Into<String>,
        variable: impl Into<String>,
        handler: H,
    ) -> Self {
        let reference = CompletionReference::resource(uri_template);
        Self::of(reference, variable.into(), handler)
    }

    fn of<M, H: CompletionHandler<M>>(
        reference: CompletionReference,
        argument: String,
        handler: H,
    ) -> Self {
        let mut spec = RouteSpec::default();
        H::describe(&mut spec);
        Self::new(reference, argument, spec, move |call| {
            let handler = handler.clone();
            async move {
                let output = handler.call(call).await;
                output.map_err(CompletionError::rejected)?.into_completion()
            }
        })
    }

    /// The one place where the types of a handler are forgotten; one boxed future per call.
    pub(crate) fn new<F, Fut>(
        reference: CompletionReference,
        argument: String,
        spec: RouteSpec,
        handler: F,
    ) -> Self
    where
        F: Fn(CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CompleteResult, CompletionError>> + Send + 'static,
    {
        let (kind, id) = owner(&reference);
        let (id, argument): (Arc<str>, Arc<str>) = (id.into(), argument.into());
        let name = argument.clone();
        let handler: Erased = Arc::new(move |call| {
            let (id, name) = (id.clone(), name.clone());
            let running = handler(call);
            Box::pin(async move {
                match catch_panic(&name, running).await {
                    Ok(Ok(result)) => ResultBody::Complete(result).into(),
                    Ok(Err(error)) => error.into_fault(Failed { kind, id: &id }).into(),
                    Err(fault) => fault.into(),
                }
            })
        });
        Self {
            reference,
            argument,
            handler,
            spec: Arc::new(spec),
            layers: Layers::default(),
        }
    }

    /// Puts a layer around the calls of this completion: the last one that is added is the outermost. It is
    /// inside of the layers of the server.
    #[must_use]
    pub fn layer(mut self, layer: impl Middleware) -> Self {
        self.layers.add(layer);
        self
    }

    /// What has the argument.
    pub fn reference(&self) -> &CompletionReference {
        &self.reference
    }

    /// The name of the argument.
    pub fn argument(&self) -> &str {
        &self.argument
    }

    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.spec
    }

    pub(crate) fn call(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        self.layers
            .call(call, self, |route, call| (route.handler)(call))
    }
}

/// What has the argument, and its name or template.
pub(crate) fn owner(reference: &CompletionReference) -> (ItemKind, &str) {
    match reference {
        CompletionReference::Resource { uri } => (ItemKind::Resource, uri),
        CompletionReference::Prompt { name } => (ItemKind::Prompt, name),
        _ => (ItemKind::Prompt, ""),
    }
}

impl fmt::Debug for CompletionRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionRoute")
            .field("reference", &self.reference)
            .field("argument", &self.argument)
            .finish_non_exhaustive()
    }
}
