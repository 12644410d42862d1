//! A tool as data: what is listed, and what is called.

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use mcp_core::schema::Lint;
use mcp_core::{BoxFuture, ParamHeaders, Reply};
use mcp_types::{CallToolResult, Tool};

use super::checks::ToolChecks;
use super::{IntoToolResult, ToolError};
use crate::checking::Checking;
use crate::constraints::Constraints;
use crate::context::CallContext;
use crate::guard::{self, Handled};
use crate::handler::Handler;
use crate::spec::RouteSpec;
use crate::standing::{Standing, route_setters};

type Erased = Arc<dyn Fn(CallContext, Arc<Tool>) -> BoxFuture<'static, Reply> + Send + Sync>;

/// A tool and its handler. Made by [`ToolExt::handler`] or by the macros.
#[derive(Clone)]
pub struct ToolRoute {
    tool: Arc<Tool>,
    handler: Erased,
    spec: Arc<RouteSpec>,
    headers: Option<Arc<ParamHeaders>>,
    checks: ToolChecks,
    pub(crate) standing: Standing,
}

/// Turns the description of a tool into a route.
pub trait ToolExt: sealed::Sealed {
    /// Gives the tool its handler: a function or closure of extractors, `async` or not.
    ///
    /// What the function's types say fills in the tool: the input schema (unless
    /// [`Tool::raw`] gave one) and the output schema.
    fn handler<M, H: Handler<M>>(self, handler: H) -> ToolRoute;
}

mod sealed {
    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait Sealed {}
    impl Sealed for mcp_types::Tool {}
}

impl ToolExt for Tool {
    fn handler<M, H: Handler<M>>(self, handler: H) -> ToolRoute {
        let mut spec = RouteSpec::default();
        H::describe(&mut spec);
        ToolRoute::new::<H::Output, _, _>(self, spec, move |call| {
            let handler = handler.clone();
            async move {
                let output = handler.call(call).await.map_err(ToolError::rejected)?;
                output.into_tool_result()
            }
        })
    }
}

impl ToolRoute {
    route_setters! { "tool": layer, visible_to }

    /// The one place where the types of a handler are forgotten; one boxed future per call.
    pub(crate) fn new<Output, F, Fut>(mut tool: Tool, mut spec: RouteSpec, handler: F) -> Self
    where
        Output: IntoToolResult,
        F: Fn(CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CallToolResult, ToolError>> + Send + 'static,
    {
        let (described, constraints) = (spec.input_schema.take(), spec.constraints.take());
        let by_hand = tool.input_schema != Tool::new("").input_schema;
        let constraints = match by_hand {
            true => Constraints::of(&tool.input_schema),
            false => constraints,
        };
        if let (Some(schema), false) = (described, by_hand) {
            tool.input_schema = Arc::new(schema);
        }
        if tool.output_schema.is_none() {
            tool.output_schema = Output::output_schema().map(Arc::new);
        }
        // spec: XHDR-01
        let headers = ParamHeaders::from_schema(&tool.input_schema);
        let headers = headers.unwrap_or_else(|error| {
            spec.problem(error.to_string());
            None
        });
        let needs = spec.needs;
        let handler: Erased = Arc::new(move |mut call, tool| {
            let watched = call.watch(needs);
            guard::run(tool, watched, handler(call))
        });
        Self {
            tool: Arc::new(tool),
            handler,
            spec: Arc::new(spec),
            headers: headers.map(Arc::new),
            checks: ToolChecks::new(by_hand, constraints),
            standing: Standing::default(),
        }
    }

    /// The tool as it is listed.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.spec
    }

    /// Which of its arguments are repeated in headers.
    pub(crate) fn headers(&self) -> Option<&Arc<ParamHeaders>> {
        self.headers.as_ref()
    }

    /// Gives the tool another name.
    pub(crate) fn rename(&mut self, name: String) {
        Arc::make_mut(&mut self.tool).name = name;
    }

    pub(crate) fn call(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        self.standing
            .answer(call, self, |route, call| route.checked(call))
    }

    fn checked(&self, mut call: CallContext) -> BoxFuture<'static, Reply> {
        let Self { tool, checks, .. } = self;
        if let Some(reply) = checks.refuse(tool, &mut call) {
            return Box::pin(ready(reply));
        }
        let output = checks.of_output(tool, call.checking());
        let running = (self.handler)(call, tool.clone());
        match output {
            None => running,
            Some(output) => output.around(tool.clone(), running),
        }
    }

    /// Schemas that the server cannot check.
    pub(crate) fn schema_problems(&self, checking: &Checking) -> Vec<String> {
        self.checks.problems(&self.tool, checking)
    }

    /// What clients are known to refuse.
    pub(crate) fn lints(&self, checking: &Checking) -> Vec<Lint> {
        self.checks.lints(&self.tool, checking)
    }
}

impl Handled for Arc<Tool> {
    type Given = Result<CallToolResult, ToolError>;

    fn name(&self) -> &str {
        &self.name
    }

    fn reply(&self, given: Self::Given) -> Reply {
        match given {
            Ok(result) => result.into(),
            Err(error) => error.into_reply(&self.name),
        }
    }
}

impl fmt::Debug for ToolRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRoute")
            .field("tool", &self.tool.name)
            .finish_non_exhaustive()
    }
}
