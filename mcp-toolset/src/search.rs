//! Three tools instead of all: `search_tools` finds tools for a task, `describe_tools` returns their definitions, and
//! `call_tool` calls one.
//!
//! The functions work on any list of tools with unique names, such as those that one caller of a gateway may see.
//!
//! # Examples
//!
//! ```
//! use mcp::prelude::*;
//! use mcp::toolset::{WordRanker, search};
//! use serde_json::json;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = [
//!     Tool::new("files__create_directory").description("Creates a directory"),
//!     Tool::new("mail__send").description("Sends an email"),
//! ];
//! let arguments = serde_json::from_value(json!({"queries": ["make a new folder", "mkdir"]}))?;
//! let found = search::search_tools(&WordRanker::new(), &tools, Some(&arguments)).await;
//! assert!(found.text().contains("files__create_directory"));
//! assert!(!found.text().contains("mail__send"));
//! # Ok(())
//! # }
//! ```

use std::sync::Arc;

use mcp_types::{CallToolParams, CallToolResult, JsonObject, RawObject, Tool, escape_json};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::rank::Ranker;

/// Name of the tool that finds tools.
pub const SEARCH_TOOLS: &str = "search_tools";
/// Name of the tool that returns definitions.
pub const DESCRIBE_TOOLS: &str = "describe_tools";
/// Name of the tool that calls another one.
pub const CALL_TOOL: &str = "call_tool";

/// Phrasings of one search. Further ones are ignored.
const MAX_QUERIES: usize = 4;
/// Characters of a phrasing that are read.
const MAX_QUERY_CHARS: usize = 400;
/// Default number of found tools, and the largest one.
const DEFAULT_LIMIT: usize = 5;
const MAX_LIMIT: usize = 20;
/// Definitions in one answer.
const MAX_NAMES: usize = 20;
/// JSON size of the definitions in one answer, in bytes.
const MAX_DEFINITION_BYTES: usize = 200_000;
/// Maximum length of a description in a search result, in characters.
const MAX_LINE_CHARS: usize = 160;

/// Returns the definitions of the three tools.
pub fn tools() -> [Tool; 3] {
    let search = json!({
        "type": "object",
        "properties": {
            "queries": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": MAX_QUERIES,
                "description": "Phrasings of one task, in English: the words of the task, synonyms, and the object \
                    that the tool works on. Three find more than one.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_LIMIT,
                "description": "Number of tools to return. Default: 5.",
            },
        },
        "required": ["queries"],
    });
    let describe = json!({
        "type": "object",
        "properties": {
            "names": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": MAX_NAMES,
                "description": "Names of tools, as search_tools returns them.",
            },
        },
        "required": ["names"],
    });
    let call = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Name of a tool, as search_tools returns it."},
            "arguments": {
                "type": "object",
                "description": "Arguments of the tool, as its input schema in describe_tools requires.",
                "additionalProperties": true,
            },
        },
        "required": ["name"],
    });
    [
        tool(SEARCH_TOOLS, search)
            .description(
                "Finds tools for a task. Most tools are not listed: search before you say that something is not \
                 possible. Returns names, one line each, and required arguments.",
            )
            .read_only()
            .open_world(false),
        tool(DESCRIBE_TOOLS, describe)
            .description("Returns the definitions of tools with the schemas of their arguments.")
            .read_only()
            .open_world(false),
        tool(CALL_TOOL, call).description(
            "Calls a tool that search_tools has found, and returns its result. Read its schema with describe_tools \
             before the first call.",
        ),
    ]
}

pub(crate) fn tool(name: &str, schema: Value) -> Tool {
    match schema {
        Value::Object(schema) => Tool::new(name).input_schema(schema),
        _ => Tool::new(name),
    }
}

/// A found tool, as the model reads it.
#[derive(Serialize)]
struct Found<'a> {
    name: &'a str,
    description: String,
    required_arguments: Vec<&'a str>,
}

/// Answers a call of `search_tools`: the tools of a list that serve a task, the best first. If none does, the result
/// is an empty list with a hint.
///
/// A mistake in the arguments is a failed result that names the argument.
pub async fn search_tools(
    ranker: &dyn Ranker,
    tools: &[Tool],
    arguments: Option<&RawObject>,
) -> CallToolResult {
    let arguments = parse(arguments);
    let queries = match strings(&arguments, "queries") {
        Ok(queries) => queries,
        Err(problem) => return CallToolResult::error(problem),
    };
    let limit = match arguments.get("limit") {
        None | Some(Value::Null) => DEFAULT_LIMIT,
        Some(limit) => match limit.as_f64() {
            Some(limit) if limit >= 1.0 => (limit as usize).min(MAX_LIMIT),
            _ => {
                let problem = format!("argument `limit` must be a number from 1 to {MAX_LIMIT}");
                return CallToolResult::error(problem);
            }
        },
    };
    let queries = queries.into_iter().take(MAX_QUERIES);
    let queries = queries.map(|query| cut(query, MAX_QUERY_CHARS).to_owned());
    let ranked = ranker.rank(tools, &queries.collect::<Vec<_>>()).await;
    let found = ranked.into_iter().filter_map(|index| tools.get(index));
    let found: Vec<_> = found.take(limit).map(found_tool).collect();
    let answer = if found.is_empty() {
        json!({
            "tools": [],
            "hint": "No tool fits. Search once more with other words: the verb, the object, the product.",
        })
    } else {
        json!({ "tools": found })
    };
    answer_text(&answer)
}

fn found_tool(tool: &Tool) -> Found<'_> {
    let description = tool.description.as_deref().unwrap_or_default().trim();
    let line = description.lines().next().unwrap_or_default();
    let short = cut(line, MAX_LINE_CHARS);
    let description = if short.len() < line.len() {
        format!("{short}…")
    } else {
        short.to_owned()
    };
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    Found {
        name: &tool.name,
        description,
        required_arguments: required.collect(),
    }
}

/// A definition, as the model reads it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Definition<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    input_schema: &'a Arc<JsonObject>,
}

/// Answers a `describe_tools` call with up to 20 definitions, 200 kB together. Names that the
/// list does not have are named in the answer.
///
/// A mistake in the arguments is a failed result that names the argument.
pub fn describe_tools(tools: &[Tool], arguments: Option<&RawObject>) -> CallToolResult {
    let arguments = parse(arguments);
    let names = match strings(&arguments, "names") {
        Ok(names) => names,
        Err(problem) => return CallToolResult::error(problem),
    };
    let mut definitions = Vec::new();
    let (mut unknown, mut omitted) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    for (count, name) in names.into_iter().enumerate() {
        let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
            unknown.push(cut(name, MAX_QUERY_CHARS));
            continue;
        };
        let definition = serde_json::to_value(Definition {
            name: &tool.name,
            title: tool.title.as_deref(),
            description: tool.description.as_deref(),
            input_schema: &tool.input_schema,
        })
        .unwrap_or_default();
        bytes += definition.to_string().len();
        if count >= MAX_NAMES || bytes > MAX_DEFINITION_BYTES {
            omitted.push(&*tool.name);
        } else {
            definitions.push(definition);
        }
    }
    if definitions.is_empty() && omitted.is_empty() {
        return CallToolResult::error(unknown_tool(&unknown.join(", ")));
    }
    let mut answer = json!({ "tools": definitions });
    if !unknown.is_empty() {
        unknown.truncate(MAX_NAMES);
        answer["unknown"] = json!(unknown);
    }
    if !omitted.is_empty() {
        omitted.truncate(MAX_NAMES);
        answer["omitted_because_too_large"] = json!(omitted);
    }
    answer_text(&answer)
}

/// Returns the call in a call of `call_tool`. Arguments that are JSON in a string are read.
///
/// # Errors
///
/// Returns a message for the model when the arguments do not have a `name`, or when the arguments of the tool are not an
/// object.
pub fn inner_call(arguments: Option<&RawObject>) -> Result<CallToolParams, String> {
    #[derive(Deserialize)]
    struct Inner<'a> {
        #[serde(default)]
        name: Value,
        #[serde(borrow)]
        arguments: Option<&'a RawValue>,
    }

    let raw = arguments.map_or("{}", RawObject::as_str);
    let inner: Inner<'_> = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    let Value::String(name) = inner.name else {
        return Err("argument `name` must be the name of a tool".to_owned());
    };
    let read = |text: &str| RawObject::from_text(text).ok();
    let arguments = match inner.arguments.map(RawValue::get) {
        None => None,
        Some(text) => {
            let in_string = || read(&serde_json::from_str::<String>(text).ok()?);
            let object = read(text).or_else(in_string);
            Some(object.ok_or("argument `arguments` must be an object")?)
        }
    };
    Ok(CallToolParams::new(name, arguments))
}

/// Returns the message for a name that no tool has.
pub fn unknown_tool(name: &str) -> String {
    let name = mcp_types::escape_line(cut(name, MAX_QUERY_CHARS));
    format!("no tool is named {name:?}; use {SEARCH_TOOLS} to find the name")
}

/// Returns an answer as JSON with visible escapes for control characters and hidden ones of servers.
fn answer_text(answer: &Value) -> CallToolResult {
    CallToolResult::from_text(escape_json(&answer.to_string()))
}

fn parse(arguments: Option<&RawObject>) -> JsonObject {
    let parsed = arguments.and_then(|arguments| arguments.parse().ok());
    parsed.unwrap_or_default()
}

/// Returns an argument that is a list of strings. One string is a list, too.
fn strings<'a>(arguments: &'a JsonObject, name: &str) -> Result<Vec<&'a str>, String> {
    let strings = match arguments.get(name) {
        Some(Value::String(text)) => Some(vec![&**text]),
        Some(Value::Array(items)) => items.iter().map(Value::as_str).collect(),
        _ => None,
    };
    strings
        .filter(|strings| !strings.is_empty())
        .ok_or_else(|| format!("argument `{name}` must be a list of strings"))
}

/// Returns the first characters of a text.
fn cut(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars);
    end.map_or(text, |(end, _)| &text[..end])
}
