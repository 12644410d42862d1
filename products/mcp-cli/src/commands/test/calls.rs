//! Calls with samples and with broken arguments.

use std::time::Duration;

use mcp::schema::{JsonSchema, Validator as _, check_result};
use mcp::types::Tool;
use mcp::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};

use super::broken::{Broken, Kind, broken};
use super::callable::Callable;
use super::report::{Check, Confidence, Finding, shorten};
use super::samples::Samples;
use super::session::{Outcome, TestSession};
use crate::failure::Failure;

/// A name that no server has.
const NO_TOOL: &str = "no_such_tool_of_mcp_test";
/// Number of characters from which an error is too long for a model.
const LONG_ERROR: usize = 20_000;
/// Texts of stack traces.
const TRACES: [&str; 5] = [
    "Traceback (most recent call last)",
    "panicked at ",
    "\n    at ",
    "goroutine ",
    "stack backtrace:",
];
const SURVIVE: &str =
    "catch every error in the handler: the server must answer the call and stay alive";
const ANSWER: &str = "give the work a time limit, and answer with a tool error when it passes";
const NAME_IT: &str = "return a tool error (`isError`) that names the argument and what it must be";
pub(super) const OUTPUT_REPAIR: &str =
    "correct the result or the `outputSchema`; clients refuse such results";
const DROPPED_REPAIR: &str =
    "answer with content alone: put the data into a text block, or images into a tool of their own";
const TOOL_ERROR: &str = "return a tool error (`isError`) with a text that says what to do instead";

/// Calls that succeed, for checks that repeat them.
pub(super) struct GoodCalls {
    pub(super) fastest: GoodCall,
    pub(super) slowest: GoodCall,
}

/// A call that succeeds.
#[derive(Clone)]
pub(super) struct GoodCall {
    pub(super) tool: String,
    pub(super) args: Map<String, Value>,
    pub(super) took: Duration,
}

/// Calls each tool with samples, and keeps the fastest and the slowest call that succeeded.
pub(super) async fn examples(
    session: &mut TestSession<'_>,
    callable: &Callable,
    good: &mut Option<GoodCalls>,
    check: &mut Check,
) -> Result<(), Failure> {
    callable.skip(check);
    let (mut calls, mut errors) = (0, 0);
    for tool in &callable.tools {
        let samples = Samples::new(tool, session.seed());
        if samples.valid.is_empty() {
            let found = Finding::new(
                Confidence::Possible,
                "no-example",
                format!("tool `{}`", tool.name),
                "no arguments could be made that match the schema",
                "add `examples` to the schema or its properties; a model needs them, too",
            );
            check.add(found.warning());
        }
        let mut drops_content = false;
        for args in samples.valid {
            let place = place(tool, &args);
            let (outcome, took) = session.call(&tool.name, &args).await?;
            calls += 1;
            if let Outcome::Result(result) = &outcome {
                errors += usize::from(result.is_error());
                drops_content |= has_dropped_content(result);
                if !result.is_error() {
                    let tool = tool.name.clone();
                    keep(good, GoodCall { tool, args, took });
                }
            }
            let has_ended = is_end(&outcome);
            judge_example(tool, &place, outcome, check);
            if has_ended {
                break;
            }
        }
        if drops_content {
            let place = format!("tool `{}`", tool.name);
            let what = "a result has structured content and other blocks than text: Claude Code gives the model the structured content alone";
            let rule = "dropped-content";
            let found = Finding::new(Confidence::Likely, rule, place, what, DROPPED_REPAIR);
            check.add(found.warning());
        }
    }
    if calls > 0 {
        let tools = callable.tools.len();
        check.detail = format!("{calls} calls of {tools} tools; {errors} tool errors");
    }
    Ok(())
}

/// Returns true if a client that prefers structured content loses blocks, such as images.
fn has_dropped_content(result: &CallToolResult) -> bool {
    let is_text = |block: &ContentBlock| matches!(block, ContentBlock::Text(_));
    result.structured_content.is_some() && !result.is_error() && !result.content.iter().all(is_text)
}

fn keep(good: &mut Option<GoodCalls>, call: GoodCall) {
    match good {
        None => {
            let fastest = call.clone();
            *good = Some(GoodCalls {
                fastest,
                slowest: call,
            });
        }
        Some(good) if call.took < good.fastest.took => good.fastest = call,
        Some(good) if call.took > good.slowest.took => good.slowest = call,
        Some(_) => {}
    }
}

fn judge_example(tool: &Tool, place: &str, outcome: Outcome, check: &mut Check) {
    match outcome {
        Outcome::Result(result) => {
            judge_result(place, &result, check);
            let schema = tool.output_schema.as_ref();
            let compiled = schema.and_then(|schema| JsonSchema.compile(schema).ok());
            if let Some(problem) =
                compiled.and_then(|compiled| check_result(&*compiled, &result).err())
            {
                check.add(Finding::new(
                    Confidence::Certain,
                    "output-schema",
                    place,
                    format!("the result breaks the output schema: {problem}"),
                    OUTPUT_REPAIR,
                ));
            }
        }
        Outcome::Refused(message) => {
            let what = format!("refuses arguments that match its schema: {message}");
            let repair = "say the rule in the schema (`enum`, `pattern`, `examples`), or return a tool error";
            let found = Finding::new(Confidence::Possible, "refused-example", place, what, repair);
            check.add(found.warning());
        }
        other => judge_end(place, other, check),
    }
}

/// Calls each tool with broken arguments, and a tool that does not exist.
pub(super) async fn arguments(
    session: &mut TestSession<'_>,
    callable: &Callable,
    check: &mut Check,
) -> Result<(), Failure> {
    callable.skip(check);
    let mut calls = 0;
    for tool in &callable.tools {
        let samples = Samples::new(tool, session.seed());
        for case in broken(&tool.input_schema, &samples) {
            let place = format!("tool `{}`, {}", tool.name, case.describe());
            let (outcome, _) = session.call(&tool.name, &case.args).await?;
            calls += 1;
            let has_ended = is_end(&outcome);
            // Without a valid sample, the arguments have other mistakes, which the error may name.
            let is_only_mistake = !samples.valid.is_empty();
            judge_broken(&place, &case, is_only_mistake, outcome, check);
            if has_ended {
                check.skip(format!("further mistakes with `{}`", tool.name));
                break;
            }
        }
    }
    let place = "a tool that does not exist";
    match session.call(NO_TOOL, &Map::new()).await?.0 {
        Outcome::Result(result) if !result.is_error() => check.add(Finding::new(
            Confidence::Certain,
            "unknown-tool",
            place,
            "the call succeeds",
            "answer with the JSON-RPC error -32602 or a tool error",
        )),
        Outcome::Result(_) | Outcome::Refused(_) | Outcome::Failed(_) => {}
        outcome => judge_end(place, outcome, check),
    }
    if let Some(problem) = session.ping().await? {
        check.add(Finding::new(
            Confidence::Certain,
            "crash",
            "after all calls",
            problem,
            SURVIVE,
        ));
    }
    check.detail = format!("{} calls of {} tools", calls + 1, callable.tools.len());
    Ok(())
}

fn judge_broken(
    place: &str,
    case: &Broken,
    is_only_mistake: bool,
    outcome: Outcome,
    check: &mut Check,
) {
    let must_name = case.is_forbidden && is_only_mistake && has_name(case.kind);
    let is_named = |text: &str| text.contains(&case.argument);
    match outcome {
        Outcome::Result(result) if result.is_error() => {
            judge_result(place, &result, check);
            let text = result.text();
            if must_name && !is_named(&text) {
                unnamed(place, &text, check);
            }
        }
        Outcome::Result(_) if case.is_forbidden => {
            let found = Finding::new(
                Confidence::Certain,
                "accepted",
                place,
                "the call succeeds, although the schema forbids the arguments",
                "check the arguments against the schema before the handler runs",
            );
            let is_lost = matches!(case.kind, Kind::Missing | Kind::WrongType | Kind::NotInEnum);
            check.add(if is_lost { found } else { found.warning() });
        }
        Outcome::Result(_) => {}
        Outcome::Refused(message) => {
            if must_name && !is_named(&message) {
                unnamed(place, &message, check);
            }
            if case.is_forbidden {
                let what = "a mistake in arguments is a JSON-RPC error, which many hosts do not show to the model";
                let found =
                    Finding::new(Confidence::Possible, "protocol-error", place, what, NAME_IT);
                check.add(found.warning());
            }
        }
        other => judge_end(place, other, check),
    }
}

fn has_name(kind: Kind) -> bool {
    !matches!(kind, Kind::Huge | Kind::Deep)
}

fn unnamed(place: &str, message: &str, check: &mut Check) {
    let what = format!("the error does not name the argument: {message}");
    check.add(Finding::new(Confidence::Likely, "unnamed-argument", place, what, NAME_IT).warning());
}

/// Judges what a model reads.
fn judge_result(place: &str, result: &CallToolResult, check: &mut Check) {
    if !result.is_error() {
        return;
    }
    let text = result.text();
    let mut add = |confidence, rule, what: String, repair| {
        check.add(Finding::new(confidence, rule, place, what, repair).warning());
    };
    if text.trim().is_empty() {
        let what = "the tool error has no text".to_owned();
        add(Confidence::Certain, "empty-error", what, TOOL_ERROR);
    }
    if TRACES.iter().any(|trace| text.contains(trace)) {
        let what = format!("the tool error contains a stack trace: {text}");
        let repair = "log the trace, and tell the model what to do instead";
        add(Confidence::Likely, "stack-trace", what, repair);
    }
    let length = text.chars().count();
    if length > LONG_ERROR {
        let what = format!("the tool error has {length} characters");
        let repair = "cut arguments that the error repeats";
        add(Confidence::Certain, "long-error", what, repair);
    }
}

/// Judges a call without a result.
fn judge_end(place: &str, outcome: Outcome, check: &mut Check) {
    let (confidence, rule, what, repair) = match outcome {
        Outcome::Result(_) | Outcome::Refused(_) => return,
        Outcome::Unable => {
            check.skip(format!(
                "{place}: asks the client for what this one does not have"
            ));
            return;
        }
        Outcome::Failed(message) => {
            let what = format!("the call fails with a JSON-RPC error: {message}");
            (Confidence::Likely, "internal-error", what, TOOL_ERROR)
        }
        Outcome::Hung => {
            let what = "no response in time; --timeout sets the limit".to_owned();
            (Confidence::Likely, "hang", what, ANSWER)
        }
        Outcome::Crashed(message) => (Confidence::Certain, "crash", message, SURVIVE),
        Outcome::Malformed(message) => {
            let repair = "answer with a message of the protocol";
            (Confidence::Certain, "malformed", message, repair)
        }
    };
    check.add(Finding::new(confidence, rule, place, what, repair));
}

fn is_end(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Hung | Outcome::Crashed(_))
}

fn place(tool: &Tool, args: &Map<String, Value>) -> String {
    let args = serde_json::to_string(args).unwrap_or_default();
    shorten(&format!("tool `{}`, arguments {args}", tool.name))
}
