//! Completions for the prompt arguments and the variables of URI templates.
//!
//! Specification: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion>

use std::fmt;
use std::sync::Arc;

use mcp_core::{BoxFuture, ItemKind, Reply, ResultBody};
use mcp_types::{CompleteResult, CompletionReference};

use super::scope::{RouteHandler, RouteScope, route_setters};
use crate::call::{CallContext, CallTarget, RouteSpec};
use crate::handler::CompletionHandler;
use crate::result::{CompletionError, IntoCompletion, ItemRef};

/// A completion for one argument of a prompt, or for one variable of a URI template.
///
/// The handler receives the text that the user has typed as [`Prefix`](crate::Prefix), and the
/// arguments that already have values as [`Args`](crate::Args). Arguments whose type is an enum need
/// no completion: the server suggests the values of the enum.
#[derive(Clone)]
pub struct CompletionRoute {
    reference: Arc<CompletionReference>,
    argument: Arc<str>,
    handler: RouteHandler<CompletionTarget>,
    spec: Arc<RouteSpec>,
    pub(crate) scope: RouteScope,
}

impl CompletionRoute {
    route_setters! { "completion": layer }

    /// Completes a prompt argument.
    pub fn prompt<M, H: CompletionHandler<M>>(
        prompt: impl Into<String>,
        argument: impl Into<String>,
        handler: H,
    ) -> Self {
        let reference = CompletionReference::prompt(prompt);
        Self::from_function(reference, argument.into(), handler)
    }

    /// Completes a URI template variable.
    pub fn template<M, H: CompletionHandler<M>>(
        uri_template: impl Into<String>,
        variable: impl Into<String>,
        handler: H,
    ) -> Self {
        let reference = CompletionReference::template(uri_template);
        Self::from_function(reference, variable.into(), handler)
    }

    fn from_function<M, H: CompletionHandler<M>>(
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
                output
                    .map_err(CompletionError::from_rejection)?
                    .into_completion()
            }
        })
    }

    /// Erases the type of the handler. Each call boxes one future.
    pub(crate) fn new<F, Fut>(
        reference: CompletionReference,
        argument: String,
        mut spec: RouteSpec,
        handler: F,
    ) -> Self
    where
        F: Fn(CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CompleteResult, CompletionError>> + Send + 'static,
    {
        let handler = Arc::new(spec.runner(handler, CompletionError::from_rejection));
        // spec: MRTR-02
        if spec.needs.input_round {
            spec.problem("a completion cannot ask the client; drop `Ask`");
        }
        Self {
            reference: Arc::new(reference),
            argument: argument.into(),
            handler,
            spec: Arc::new(spec),
            scope: RouteScope::default(),
        }
    }

    /// The prompt or the URI template that has the argument.
    pub(crate) fn reference(&self) -> &CompletionReference {
        &self.reference
    }

    /// The argument's name.
    pub(crate) fn argument(&self) -> &str {
        &self.argument
    }

    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.spec
    }

    /// Replaces the name of the prompt that has the argument.
    pub(super) fn rename_prompt(&mut self, rename: impl FnOnce(&str) -> String) {
        if let CompletionReference::Prompt { name } = Arc::make_mut(&mut self.reference) {
            *name = rename(name);
        }
    }

    pub(crate) fn call(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        self.scope.run(call, self, |route, call| {
            let target = CompletionTarget {
                reference: route.reference.clone(),
                argument: route.argument.clone(),
            };
            (route.handler)(call, target)
        })
    }
}

/// The argument that a call completes.
struct CompletionTarget {
    reference: Arc<CompletionReference>,
    argument: Arc<str>,
}

impl CallTarget<Result<CompleteResult, CompletionError>> for CompletionTarget {
    fn name(&self) -> &str {
        &self.argument
    }

    fn reply(&self, output: Result<CompleteResult, CompletionError>, masks_errors: bool) -> Reply {
        match output {
            Ok(result) => ResultBody::Complete(result).into(),
            Err(error) => error.into_fault(self.owner(), masks_errors).into(),
        }
    }
}

impl CompletionTarget {
    /// The prompt or the URI template that has the argument.
    fn owner(&self) -> ItemRef<'_> {
        let (kind, id) = match &*self.reference {
            CompletionReference::Resource { uri } => (ItemKind::Resource, uri.as_str()),
            CompletionReference::Prompt { name } => (ItemKind::Prompt, name.as_str()),
            _ => (ItemKind::Prompt, ""),
        };
        ItemRef { kind, id }
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
