//! What is checked around the handler of a tool: its arguments before, its structured content after.

use std::fmt;
use std::sync::{Arc, OnceLock};

use mcp_core::schema::{self, Check, Lint, SchemaError, Validator};
use mcp_core::{BoxFuture, Fault, Reply, ResultBody};
use mcp_types::{JsonObject, RawObject, Tool};
use serde_json::Value;

use super::ToolError;
use crate::checking::Checking;
use crate::constraints::{Constraints, Values};
use crate::context::CallContext;
use crate::rejection::{ArgumentError, Rejection};

/// What is checked of one tool.
#[derive(Debug, Clone)]
pub(super) struct ToolChecks {
    /// The input schema was given by hand: no type checks what it says.
    by_hand: bool,
    constraints: Option<Arc<Constraints>>,
    /// Made when first needed, for the validator of the server that the tool is in.
    full: Arc<OnceLock<Full>>,
}

/// A schema and its check, or why it has none.
type Compiled = Result<Arc<dyn Check>, SchemaError>;

/// The checks of a tool's schemas by a validator.
#[derive(Debug, Clone)]
struct Full {
    validator: Arc<dyn Validator>,
    input: Option<Compiled>,
    output: Option<Compiled>,
}

impl Full {
    fn new(validator: &Arc<dyn Validator>, tool: &Tool, by_hand: bool) -> Self {
        let compile = |schema: &Arc<JsonObject>| validator.compile(schema);
        Self {
            validator: validator.clone(),
            input: by_hand.then(|| compile(&tool.input_schema)),
            output: tool.output_schema.as_ref().map(compile),
        }
    }
}

impl ToolChecks {
    pub(super) fn new(by_hand: bool, constraints: Option<Constraints>) -> Self {
        Self {
            by_hand,
            constraints: constraints.map(Arc::new),
            full: Arc::default(),
        }
    }

    /// The checks by the validator of a server, made once.
    fn full(&self, tool: &Tool, checking: &Checking) -> Option<Full> {
        let validator = checking.validator.as_ref()?;
        let new = || Full::new(validator, tool, self.by_hand);
        let full = self.full.get_or_init(new);
        // A route that two servers share has the checks of the first one.
        Some(match Arc::ptr_eq(&full.validator, validator) {
            true => full.clone(),
            false => new(),
        })
    }

    /// Checks the arguments of a call, and reads them leniently where the server says so. Gives the
    /// answer to those that do not fit.
    // spec: TOOL-20, TOOL-22
    pub(super) fn refuse(&self, tool: &Tool, call: &mut CallContext) -> Option<Reply> {
        if let Some(coerce) = call.checking().lenient
            && let Some(arguments) = call.arguments()
            && let Some(coerced) = coerce(arguments, &tool.input_schema)
        {
            call.set_arguments(coerced);
        }
        let by_validator = self.full(tool, call.checking()).and_then(|full| full.input);
        let checked = match (by_validator, &self.constraints) {
            (Some(Ok(check)), _) => check_all(&*check, call.arguments()),
            (Some(Err(error)), _) => return Some(unusable(tool, "input", &error)),
            (None, Some(constraints)) => constraints.check(call.arguments(), Values::Json),
            (None, None) => Ok(()),
        };
        let rejection = Rejection::Arguments(checked.err()?);
        Some(ToolError::rejected(rejection).into_reply(&tool.name))
    }

    /// The check of what the handler gives, when a validator can.
    // spec: TOOL-16
    pub(super) fn of_output(&self, tool: &Tool, checking: &Checking) -> Option<OutputCheck> {
        let output = self.full(tool, checking)?.output?;
        Some(OutputCheck(output))
    }

    /// Schemas that the validator of a server cannot use.
    // spec: JSCH-02, JSCH-04, JSCH-06
    pub(super) fn problems(&self, tool: &Tool, checking: &Checking) -> Vec<String> {
        let Some(full) = self.full(tool, checking) else {
            return Vec::new();
        };
        let schemas = [("input", full.input), ("output", full.output)];
        let errors = schemas
            .into_iter()
            .filter_map(|(which, compiled)| Some((which, compiled?.err()?)));
        errors
            .map(|(which, error)| format!("its {which} schema: {error}"))
            .collect()
    }

    /// What clients are known to refuse in the tool, and what of its schema nobody checks.
    pub(super) fn lints(&self, tool: &Tool, checking: &Checking) -> Vec<Lint> {
        let mut lints = schema::lint(tool);
        let by_validator = self.by_hand && checking.validator.is_some();
        if self.by_hand && !by_validator && says_something(&tool.input_schema) {
            lints.push(Lint::unchecked(tool));
        }
        if let (Some(constraints), false) = (&self.constraints, by_validator) {
            let places = constraints.unread().iter();
            let place = |place| format!("inputSchema{place}");
            lints.extend(places.map(|at| Lint::unchecked_pattern(tool, &place(at))));
        }
        lints
    }
}

/// Looks at what a handler gives.
pub(super) struct OutputCheck(Compiled);

impl OutputCheck {
    pub(super) fn around(
        self,
        tool: Arc<Tool>,
        running: BoxFuture<'static, Reply>,
    ) -> BoxFuture<'static, Reply> {
        Box::pin(async move {
            let reply = running.await;
            let Reply::Complete { body, .. } = &reply else {
                return reply;
            };
            let ResultBody::CallTool(result) = body else {
                return reply;
            };
            match &self.0 {
                Err(error) => unusable(&tool, "output", error),
                Ok(check) => match schema::check_result(&**check, result) {
                    Ok(()) => reply,
                    Err(reason) => broken(&tool, &reason),
                },
            }
        })
    }
}

/// A schema that says more than that arguments are an object.
fn says_something(schema: &JsonObject) -> bool {
    let is_empty = |value: &Value| value.as_object().is_some_and(JsonObject::is_empty);
    schema.iter().any(|(keyword, value)| match &**keyword {
        "type" | "$schema" | "title" | "description" => false,
        "properties" => !is_empty(value),
        "additionalProperties" => *value != Value::Bool(true),
        _ => true,
    })
}

fn check_all(check: &dyn Check, arguments: Option<&RawObject>) -> Result<(), ArgumentError> {
    let arguments = arguments.map_or_else(
        || Ok(Value::Object(JsonObject::new())),
        RawObject::parse::<Value>,
    );
    let arguments = arguments.map_err(|error| ArgumentError::new("", error.to_string()))?;
    Ok(check.check(&arguments)?)
}

fn unusable(tool: &Tool, which: &str, error: &dyn fmt::Display) -> Reply {
    tracing::error!(tool = tool.name, %error, "its {which} schema cannot be checked");
    let name = &tool.name;
    Fault::internal(format!(
        "the {which} schema of the tool `{name}` cannot be checked: {error}"
    ))
    .into()
}

fn broken(tool: &Tool, reason: &str) -> Reply {
    tracing::error!(
        tool = tool.name,
        reason,
        "the result breaks the output schema"
    );
    let name = &tool.name;
    Fault::internal(format!(
        "the result of the tool `{name}` breaks its output schema: {reason}"
    ))
    .into()
}
