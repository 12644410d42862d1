//! A prompt as data: what is listed, and what is called.

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use mcp_core::{BoxFuture, Call, Fault, ItemKind, Reply, ResultBody};
use mcp_types::{GetPromptResult, JsonObject, Prompt, PromptArgument};
use serde_json::Value;

use super::IntoPrompt;
use crate::completion::Choices;
use crate::context::CallContext;
use crate::failure::{Failed, PromptError};
use crate::guard::{self, Handled};
use crate::handler::PromptHandler;
use crate::live::Others;
use crate::spec::RouteSpec;
use crate::standing::{Standing, route_setters};

type Erased = Arc<dyn Fn(CallContext, Arc<Prompt>) -> BoxFuture<'static, Reply> + Send + Sync>;

/// A prompt and its handler. Made by [`PromptExt::handler`] or by the macros.
#[derive(Clone)]
pub struct PromptRoute {
    prompt: Arc<Prompt>,
    handler: Erased,
    choices: Arc<Choices>,
    spec: Arc<RouteSpec>,
    pub(crate) standing: Standing,
}

/// Turns the description of a prompt into a route.
///
/// # Examples
///
/// ```
/// use mcp_server::{Args, PromptExt, Server, user};
/// use mcp_types::Prompt;
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
///         .describe("Review a file")
///         .handler(|Args(p): Args<Review>| [user(format!("Review {}", p.file))]),
/// );
/// server.check()?;
/// # Ok::<(), mcp_server::SetupError>(())
/// ```
pub trait PromptExt: sealed::Sealed {
    /// Gives the prompt its handler: a function or closure of extractors, `async` or not.
    ///
    /// What the function's types say fills in the arguments, unless [`Prompt::argument`] gave some.
    fn handler<M, H: PromptHandler<M>>(self, handler: H) -> PromptRoute;
}

mod sealed {
    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait Sealed {}
    impl Sealed for mcp_types::Prompt {}
}

impl PromptExt for Prompt {
    fn handler<M, H: PromptHandler<M>>(self, handler: H) -> PromptRoute {
        let mut spec = RouteSpec::default();
        H::describe(&mut spec);
        PromptRoute::new(self, spec, move |call| {
            let handler = handler.clone();
            async move {
                let output = handler.call(call).await.map_err(PromptError::rejected)?;
                output.into_prompt()
            }
        })
    }
}

impl PromptRoute {
    route_setters! { "prompt": layer, visible_to }

    /// The one place where the types of a handler are forgotten; one boxed future per call.
    pub(crate) fn new<F, Fut>(mut prompt: Prompt, mut spec: RouteSpec, handler: F) -> Self
    where
        F: Fn(CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<GetPromptResult, PromptError>> + Send + 'static,
    {
        // What the author declares by hand, no type checks.
        let by_hand = !prompt.arguments.is_empty();
        if let (Some(schema), false) = (&spec.input_schema, by_hand) {
            prompt.arguments = arguments(schema);
        }
        spec.others = Some(Others::of);
        let needs = spec.needs;
        let constraints = spec.constraints.take();
        let handler: Erased = Arc::new(move |mut call, prompt| {
            if let (true, Some(fault)) = (by_hand, missing(&prompt, call.call())) {
                return Box::pin(ready(fault.into()));
            }
            if let Some(fault) = constraints
                .as_ref()
                .and_then(|it| it.refuse(call.arguments()))
            {
                return Box::pin(ready(fault.into()));
            }
            let watched = call.watch(needs);
            guard::run(prompt, watched, handler(call))
        });
        Self {
            prompt: Arc::new(prompt),
            handler,
            choices: Arc::new(Choices::of(spec.input_schema.as_ref())),
            spec: Arc::new(spec),
            standing: Standing::default(),
        }
    }

    /// The prompt as it is listed.
    #[inline]
    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    #[inline]
    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.spec
    }

    #[inline]
    pub(crate) fn choices(&self) -> &Choices {
        &self.choices
    }

    /// Gives the prompt another name.
    #[inline]
    pub(crate) fn rename(&mut self, name: String) {
        Arc::make_mut(&mut self.prompt).name = name;
    }

    #[inline]
    pub(crate) fn call(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        self.standing.answer(call, self, |route, call| {
            (route.handler)(call, route.prompt.clone())
        })
    }
}

/// What tells of arguments that have to be given and are not.
// spec: PROMPT-05
#[inline]
fn missing(prompt: &Prompt, call: &Call) -> Option<Fault> {
    let given = match call {
        Call::GetPrompt(params) => params.arguments.as_ref(),
        _ => None,
    };
    let given: JsonObject = given
        .and_then(|given| given.parse().ok())
        .unwrap_or_default();
    let is_missing =
        |argument: &&PromptArgument| argument.is_required() && !given.contains_key(&argument.name);
    let missing = prompt.arguments.iter().filter(is_missing);
    let missing: Vec<_> = missing
        .map(|argument| format!("`{}`", argument.name))
        .collect();
    let text = format!("invalid arguments: missing {}", missing.join(", "));
    (!missing.is_empty()).then(|| Fault::bad_params(text))
}

/// The arguments as they are listed: names, titles, descriptions, and which have to be given.
// spec: PROMPT-03
#[inline]
fn arguments(schema: &JsonObject) -> Vec<PromptArgument> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let arguments = properties.into_iter().flatten().map(|(name, schema)| {
        let text = |key| schema.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut argument = PromptArgument::new(name);
        argument.title = text("title");
        argument.description = text("description");
        argument.required = Some(is_required(name));
        argument
    });
    arguments.collect()
}

impl Handled for Arc<Prompt> {
    type Given = Result<GetPromptResult, PromptError>;

    #[inline]
    fn name(&self) -> &str {
        &self.name
    }

    #[inline]
    fn reply(&self, given: Self::Given) -> Reply {
        match given {
            Ok(mut result) => {
                let description = &mut result.description;
                *description = description.take().or_else(|| self.description.clone());
                ResultBody::GetPrompt(result).into()
            }
            Err(error) => {
                let (kind, id) = (ItemKind::Prompt, &*self.name);
                error.into_fault(Failed { kind, id }).into()
            }
        }
    }
}

impl fmt::Debug for PromptRoute {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptRoute")
            .field("prompt", &self.prompt.name)
            .finish_non_exhaustive()
    }
}
