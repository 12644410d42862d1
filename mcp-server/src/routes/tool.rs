//! Tools.
//!
//! Specification: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>

use std::borrow::Cow;
use std::fmt;
use std::future::ready;
use std::sync::Arc;

use mcp_core::schema::{Check, Lint};
use mcp_core::wire::{tool_result, wraps_structure};
use mcp_core::{
    BoxFuture, Fault, HeaderMismatch, ParamHeaders, Reply, ResultBody, TaskCall, TaskMode,
};
use mcp_types::{CallToolResult, ContentBlock, Tool};

use super::scope::sealed::Sealed;
use super::scope::{RouteHandler, RouteScope, route_setters};
use super::tool_checks::ToolChecks;
use crate::call::{CallContext, CallTarget, RouteSpec, ServerTasks};
use crate::handler::Handler;
use crate::result::{IntoToolResult, ToolError};
use crate::validation::Validation;

/// A tool with its handler. Created by [`ToolExt::handler`] or by the macros.
#[derive(Clone)]
pub struct ToolRoute {
    tool: Arc<Tool>,
    handler: RouteHandler<Arc<Tool>>,
    spec: Arc<RouteSpec>,
    param_headers: Option<Arc<ParamHeaders>>,
    checks: ToolChecks,
    task_mode: TaskMode,
    /// The output schema accepts other values than objects.
    wraps_structure: bool,
    /// The tool is one of another server.
    is_forwarded: bool,
    pub(crate) scope: RouteScope,
}

/// Extension of [`Tool`] that creates a route.
pub trait ToolExt: Sealed {
    /// Creates a route with a handler: a function or closure of extractors, `async` or not.
    ///
    /// The parameter and result types of the handler determine the input schema (unless
    /// [`Tool::input_schema`] set one) and the output schema.
    fn handler<M, H: Handler<M>>(self, handler: H) -> ToolRoute;
}

impl ToolExt for Tool {
    fn handler<M, H: Handler<M>>(self, handler: H) -> ToolRoute {
        let mut spec = RouteSpec::default();
        H::describe(&mut spec);
        ToolRoute::new::<H::Output, _, _, _>(self, spec, move |call| {
            let handler = handler.clone();
            async move {
                let output = handler.call(call).await;
                output.map_err(ToolError::from_rejection)?.into_body()
            }
        })
    }
}

impl ToolRoute {
    route_setters! { "tool": layer, visible_to, scopes }

    /// Erases the type of the handler. Each call boxes one future.
    pub(crate) fn new<Output, R, F, Fut>(mut tool: Tool, mut spec: RouteSpec, handler: F) -> Self
    where
        Output: IntoToolResult,
        R: Into<ResultBody> + 'static,
        F: Fn(CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let is_raw = !Arc::ptr_eq(&tool.input_schema, &Tool::new("").input_schema);
        let checks = ToolChecks::new(is_raw, &mut tool, &mut spec);
        if tool.output_schema.is_none() {
            tool.output_schema = Output::output_schema().map(Arc::new);
        }
        // spec: XHDR-01
        let param_headers = ParamHeaders::from_schema(&tool.input_schema);
        let param_headers = param_headers.unwrap_or_else(|error| {
            spec.problem(error.to_string());
            None
        });
        let wraps_structure = tool.output_schema.as_deref().is_some_and(wraps_structure);
        let handler = Arc::new(spec.runner(handler, ToolError::from_rejection));
        Self {
            tool: Arc::new(tool),
            handler,
            spec: Arc::new(spec),
            param_headers: param_headers.map(Arc::new),
            checks,
            task_mode: TaskMode::Never,
            wraps_structure,
            is_forwarded: false,
            scope: RouteScope::default(),
        }
    }

    /// Sets the check of the arguments. It replaces the server's validator
    /// ([`Server::validate_with`](crate::Server::validate_with)) for them, and runs before the handler.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    /// use mcp::schema::{JsonSchema, Validator};
    /// use serde_json::json;
    ///
    /// let schema = serde_json::from_value(json!({
    ///     "type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"],
    /// }))?;
    /// let check = JsonSchema.compile(&schema)?;
    /// let tool = Tool::new("read").input_schema(schema).handler(|| "read").check_arguments_with(check);
    /// # let _ = tool;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    // spec: TOOL-20
    #[must_use]
    pub fn check_arguments_with(mut self, check: Arc<dyn Check>) -> Self {
        self.checks.own = Some(check);
        self
    }

    /// The tool as it is listed.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Marks the tool as one of another server, such as a gateway passes on. It has no
    /// [lints](crate::Server::lints): who runs the program cannot change the tool.
    #[must_use]
    pub fn forwarded(mut self) -> Self {
        self.is_forwarded = true;
        self
    }

    /// Sets when a call becomes a task, for clients that declare the tasks extension. The server needs
    /// [`Server::tasks`](crate::Server::tasks).
    ///
    /// Layers see the call until it is answered: with its result, or with the created task. A time limit
    /// of a layer does not end a task.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use mcp::prelude::*;
    /// use mcp::tasks::TaskMode;
    ///
    /// let tool = Tool::new("render")
    ///     .handler(async |progress: Progress| {
    ///         progress.report(1.0, 2.0, "half").await;
    ///         "done"
    ///     })
    ///     .task(TaskMode::After(Duration::from_secs(1)));
    /// ```
    // spec: TASK-02
    #[must_use]
    pub fn task(mut self, mode: TaskMode) -> Self {
        self.task_mode = mode;
        self
    }

    /// Returns true if calls can become tasks.
    pub(crate) fn can_be_task(&self) -> bool {
        self.task_mode != TaskMode::Never
    }

    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.spec
    }

    /// The arguments that are mirrored in HTTP headers.
    pub(crate) fn param_headers(&self) -> Option<&Arc<ParamHeaders>> {
        self.param_headers.as_ref()
    }

    pub(super) fn rename(&mut self, name: String) {
        Arc::make_mut(&mut self.tool).name = name;
    }

    pub(crate) fn call(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        // spec: XHDR-17
        if self.param_headers.is_some()
            && let Some(mismatch) = call.extensions().get::<HeaderMismatch>()
        {
            return Box::pin(ready(mismatch.0.clone().into()));
        }
        self.scope.run(call, self, Self::call_checked)
    }

    fn call_checked(&self, mut call: CallContext) -> BoxFuture<'static, Reply> {
        if let Err(reply) = self.checks.check_arguments(&self.tool, &mut call) {
            return Box::pin(ready(reply));
        }
        match call.tasks() {
            Some(tasks) if self.can_be_task() => {
                let tasks = tasks.clone();
                self.call_as_task(&tasks, call)
            }
            _ => self.call_handler(call),
        }
    }

    /// Lets the engine decide if the call becomes a task. The arguments are valid, and all layers have
    /// admitted the call.
    fn call_as_task(&self, tasks: &ServerTasks, call: CallContext) -> BoxFuture<'static, Reply> {
        let (exchange, context) = call.into_parts();
        let route = self.clone();
        let run: TaskCall = Box::new(move |exchange| {
            route.call_handler(CallContext::from_parts(exchange, context))
        });
        let profile = tasks.profile.clone();
        tasks.engine.run(exchange, self.task_mode, profile, run)
    }

    fn call_handler(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        let Self { tool, checks, .. } = self;
        let output_check = checks.output_check(tool, call.validation());
        let is_structured_only = call.is_structured_only();
        let version = call.facts().version;
        let asks_in_session = self.spec.needs.input_round && !version.is_modern();
        let mut reply = (self.handler)(call, tool.clone());
        if asks_in_session {
            reply = Box::pin(async move { missing_capability_as_result(reply.await) });
        }
        if let Some(check) = output_check {
            reply = check.apply(tool.clone(), reply);
        }
        if is_structured_only {
            reply = Box::pin(async move { without_repeated_text(reply.await) });
        }
        if self.wraps_structure && !version.has_free_structure() {
            return Box::pin(async move { with_wrapped_structure(reply.await) });
        }
        reply
    }

    /// Returns true if another server answers the calls.
    pub(crate) fn is_forwarded(&self) -> bool {
        self.is_forwarded
    }

    /// Returns why clients or the validator cannot use the tool's schemas. A forwarded tool may have any
    /// schema.
    // spec: TOOL-06
    pub(crate) fn schema_problems(&self, validation: &Validation) -> Vec<String> {
        let mut problems = self.checks.problems(&self.tool, validation);
        if !self.is_forwarded {
            problems.extend(self.checks.limit_problem(validation));
        }
        let root = self.tool.input_schema.get("type");
        if !self.is_forwarded && root.is_none_or(|kind| kind != "object") {
            let given = root.map_or("is absent".to_owned(), |kind| format!("is {kind}"));
            problems.push(format!(
                "its input schema: `type` {given}, and clients refuse a list with such a tool; \
                 arguments are an object, so add `\"type\": \"object\"`"
            ));
        }
        problems
    }

    /// Returns why clients may refuse the tool.
    pub(crate) fn lints(&self, validation: &Validation) -> Vec<Lint> {
        if self.is_forwarded {
            return Vec::new();
        }
        let mut lints = self.checks.lints(&self.tool, validation);
        let asks_in_task = matches!(self.task_mode, TaskMode::Always | TaskMode::Required);
        if self.spec.needs.input_round && !asks_in_task && !is_repeatable(&self.tool) {
            lints.push(Lint::rerun(&self.tool));
        }
        lints
    }
}

/// Removes the text that repeats the structured content.
fn without_repeated_text(mut reply: Reply) -> Reply {
    if let Reply::Complete { body, .. } = &mut reply {
        if let ResultBody::Raw(_) = body
            && let Some(result) = tool_result(body).map(Cow::into_owned)
        {
            *body = result.into();
        }
        if let ResultBody::CallTool(result) = body
            && let (Some(structured), [only]) = (&result.structured_content, &*result.content)
            && ContentBlock::as_text(only) == Some(structured.get())
        {
            result.content.clear();
        }
    }
    reply
}

/// Marks the result, whose structured content the wire wraps.
// spec: TOOL-18
fn with_wrapped_structure(mut reply: Reply) -> Reply {
    if let Reply::Complete { body, .. } = &mut reply {
        body.wrap_structure();
    }
    reply
}

/// Converts the fault for a missing capability into a failed result. Revisions with sessions have no error code for
/// it, and hosts end the model's run at a protocol error.
// spec: TOOL-20
fn missing_capability_as_result(reply: Reply) -> Reply {
    match reply {
        Reply::Fault(fault @ Fault::MissingCapability { .. }) => {
            CallToolResult::error(fault.to_string()).into()
        }
        reply => reply,
    }
}

/// Returns whether a second run of the tool has no further effects, as its hints say.
fn is_repeatable(tool: &Tool) -> bool {
    let hints = tool.annotations.as_ref();
    hints.is_some_and(|hints| {
        hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true)
    })
}

impl<R: Into<ResultBody>> CallTarget<Result<R, ToolError>> for Arc<Tool> {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(&self, output: Result<R, ToolError>, masks_errors: bool) -> Reply {
        match output {
            Ok(result) => result.into().into(),
            Err(error) => error.into_reply(&self.name, masks_errors),
        }
    }

    fn is_repeatable(&self) -> bool {
        is_repeatable(self)
    }
}

impl fmt::Debug for ToolRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRoute")
            .field("tool", &self.tool.name)
            .finish_non_exhaustive()
    }
}
