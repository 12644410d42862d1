//! A completion as data: whose argument, and what is called.

use std::fmt;
use std::sync::Arc;

use mcp_core::{BoxFuture, ItemKind, Reply, ResultBody};
use mcp_types::{CompleteResult, CompletionReference};

use super::IntoCompletion;
use crate::context::CallContext;
use crate::failure::{CompletionError, Failed};
use crate::guard::{self, Handled};
use crate::handler::CompletionHandler;
use crate::live::Others;
use crate::spec::RouteSpec;
use crate::standing::{Standing, route_setters};

type Erased =
    Arc<dyn Fn(CallContext, Arc<CompletionReference>) -> BoxFuture<'static, Reply> + Send + Sync>;

/// What completes one argument of a prompt or one variable of a URI template.
///
/// The handler takes what was typed so far as [`Prefix`](crate::Prefix), and the arguments that have
/// their values already as [`Args`](crate::Args). Arguments whose type is an enum need none: they
/// complete by themselves.
#[derive(Clone)]
pub struct CompletionRoute {
    reference: Arc<CompletionReference>,
    argument: Arc<str>,
    handler: Erased,
    spec: Arc<RouteSpec>,
    pub(crate) standing: Standing,
}

impl CompletionRoute {
    route_setters! { "completion": layer }

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
        mut spec: RouteSpec,
        handler: F,
    ) -> Self
    where
        F: Fn(CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CompleteResult, CompletionError>> + Send + 'static,
    {
        let argument: Arc<str> = argument.into();
        let name = argument.clone();
        spec.others = Some(Others::of);
        let needs = spec.needs;
        // spec: MRTR-02
        if needs.asks.is_some() {
            spec.problem("a completion cannot ask the client; drop `Ask`");
        }
        let handler: Erased = Arc::new(move |mut call, reference| {
            let argument = name.clone();
            let watched = call.watch(needs);
            let completing = Completing {
                argument,
                reference,
            };
            guard::run(completing, watched, handler(call))
        });
        Self {
            reference: Arc::new(reference),
            argument,
            handler,
            spec: Arc::new(spec),
            standing: Standing::default(),
        }
    }

    /// What has the argument.
    #[inline]
    pub fn reference(&self) -> &CompletionReference {
        &self.reference
    }

    /// The name of the argument.
    #[inline]
    pub fn argument(&self) -> &str {
        &self.argument
    }

    #[inline]
    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.spec
    }

    /// Gives the prompt that it belongs to another name.
    pub(crate) fn rename_prompt(&mut self, rename: impl FnOnce(&str) -> String) {
        if let CompletionReference::Prompt { name } = Arc::make_mut(&mut self.reference) {
            *name = rename(name);
        }
    }

    #[inline]
    pub(crate) fn call(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        self.standing.answer(call, self, |route, call| {
            (route.handler)(call, route.reference.clone())
        })
    }
}

/// What has the argument, and its name or template.
#[inline]
pub(crate) fn owner(reference: &CompletionReference) -> (ItemKind, &str) {
    match reference {
        CompletionReference::Resource { uri } => (ItemKind::Resource, uri),
        CompletionReference::Prompt { name } => (ItemKind::Prompt, name),
        _ => (ItemKind::Prompt, ""),
    }
}

/// An argument that is being completed.
struct Completing {
    argument: Arc<str>,
    reference: Arc<CompletionReference>,
}

impl Handled for Completing {
    type Given = Result<CompleteResult, CompletionError>;

    #[inline]
    fn name(&self) -> &str {
        &self.argument
    }

    #[inline]
    fn reply(&self, given: Self::Given) -> Reply {
        match given {
            Ok(result) => ResultBody::Complete(result).into(),
            Err(error) => {
                let (kind, id) = owner(&self.reference);
                error.into_fault(Failed { kind, id }).into()
            }
        }
    }
}

impl fmt::Debug for CompletionRoute {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionRoute")
            .field("reference", &self.reference)
            .field("argument", &self.argument)
            .finish_non_exhaustive()
    }
}
