//! Checks the arguments of a tool before its handler runs, and its structured content afterwards.

use std::fmt;
use std::sync::{Arc, OnceLock};

use mcp_core::schema::{self, Check, Lint, SchemaError, Validator};
use mcp_core::{BoxFuture, Fault, Reply, wire};
use mcp_types::{JsonObject, RawObject, Tool};
use serde_json::Value;

use crate::call::{CallContext, RouteSpec};
use crate::constraints::{ArgumentFormat, Constraints};
use crate::rejection::{ArgumentError, Rejection};
use crate::result::ToolError;
use crate::schema::{DroppedArguments, InputSchema, convert_strings, explain};
use crate::validation::Validation;

/// Checks of one tool.
#[derive(Debug, Clone)]
pub(super) struct ToolChecks {
    /// The input schema is the author's; no Rust type checks it.
    is_raw: bool,
    /// The tool takes no arguments, as its schema says.
    has_no_arguments: bool,
    /// The published input schema.
    schema: InputSchema,
    /// Constraints of the type's own schema, from before it was made fit for models.
    constraints: Option<Arc<Constraints>>,
    /// Arguments of a Rust type that drops wrong values.
    dropped: Option<Arc<DroppedArguments>>,
    /// The route's own check of the arguments, instead of the server's validator.
    pub(super) own: Option<Arc<dyn Check>>,
    /// Compiled at the first use, for the validator of the tool's server.
    compiled: Arc<OnceLock<CompiledSchemas>>,
}

/// A compiled schema, or why the validator cannot use it.
type CompiledSchema = Result<Arc<dyn Check>, SchemaError>;

/// The schemas of a tool, compiled by a validator.
#[derive(Debug, Clone)]
struct CompiledSchemas {
    validator: Arc<dyn Validator>,
    /// Only for raw input schemas without a check of their own.
    input: Option<CompiledSchema>,
    output: Option<CompiledSchema>,
}

impl CompiledSchemas {
    fn new(validator: &Arc<dyn Validator>, tool: &Tool, has_raw_input: bool) -> Self {
        let compile = |schema: &Arc<JsonObject>| validator.compile(schema);
        Self {
            validator: validator.clone(),
            input: has_raw_input.then(|| compile(&tool.input_schema)),
            output: tool.output_schema.as_ref().map(compile),
        }
    }
}

impl ToolChecks {
    /// Takes the argument schema of the handler out of `spec` and publishes it, unless `is_raw`.
    pub(super) fn new(is_raw: bool, tool: &mut Tool, spec: &mut RouteSpec) -> Self {
        let generated = spec.input_schema.clone().filter(|_| !is_raw);
        let has_no_arguments = generated.is_none() && !is_raw;
        let schema = generated.unwrap_or_else(|| InputSchema::new(tool.input_schema.clone()));
        tool.input_schema = schema.json().clone();
        let (constraints, dropped) = (spec.constraints.take(), spec.dropped.take());
        Self {
            is_raw,
            has_no_arguments,
            schema,
            constraints: constraints.map(Arc::new),
            dropped: dropped.filter(|_| !is_raw).map(Arc::new),
            own: None,
            compiled: Arc::default(),
        }
    }

    fn constraints(&self) -> Option<&Constraints> {
        if self.is_raw {
            self.schema.constraints()
        } else {
            self.constraints.as_deref()
        }
    }

    /// Returns whether the arguments are checked by JSON Schema, and not by [constraints](Self::constraints).
    fn is_validated(&self, validation: &Validation) -> bool {
        self.own.is_some() || (self.is_raw && validation.validator.is_some())
    }

    /// Returns the schemas compiled by the server's validator, if it has one.
    fn compiled(&self, tool: &Tool, validation: &Validation) -> Option<CompiledSchemas> {
        let validator = validation.validator.as_ref()?;
        let has_raw_input = self.is_raw && self.own.is_none();
        let compile = || CompiledSchemas::new(validator, tool, has_raw_input);
        let compiled = self.compiled.get_or_init(compile);
        // A second server that has the same route may have another validator.
        Some(if Arc::ptr_eq(&compiled.validator, validator) {
            compiled.clone()
        } else {
            compile()
        })
    }

    /// Checks the arguments of a call. On a lenient server it converts strings in them first.
    ///
    /// # Errors
    ///
    /// Returns the reply for arguments that do not match.
    // spec: TOOL-20, TOOL-22
    pub(super) fn check_arguments(&self, tool: &Tool, call: &mut CallContext) -> Result<(), Reply> {
        if call.validation().lenient
            && let Some(arguments) = call.arguments()
            && let Some(converted) = convert_strings(arguments, &self.schema)
        {
            call.set_arguments(converted);
        }
        let kept = self.check_dropped(call);
        let own = self.own.clone().map(Ok);
        let input = own.or_else(|| self.compiled(tool, call.validation())?.input);
        let checked = match (input, self.constraints()) {
            _ if kept.is_err() => kept,
            (Some(Ok(check)), _) => check_json_schema(&*check, call.arguments()),
            (Some(Err(error)), _) => return Err(unusable_schema(tool, "input", &error)),
            (None, Some(constraints)) => constraints.check(call.arguments(), ArgumentFormat::Json),
            (None, None) if self.has_no_arguments => check_absent(call.arguments()),
            (None, None) => Ok(()),
        };
        checked.map_err(|error| {
            let error = match (self.is_raw, call.arguments()) {
                (false, Some(arguments)) => {
                    explain(error, &self.schema, arguments, ArgumentFormat::Json)
                }
                _ => error,
            };
            let error = ToolError::from_rejection(Rejection::Arguments(error));
            error.into_reply(&tool.name, false)
        })
    }

    /// Checks the arguments that the tool's type would drop, and repairs them.
    fn check_dropped(&self, call: &mut CallContext) -> Result<(), ArgumentError> {
        if let (Some(dropped), Some(arguments)) = (&self.dropped, call.arguments())
            && let Some(repaired) = dropped.check(arguments)?
        {
            call.set_arguments(repaired);
        }
        Ok(())
    }

    /// Returns the check of structured content, if the server has a validator and the tool a schema.
    // spec: TOOL-16
    pub(super) fn output_check(&self, tool: &Tool, validation: &Validation) -> Option<OutputCheck> {
        let output = self.compiled(tool, validation)?.output?;
        Some(OutputCheck(output))
    }

    /// Returns why the validator cannot use the schemas.
    // spec: JSCH-02, JSCH-04, JSCH-06
    pub(super) fn problems(&self, tool: &Tool, validation: &Validation) -> Vec<String> {
        let Some(compiled) = self.compiled(tool, validation) else {
            return Vec::new();
        };
        let schemas = [("input", compiled.input), ("output", compiled.output)];
        let errors = schemas
            .into_iter()
            .filter_map(|(name, compiled)| Some((name, compiled?.err()?)));
        errors
            .map(|(name, error)| format!("its {name} schema: {error}"))
            .collect()
    }

    /// Returns why the constraints of a raw schema cannot be checked.
    pub(super) fn limit_problem(&self, validation: &Validation) -> Option<String> {
        let is_needed = self.is_raw && !self.is_validated(validation);
        let error = self.schema.parsed().err().filter(|_| is_needed)?;
        Some(format!("its input schema: {error}"))
    }

    /// Returns why clients may refuse the tool, and which parts of its schemas are not checked.
    pub(super) fn lints(&self, tool: &Tool, validation: &Validation) -> Vec<Lint> {
        let mut lints = schema::lint(tool);
        let is_validated = self.is_validated(validation);
        if self.is_raw && !is_validated && is_restrictive(&tool.input_schema) {
            lints.push(Lint::unchecked(tool));
        }
        if let (Some(constraints), false) = (self.constraints(), is_validated) {
            let pointers = constraints.unsupported_patterns.iter();
            lints
                .extend(pointers.map(|pointer| {
                    Lint::unchecked_pattern(tool, &format!("inputSchema{pointer}"))
                }));
        }
        lints
    }
}

/// Checks the structured content of a tool.
pub(super) struct OutputCheck(CompiledSchema);

impl OutputCheck {
    /// Waits for the reply and replaces it by a fault if it violates the output schema.
    pub(super) fn apply(
        self,
        tool: Arc<Tool>,
        reply: BoxFuture<'static, Reply>,
    ) -> BoxFuture<'static, Reply> {
        Box::pin(async move {
            let reply = reply.await;
            let Reply::Complete { body, .. } = &reply else {
                return reply;
            };
            let Some(result) = wire::tool_result(body) else {
                return reply;
            };
            match &self.0 {
                Err(error) => unusable_schema(&tool, "output", error),
                Ok(check) => match schema::check_result(&**check, &result) {
                    Ok(()) => reply,
                    Err(reason) => invalid_result(&tool, &reason),
                },
            }
        })
    }
}

/// Returns whether a schema says more than that arguments are an object.
fn is_restrictive(schema: &JsonObject) -> bool {
    let is_empty = |value: &Value| value.as_object().is_some_and(JsonObject::is_empty);
    schema.iter().any(|(keyword, value)| match &**keyword {
        "type" | "$schema" | "title" | "description" => false,
        "properties" => !is_empty(value),
        "additionalProperties" => *value != Value::Bool(true),
        _ => true,
    })
}

/// Checks that a call of a tool without parameters has no arguments.
fn check_absent(arguments: Option<&RawObject>) -> Result<(), ArgumentError> {
    let mut members = arguments
        .into_iter()
        .flat_map(|object| object.as_raw().members());
    match members.next() {
        Some((name, _)) => Err(ArgumentError::new("", format!("unknown `{name}`"))),
        None => Ok(()),
    }
}

fn check_json_schema(
    check: &dyn Check,
    arguments: Option<&RawObject>,
) -> Result<(), ArgumentError> {
    let arguments = arguments.map_or_else(
        || Ok(Value::Object(JsonObject::new())),
        RawObject::parse::<Value>,
    );
    let arguments = arguments.map_err(|error| ArgumentError::new("", error.to_string()))?;
    Ok(check.check(&arguments)?)
}

fn unusable_schema(tool: &Tool, which: &str, error: &dyn fmt::Display) -> Reply {
    tracing::error!(tool = tool.name, schema = which, error = %mcp_types::escaped(&error), "a schema cannot be checked");
    let name = &tool.name;
    Fault::internal(format!(
        "the {which} schema of the tool `{name}` cannot be checked: {error}"
    ))
    .into()
}

fn invalid_result(tool: &Tool, reason: &str) -> Reply {
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
