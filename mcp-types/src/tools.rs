//! Tools: definitions, calls, results.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::content::{ContentBlock, TextContent, lines};
use crate::escape::{escape_line, shorten};
use crate::extra::{ExtraFields, JsonObject};
use crate::legacy_tasks::{TaskMetadata, TaskSupport};
use crate::{
    de, finite::to_finite_json, icon::Icon, meta::Meta, page::list_result, raw::RawObject,
    setters::setters,
};

/// Returns true for a valid tool name: 1 to 128 ASCII letters, digits, `_`, `-` and `.`.
///
/// # Examples
///
/// ```
/// assert!(mcp::types::is_tool_name("weather.get_forecast"));
/// assert!(!mcp::types::is_tool_name("get forecast"));
/// ```
// spec: TOOL-04, TOOL-08
pub fn is_tool_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=128).contains(&name.len()) && name.bytes().all(is_allowed)
}

/// The definition of a tool, as `tools/list` returns it.
///
/// Unknown members and all keywords of the schemas are kept.
///
/// # Examples
///
/// A tool of a server:
///
/// ```
/// use mcp::prelude::*;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Sum {
///     a: f64,
///     b: f64,
/// }
///
/// let server = Server::new("calculator", "1.0.0").tool(
///     Tool::new("add")
///         .description("Adds two numbers")
///         .read_only()
///         .handler(|Args(sum): Args<Sum>| sum.a + sum.b),
/// );
/// server.check()?;
/// # Ok::<(), mcp::SetupError>(())
/// ```
///
/// Clients read its fields:
///
/// ```no_run
/// use mcp::prelude::*;
///
/// # async fn example(client: Client) -> mcp::Result<()> {
/// for tool in client.list_tools().await? {
///     println!("{}: {}", tool.display_name(), tool.description.as_deref().unwrap_or_default());
/// }
/// # Ok(())
/// # }
/// ```
// spec: TOOL-05, JSCH-08
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tool {
    /// Programmatic name: 1 to 128 characters of `A-Za-z0-9_-.`.
    pub name: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description for a language model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the arguments. Its root has `"type": "object"`.
    pub input_schema: Arc<JsonObject>,
    /// The structured result's JSON Schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<JsonObject>>,
    /// Hints about the tool's behavior.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Support for calls as experimental tasks (only 2025-11-25).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<ToolExecution>,
    /// Icons for user interfaces.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub icons: Vec<Icon>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

impl Tool {
    setters! { title, description, icon, meta }

    /// Creates a tool without parameters.
    ///
    /// `handler` replaces the schemas by those of the handler's types.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            input_schema: no_parameters(),
            ..Self::default()
        }
    }

    /// Sets the JSON Schema of the arguments.
    #[must_use]
    pub fn input_schema(mut self, schema: impl Into<Arc<JsonObject>>) -> Self {
        self.input_schema = schema.into();
        self
    }

    /// Sets the structured result's JSON Schema.
    #[must_use]
    pub fn output_schema(mut self, schema: impl Into<Arc<JsonObject>>) -> Self {
        self.output_schema = Some(schema.into());
        self
    }

    /// Sets the hint that the tool does not modify its environment.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.annotate(|annotations| annotations.read_only_hint = Some(true))
    }

    /// Sets the hint about destructive changes.
    #[must_use]
    pub fn destructive(self, destructive: bool) -> Self {
        self.annotate(|annotations| annotations.destructive_hint = Some(destructive))
    }

    /// Sets the hint that repeated calls with the same arguments have no additional effect.
    #[must_use]
    pub fn idempotent(self) -> Self {
        self.annotate(|annotations| annotations.idempotent_hint = Some(true))
    }

    /// Sets the hint about interaction with external entities.
    #[must_use]
    pub fn open_world(self, open: bool) -> Self {
        self.annotate(|annotations| annotations.open_world_hint = Some(open))
    }

    fn annotate(mut self, set: impl FnOnce(&mut ToolAnnotations)) -> Self {
        set(self.annotations.get_or_insert_default());
        self
    }

    /// Returns the name to show to users: the tool's title, the title in its annotations, or its name.
    // spec: TOOL-10
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref()?.title.as_deref();
        self.title
            .as_deref()
            .or_else(annotated)
            .unwrap_or(&self.name)
    }
}

/// Returns the schema of tools without parameters. All of them share it: its address says that a tool has no schema of
/// its own.
// spec: TOOL-07
fn no_parameters() -> Arc<JsonObject> {
    static SCHEMA: LazyLock<Arc<JsonObject>> = LazyLock::new(|| {
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), JsonObject::new().into());
        schema.insert("additionalProperties".to_owned(), false.into());
        Arc::new(schema)
    });
    SCHEMA.clone()
}

/// Hints about the behavior of a tool. Clients trust them only if they trust the server.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/schema#toolannotations>
// spec: TOOL-10
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// Display name. [`Tool::title`] takes precedence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool does not modify its environment. Default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The tool may perform destructive changes. Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Repeated calls with the same arguments have no additional effect. Default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// The tool interacts with external entities. Default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

/// The support of a tool for experimental tasks (only 2025-11-25).
// spec: TOOL-05
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolExecution {
    /// Support for calls as tasks. Default: [`TaskSupport::Forbidden`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_support: Option<TaskSupport>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

list_result! {
    /// Result of `tools/list`.
    ListToolsResult {
        /// This page's tools.
        tools: Tool
    }
}

/// Parameters of `tools/call`.
// spec: TOOL-12
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallToolParams {
    /// The tool's name.
    pub name: String,
    /// The call's arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<RawObject>,
    /// Request to run the call as an experimental task (only 2025-11-25).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
}

impl CallToolParams {
    /// Creates the parameters from the name of the tool and its arguments.
    pub fn new(name: impl Into<String>, arguments: Option<RawObject>) -> Self {
        Self {
            name: name.into(),
            arguments,
            task: None,
        }
    }
}

/// Result of `tools/call`.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result>
// spec: TOOL-13
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolResult {
    /// The result's content. Servers always set it; a result that lacks it is read like an empty list,
    /// because some servers omit it beside `structuredContent`.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// Structured result: any JSON value, including `null`.
    // spec: TOOL-14
    #[serde(
        default,
        deserialize_with = "de::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub structured_content: Option<Box<RawValue>>,
    /// Failure flag. The content describes the failure for a language model. Absent means `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// The tool's output schema accepts other values than objects: revisions with objects only receive
    /// the structured content as `{"result": …}`. Servers set it for the wires of `mcp-core`.
    #[doc(hidden)]
    #[serde(skip)]
    pub wraps_structure: bool,
}

impl CallToolResult {
    setters! { meta }

    /// Creates a result from content blocks.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }

    /// Creates a result with one text block.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::text(text)])
    }

    /// Creates a result with structured content, and the same JSON as text for clients that do not
    /// support structured content.
    ///
    /// # Errors
    ///
    /// Returns the error of `serde_json` if the value cannot be serialized, and an error with the path of
    /// a number in it that is not finite: JSON cannot contain it.
    // spec: TOOL-15
    pub fn from_json(value: &(impl Serialize + ?Sized)) -> serde_json::Result<Self> {
        let raw = to_finite_json(value)?;
        Ok(Self {
            structured_content: Some(raw.clone()),
            ..Self::from_text(Box::<str>::from(raw))
        })
    }

    /// Creates the result of a failed call. The language model reads the text.
    // spec: TOOL-20
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: Some(true),
            ..Self::from_text(text)
        }
    }

    /// Returns `true` if the call failed.
    pub fn is_error(&self) -> bool {
        self.is_error == Some(true)
    }

    /// Returns the text of all text blocks, separated by line breaks.
    pub fn text(&self) -> String {
        lines(self.content.iter().filter_map(ContentBlock::as_text))
    }

    /// Returns the text if the result is one text block and nothing else. For the wires of `mcp-core`.
    #[doc(hidden)]
    pub fn sole_text(&mut self) -> Option<&mut String> {
        let Self {
            content,
            structured_content: None,
            is_error: None,
            meta: None,
            wraps_structure: _,
        } = self
        else {
            return None;
        };
        match &mut content[..] {
            [
                ContentBlock::Text(TextContent {
                    text,
                    annotations: None,
                    meta: None,
                }),
            ] => Some(text),
            _ => None,
        }
    }

    /// Returns the structured content as a [`Value`]. `None` if there is none.
    pub fn structured(&self) -> Option<Value> {
        let raw = self.structured_content.as_ref()?;
        serde_json::from_str(raw.get()).ok()
    }

    /// Reads the result as `T`: from the structured content if there is any, otherwise from the text as
    /// JSON, or from the text itself if `T` is a string.
    ///
    /// In sessions up to 2025-11-25 structured content is an object, and servers send other values as
    /// `{"result": …}`. If such an object is not a valid `T`, its member is read. An object with this only
    /// member may also be the tool's own value, so it is read as a whole first: a `T` that accepts every object,
    /// such as a map, a `Value` or a struct of optional fields, receives the object with `result`. Read those
    /// from [`structured`](Self::structured).
    ///
    /// # Errors
    ///
    /// Returns [`UnexpectedResult`] if the call failed or the result is not a valid `T`. Its message has the
    /// result's text, but not the tool's name, which the result does not contain: the error of a
    /// [typed call](https://docs.rs/omnimcp/latest/mcp/typed/struct.TypedCall.html) has both.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, UnexpectedResult> {
        let text = self.text();
        if self.is_error() {
            return Err(UnexpectedResult::ToolFailed(text));
        }
        if let Some(raw) = &self.structured_content {
            return serde_json::from_str(raw.get()).or_else(|error| {
                let value = wrapped(raw).and_then(|inner| serde_json::from_str(inner.get()).ok());
                value.ok_or_else(|| UnexpectedResult::other_shape(raw.get(), error))
            });
        }
        serde_json::from_str(&text).or_else(|error| {
            let string = serde_json::from_value(text.as_str().into());
            string.map_err(|_| UnexpectedResult::other_shape(&text, error))
        })
    }
}

/// Returns the value of `{"result": …}`, which stands for other values where structured content is an object.
// spec: TOOL-14
fn wrapped(object: &RawValue) -> Option<&RawValue> {
    let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(object.get()).ok()?;
    let value = members.remove("result")?;
    members.is_empty().then_some(value)
}

/// Error of [`CallToolResult::parse`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnexpectedResult {
    /// The call failed. The text describes the failure.
    #[error("the tool failed: {}", escape_line(.0))]
    ToolFailed(String),
    /// The result is not a valid value of the type.
    #[error("the tool's result has another shape: {}; it is `{}`", one_line(.error), escape_line(.text))]
    OtherShape {
        /// The structured content or the text, at most 200 characters of it.
        text: String,
        /// The first place that does not fit.
        #[source]
        error: serde_json::Error,
    },
}

impl UnexpectedResult {
    fn other_shape(text: &str, error: serde_json::Error) -> Self {
        let text = shorten(text, 200).into_owned();
        Self::OtherShape { text, error }
    }
}

/// Returns the message of an error that may contain text of a peer.
fn one_line(error: &serde_json::Error) -> String {
    escape_line(&error.to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{CallToolResult, ContentBlock, Tool};

    #[test]
    fn unknown_members_in_a_tool_are_kept_in_order() {
        let value = json!({
            "name": "x", "inputSchema": {"type": "object", "$defs": {"a": {"$anchor": "z"}}, "allOf": []},
            "annotations": {"readOnlyHint": true, "sparkles": 3}, "execution": {"taskSupport": "required"},
        });
        let tool: Tool = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(tool.description.as_deref().unwrap_or_default(), "");
        assert_eq!(serde_json::to_value(&tool).unwrap(), value);
        let keys: Vec<_> = tool.input_schema.keys().collect();
        assert_eq!(keys, ["type", "$defs", "allOf"]);
    }

    #[test]
    fn null_structured_content_round_trips() {
        let result: CallToolResult =
            serde_json::from_str(r#"{"content":[],"structuredContent":null}"#).unwrap();
        assert_eq!(result.parse::<Value>().unwrap(), Value::Null);
        let text = serde_json::to_string(&result).unwrap();
        assert_eq!(text, r#"{"content":[],"structuredContent":null}"#);
    }

    #[test]
    fn parse_reads_structured_content_or_text() {
        let structured = CallToolResult::from_json(&json!({"sum": 3})).unwrap();
        assert_eq!(structured.text(), r#"{"sum":3}"#);
        assert_eq!(structured.parse::<Value>().unwrap(), json!({"sum": 3}));
        assert_eq!(
            CallToolResult::from_text("3.5").parse::<f64>().unwrap(),
            3.5
        );
        assert_eq!(
            CallToolResult::from_text("hi").parse::<String>().unwrap(),
            "hi"
        );
        let error = CallToolResult::error("no such file")
            .parse::<f64>()
            .unwrap_err();
        assert_eq!(error.to_string(), "the tool failed: no such file");
        let error = CallToolResult::error("no\nINFO paid\u{1b}[2K");
        assert_eq!(
            error.parse::<f64>().unwrap_err().to_string(),
            r"the tool failed: no\nINFO paid\u{1b}[2K"
        );
        let error = CallToolResult::new(vec![ContentBlock::text("12 disks\u{1b}[2K")]);
        assert_eq!(
            error.parse::<f64>().unwrap_err().to_string(),
            "the tool's result has another shape: trailing characters at line 1 column 4; \
             it is `12 disks\\u{1b}[2K`"
        );
        let error = CallToolResult::from_json(&json!({"text": "x".repeat(1000)})).unwrap();
        let error = error.parse::<f64>().unwrap_err().to_string();
        assert!(
            error.contains("it is `{\"text\":\"xx") && error.chars().count() < 400,
            "{error}"
        );
    }

    // spec: TOOL-14
    #[test]
    fn parse_reads_value_wrapped_in_object_by_older_revisions() {
        #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        struct Point {
            x: u8,
        }
        #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        struct Own {
            result: Vec<u8>,
        }
        let point = || Point { x: 1 };
        let result = |value: Value| CallToolResult::from_json(&value).unwrap();
        let wrapped = |value: Value| result(json!({ "result": value }));
        assert_eq!(wrapped(json!([1, 2])).parse::<Vec<u8>>().unwrap(), [1, 2]);
        assert_eq!(wrapped(json!("a")).parse::<String>().unwrap(), "a");
        assert_eq!(wrapped(json!(null)).parse::<Option<Point>>().unwrap(), None);
        assert_eq!(
            wrapped(json!({"x": 1})).parse::<Option<Point>>().unwrap(),
            Some(point())
        );
        // A type's own member of this name comes first, and other objects are not wrapped values.
        assert_eq!(
            wrapped(json!([1])).parse::<Own>().unwrap(),
            Own { result: vec![1] }
        );
        assert_eq!(
            wrapped(json!(1)).parse::<Value>().unwrap(),
            json!({"result": 1})
        );
        for other in [json!({}), json!({"result": null, "more": 1})] {
            assert!(result(other).parse::<Option<Point>>().is_err());
        }
        let error = wrapped(json!({"y": 1})).parse::<Point>().unwrap_err();
        assert!(error.to_string().contains("missing field `x`"), "{error}");
    }

    #[test]
    fn display_name_prefers_title() {
        assert_eq!(Tool::new("a").display_name(), "a");
        assert_eq!(Tool::new("a").title("A").display_name(), "A");
    }
}
