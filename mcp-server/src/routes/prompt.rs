//! Prompts.
//!
//! Specification: <https://modelcontextprotocol.io/specification/2026-07-28/server/prompts>

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use mcp_core::{BoxFuture, Call, Fault, ItemKind, Reply, ResultBody};
use mcp_types::{JsonObject, Prompt, PromptArgument};
use serde_json::Value;

use super::choices::Choices;
use super::completion::CompletionRoute;
use super::scope::sealed::Sealed;
use super::scope::{RouteHandler, RouteScope, route_setters};
use crate::call::{CallContext, CallTarget, RouteSpec};
use crate::handler::{CompletionHandler, PromptHandler};
use crate::result::{IntoPrompt, ItemRef, PromptError};
use crate::schema::required as required_names;

/// A prompt with its handler. Created by [`PromptExt::handler`] or by the macros.
#[derive(Clone)]
pub struct PromptRoute {
    prompt: Arc<Prompt>,
    handler: RouteHandler<Arc<Prompt>>,
    pub(crate) choices: Arc<Choices>,
    pub(crate) completions: Vec<CompletionRoute>,
    spec: Arc<RouteSpec>,
    pub(crate) scope: RouteScope,
}

/// Extension of [`Prompt`] that creates a route.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Review {
///     /// path below the root
///     file: String,
///     lines: Option<u32>,
/// }
///
/// let server = Server::new("reviews", "1.0.0").prompt(
///     Prompt::new("review")
///         .description("Review a file")
///         .handler(|Args(p): Args<Review>| [user(format!("Review {}", p.file))]),
/// );
/// server.check()?;
/// # Ok::<(), mcp::SetupError>(())
/// ```
pub trait PromptExt: Sealed {
    /// Creates a route with a handler: a function or closure of extractors, `async` or not.
    ///
    /// The parameter types of the handler determine the arguments, unless [`Prompt::argument`] added
    /// some.
    fn handler<M, H: PromptHandler<M>>(self, handler: H) -> PromptRoute;
}

impl PromptExt for Prompt {
    fn handler<M, H: PromptHandler<M>>(self, handler: H) -> PromptRoute {
        let mut spec = RouteSpec::default();
        H::describe(&mut spec);
        PromptRoute::new(self, spec, move |call| {
            let handler = handler.clone();
            async move {
                let output = handler.call(call).await;
                output.map_err(PromptError::from_rejection)?.into_body()
            }
        })
    }
}

impl PromptRoute {
    route_setters! { "prompt": layer, visible_to, scopes }

    /// Erases the type of the handler. Each call boxes one future.
    pub(crate) fn new<R, F, Fut>(mut prompt: Prompt, mut spec: RouteSpec, handler: F) -> Self
    where
        R: Into<ResultBody> + 'static,
        F: Fn(CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, PromptError>> + Send + 'static,
    {
        // No Rust type checks arguments that the author declares.
        let is_declared = !prompt.arguments.is_empty();
        if let (Some(schema), false) = (&spec.input_schema, is_declared) {
            prompt.arguments = arguments_from_schema(schema.json());
        }
        let constraints = spec.constraints.take();
        let run = spec.runner(handler, PromptError::from_rejection);
        let handler: RouteHandler<Arc<Prompt>> = Arc::new(move |call, prompt| {
            let mut checked = if is_declared {
                check_required(&prompt, call.call())
            } else {
                Ok(())
            };
            if let (Ok(()), Some(constraints)) = (&checked, &constraints) {
                checked = constraints.check_strings(call.arguments());
            }
            match checked {
                Ok(()) => run(call, prompt),
                Err(fault) => Box::pin(ready(fault.into())),
            }
        });
        Self {
            prompt: Arc::new(prompt),
            handler,
            choices: Arc::new(Choices::from_schema(spec.input_schema.as_ref())),
            completions: Vec::new(),
            spec: Arc::new(spec),
            scope: RouteScope::default(),
        }
    }

    /// Adds an argument completion. It comes and goes with the prompt, also in a running server.
    /// Arguments whose type is an enum need none: the server suggests the values of the enum.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Review {
    ///     file: String,
    /// }
    ///
    /// let review = Prompt::new("review")
    ///     .handler(|Args(p): Args<Review>| p.file)
    ///     .completion("file", |prefix: Prefix| {
    ///         let files = ["lib.rs", "main.rs"];
    ///         files.into_iter().filter(|file| file.starts_with(&*prefix)).collect::<Vec<_>>()
    ///     });
    /// let server = Server::new("reviews", "1.0.0").prompt(review);
    /// server.check()?;
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    #[must_use]
    pub fn completion<M, H: CompletionHandler<M>>(
        mut self,
        argument: impl Into<String>,
        handler: H,
    ) -> Self {
        let route = CompletionRoute::prompt(&self.prompt.name, argument, handler);
        self.completions.push(route);
        self
    }

    /// The prompt as it is listed.
    pub(crate) fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.spec
    }

    pub(super) fn rename(&mut self, name: String) {
        for route in &mut self.completions {
            route.rename_prompt(|_| name.clone());
        }
        Arc::make_mut(&mut self.prompt).name = name;
    }

    pub(crate) fn call(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        self.scope.run(call, self, |route, call| {
            (route.handler)(call, route.prompt.clone())
        })
    }
}

/// Checks that the call has all required arguments.
// spec: PROMPT-05
fn check_required(prompt: &Prompt, call: &Call) -> Result<(), Fault> {
    let arguments = match call {
        Call::GetPrompt(params) => params.arguments.as_ref(),
        _ => None,
    };
    let arguments = arguments.and_then(|arguments| arguments.parse().ok());
    let arguments: JsonObject = arguments.unwrap_or_default();
    let is_missing = |argument: &&PromptArgument| {
        argument.is_required() && !arguments.contains_key(&argument.name)
    };
    let missing = prompt.arguments.iter().filter(is_missing);
    let missing: Vec<_> = missing
        .map(|argument| format!("`{}`", argument.name))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Fault::bad_params(format!(
        "invalid arguments: missing {}",
        missing.join(", ")
    )))
}

/// Returns the prompt arguments that the properties of a schema describe.
// spec: PROMPT-03
fn arguments_from_schema(schema: &JsonObject) -> Vec<PromptArgument> {
    let is_required = |name: &str| required_names(schema).any(|required| required == name);
    let properties = schema.get("properties").and_then(Value::as_object);
    let arguments = properties.into_iter().flatten().map(|(name, schema)| {
        let string = |key| schema.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut argument = PromptArgument::new(name);
        argument.title = string("title");
        argument.description = string("description");
        argument.required = Some(is_required(name));
        argument
    });
    arguments.collect()
}

impl<R: Into<ResultBody>> CallTarget<Result<R, PromptError>> for Arc<Prompt> {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(&self, output: Result<R, PromptError>, masks_errors: bool) -> Reply {
        match output {
            Ok(result) => {
                let mut body = result.into();
                if let ResultBody::GetPrompt(result) = &mut body
                    && result.description.is_none()
                {
                    result.description.clone_from(&self.description);
                }
                body.into()
            }
            Err(error) => {
                let (kind, id) = (ItemKind::Prompt, &*self.name);
                error.into_fault(ItemRef { kind, id }, masks_errors).into()
            }
        }
    }
}

impl fmt::Debug for PromptRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptRoute")
            .field("prompt", &self.prompt.name)
            .finish_non_exhaustive()
    }
}
