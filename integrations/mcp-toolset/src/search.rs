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

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use mcp_types::{CallToolParams, CallToolResult, JsonObject, RawObject, Tool, escape_json};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::rank::{Ranker, cut};

/// Name of the tool that finds tools.
pub const SEARCH_TOOLS: &str = "search_tools";
/// Name of the tool that returns definitions.
pub const DESCRIBE_TOOLS: &str = "describe_tools";
/// Name of the tool that calls another one.
pub const CALL_TOOL: &str = "call_tool";

/// Phrasings of one search.
const MAX_QUERIES: usize = 4;
/// Characters of a phrasing that are read.
const MAX_QUERY_CHARS: usize = 400;
/// Bytes of a tool's name. A tool with a longer one is not found.
const MAX_NAME_BYTES: usize = 400;
/// Default number of found tools, and the largest one.
const DEFAULT_LIMIT: usize = 5;
const MAX_LIMIT: usize = 20;
/// Definitions in one answer.
const MAX_NAMES: usize = 20;
/// JSON size of the definitions in one answer, in bytes.
const MAX_DEFINITION_BYTES: usize = 200_000;
/// Maximum length of a description in a search result, in characters.
const MAX_LINE_CHARS: usize = 160;
/// Required arguments in a search result, and the maximum length of their names in characters.
const MAX_REQUIRED: usize = 20;
const MAX_ARGUMENT_CHARS: usize = 64;
/// Text for a search without a match, or with weak ones.
const SEARCH_AGAIN: &str = "Search once more with other words: the verb, the object, the product.";

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

/// Answers a call of `search_tools`: the tools of a list that serve a task, the best first. Weak matches have a hint that the
/// list may not have a tool for the task. Tools whose name has more than 400 bytes are not found.
///
/// Arguments that do not match the schema of `search_tools` are a failed result that names the argument.
pub async fn search_tools(
    ranker: &dyn Ranker,
    tools: &[Tool],
    arguments: Option<&RawObject>,
) -> CallToolResult {
    let arguments = parse(arguments);
    let queries = match strings(&arguments, "queries", MAX_QUERIES) {
        Ok(queries) => queries.into_iter(),
        Err(problem) => return CallToolResult::error(problem),
    };
    let limit = match arguments.get("limit") {
        None | Some(Value::Null) => DEFAULT_LIMIT,
        Some(limit) => match limit.as_f64() {
            Some(limit) if (1.0..=MAX_LIMIT as f64).contains(&limit) => limit as usize,
            _ => {
                let problem = format!("argument `limit` must be a number from 1 to {MAX_LIMIT}");
                return CallToolResult::error(problem);
            }
        },
    };
    let queries = queries.map(|query| cut(query, MAX_QUERY_CHARS).to_owned());
    let ranking = ranker.rank(tools, &queries.collect::<Vec<_>>()).await;
    let found = ranking.tools.into_iter();
    let found = found.filter_map(|index| tools.get(index));
    let found = found.filter(|tool| tool.name.len() <= MAX_NAME_BYTES);
    let found: Vec<_> = found.take(limit).map(found_tool).collect();
    let hint = if found.is_empty() {
        Some(format!("No tool fits. {SEARCH_AGAIN}"))
    } else {
        let weak = format!("Weak matches: the catalog may not have this. {SEARCH_AGAIN}");
        ranking.is_weak.then_some(weak)
    };
    let mut answer = json!({ "tools": found });
    if let Some(hint) = hint {
        answer["hint"] = json!(hint);
    }
    CallToolResult::from_text(escape_json(&answer.to_string()))
}

/// Returns a found tool, as the model reads it.
fn found_tool(tool: &Tool) -> Value {
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
    let more = required.clone().count().saturating_sub(MAX_REQUIRED);
    let required = required.take(MAX_REQUIRED);
    let required: Vec<_> = required.map(|name| cut(name, MAX_ARGUMENT_CHARS)).collect();
    let mut found = json!({
        "name": tool.name, "description": description, "required_arguments": required,
    });
    if more > 0 {
        found["more_required_arguments"] = json!(more);
    }
    found
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

/// The answer of `describe_tools`.
#[derive(Serialize)]
struct Described<'a> {
    tools: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    omitted_because_too_large: Vec<&'a str>,
}

/// Answers a `describe_tools` call with up to 20 definitions, 200 kB together. Names that the
/// list does not have are named in the answer.
///
/// Arguments that do not match the schema of `describe_tools` are a failed result that names the argument.
pub fn describe_tools(tools: &[Tool], arguments: Option<&RawObject>) -> CallToolResult {
    let arguments = parse(arguments);
    let names = match strings(&arguments, "names", MAX_NAMES) {
        Ok(names) => names,
        Err(problem) => return CallToolResult::error(problem),
    };
    let wanted: BTreeSet<&str> = names.iter().copied().collect();
    let known = tools.iter().filter(|tool| wanted.contains(&*tool.name));
    let known: HashMap<&str, &Tool> = known.map(|tool| (&*tool.name, tool)).collect();
    let mut answer = Described {
        tools: Vec::new(),
        unknown: Vec::new(),
        omitted_because_too_large: Vec::new(),
    };
    let mut room = vec![0; MAX_DEFINITION_BYTES];
    for name in names {
        let Some(tool) = known.get(name) else {
            answer.unknown.push(cut(name, MAX_QUERY_CHARS));
            continue;
        };
        match definition(tool, &mut room) {
            Some(definition) => {
                room.truncate(room.len() - definition.get().len());
                answer.tools.push(definition);
            }
            None => {
                let name = cut(name, MAX_QUERY_CHARS);
                answer.omitted_because_too_large.push(name);
            }
        }
    }
    if answer.tools.is_empty() && answer.omitted_because_too_large.is_empty() {
        return CallToolResult::error(unknown_tool(&answer.unknown.join(", ")));
    }
    let answer = serde_json::to_string(&answer).unwrap_or_default();
    CallToolResult::from_text(escape_json(&answer))
}

/// Returns the escaped JSON of a definition. `None`: there is no room for it, escaped or not.
fn definition(tool: &Tool, room: &mut [u8]) -> Option<Box<RawValue>> {
    let definition = Definition {
        name: &tool.name,
        title: tool.title.as_deref(),
        description: tool.description.as_deref(),
        input_schema: &tool.input_schema,
    };
    let max = room.len();
    let mut free = &mut room[..];
    serde_json::to_writer(&mut free, &definition).ok()?;
    let written = max - free.len();
    let json = escape_json(std::str::from_utf8(&room[..written]).ok()?).into_owned();
    (json.len() <= max).then(|| RawValue::from_string(json).ok())?
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
            let object = object.ok_or("argument `arguments` must be an object")?;
            if let Some(name) = object.as_raw().repeated_member() {
                return Err(format!("the argument {name:?} comes twice"));
            }
            Some(object)
        }
    };
    Ok(CallToolParams::new(name, arguments))
}

/// Returns the message for a name that no tool has.
pub fn unknown_tool(name: &str) -> String {
    let name = mcp_types::escape_line(cut(name, MAX_QUERY_CHARS));
    format!("no tool is named {name:?}; use {SEARCH_TOOLS} to find the name")
}

fn parse(arguments: Option<&RawObject>) -> JsonObject {
    let parsed = arguments.and_then(|arguments| arguments.parse().ok());
    parsed.unwrap_or_default()
}

/// Returns an argument that is a list of at most so many distinct strings. One string is a list, too.
fn strings<'a>(arguments: &'a JsonObject, name: &str, max: usize) -> Result<Vec<&'a str>, String> {
    let mut strings = match arguments.get(name) {
        Some(Value::String(text)) => vec![&**text],
        Some(Value::Array(items)) => {
            let items: Option<Vec<_>> = items.iter().map(Value::as_str).collect();
            items.unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let mut seen = BTreeSet::new();
    strings.retain(|string| seen.insert(*string));
    match strings.len() {
        0 => Err(format!("argument `{name}` must be a list of strings")),
        count if count > max => Err(format!(
            "argument `{name}` must have at most {max} strings, got {count}"
        )),
        _ => Ok(strings),
    }
}
