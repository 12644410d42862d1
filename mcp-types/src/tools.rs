//! Tools.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/tools>

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::json::members;
use crate::legacy_tasks::{TaskMetadata, TaskSupport};
use crate::setters::setters;
use crate::text::joined;
use crate::{ContentBlock, Cursor, Icon, JsonObject, Meta, RawObject, Settings, Text};

/// A tool as a server lists it. Unknown members and every keyword of its schemas survive.
// spec: TOOL-05, JSCH-08
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// Name for programs: 1 to 128 of `A-Za-z0-9_-.`.
    pub name: String,
    /// Name for people.
    pub title: Option<String>,
    /// What it does, for a language model.
    pub description: Option<String>,
    /// JSON Schema of the arguments; its root has `"type": "object"`.
    // spec: TOOL-06
    pub input_schema: Arc<JsonObject>,
    /// JSON Schema of the structured result.
    pub output_schema: Option<Arc<JsonObject>>,
    /// Hints on how it behaves.
    pub annotations: Option<ToolAnnotations>,
    /// How it may be run (2025-11-25 alone).
    pub execution: Option<ToolExecution>,
    /// Pictures for user interfaces.
    pub icons: Vec<Icon>,
    /// What it carries beside.
    pub meta: Option<Meta>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(Tool as "a tool" {
    "name" => name,
    "title" => title or nothing,
    "description" => description or nothing,
    "inputSchema" => input_schema,
    "outputSchema" => output_schema or nothing,
    "annotations" => annotations or nothing,
    "execution" => execution or nothing,
    "icons" => icons or nothing,
    "_meta" => meta or nothing,
} and other);

impl Tool {
    setters! { title, describe, icon, meta }

    /// A tool without parameters; `handler` in `mcp-server` fills in what its types say.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            input_schema: no_parameters(),
            ..Self::default()
        }
    }

    /// A tool whose input schema is given as it is.
    pub fn raw(name: impl Into<String>, input_schema: JsonObject) -> Self {
        Self {
            name: name.into(),
            input_schema: Arc::new(input_schema),
            ..Self::default()
        }
    }

    /// Sets the JSON Schema of the arguments as it is.
    #[must_use]
    pub fn input_schema(mut self, schema: impl Into<Arc<JsonObject>>) -> Self {
        self.input_schema = schema.into();
        self
    }

    /// Sets the JSON Schema of the structured result as it is.
    #[must_use]
    pub fn output_schema(mut self, schema: impl Into<Arc<JsonObject>>) -> Self {
        self.output_schema = Some(schema.into());
        self
    }

    /// Sets all hints on how the tool behaves.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// Sets whether the tool may be called as an experimental task (2025-11-25 alone).
    #[must_use]
    pub fn task_support(mut self, support: TaskSupport) -> Self {
        self.execution.get_or_insert_default().task_support = Some(support);
        self
    }

    /// The tool changes nothing.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.annotate(|annotations| annotations.read_only_hint = Some(true))
    }

    /// Whether the tool may destroy something.
    #[must_use]
    pub fn destructive(self, destructive: bool) -> Self {
        self.annotate(|annotations| annotations.destructive_hint = Some(destructive))
    }

    /// Calling the tool again with the same arguments changes nothing more.
    #[must_use]
    pub fn idempotent(self) -> Self {
        self.annotate(|annotations| annotations.idempotent_hint = Some(true))
    }

    /// Whether the tool deals with the world outside of the server.
    #[must_use]
    pub fn open_world(self, open: bool) -> Self {
        self.annotate(|annotations| annotations.open_world_hint = Some(open))
    }

    fn annotate(mut self, set: impl FnOnce(&mut ToolAnnotations)) -> Self {
        set(self.annotations.get_or_insert_default());
        self
    }

    /// The description, or nothing.
    pub fn description(&self) -> &str {
        self.description.as_deref().unwrap_or_default()
    }

    /// The name to show to people.
    // spec: TOOL-10
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref()?.title.as_deref();
        self.title
            .as_deref()
            .or_else(annotated)
            .unwrap_or(&self.name)
    }
}

// spec: TOOL-07
fn no_parameters() -> Arc<JsonObject> {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), JsonObject::new().into());
    schema.insert("additionalProperties".to_owned(), false.into());
    Arc::new(schema)
}

/// Hints on how a tool behaves. Untrusted unless the server is trusted.
// spec: TOOL-10, TOOL-11
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// Name for people; [`Tool::title`] comes first.
    pub title: Option<String>,
    /// It changes nothing. Taken as false when absent.
    pub read_only_hint: Option<bool>,
    /// It may destroy something. Taken as true when absent.
    pub destructive_hint: Option<bool>,
    /// Calling it again with the same arguments changes nothing more. Taken as false when absent.
    pub idempotent_hint: Option<bool>,
    /// It deals with the world outside of the server. Taken as true when absent.
    pub open_world_hint: Option<bool>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(ToolAnnotations as "hints on a tool" {
    "title" => title or nothing,
    "readOnlyHint" => read_only_hint or nothing,
    "destructiveHint" => destructive_hint or nothing,
    "idempotentHint" => idempotent_hint or nothing,
    "openWorldHint" => open_world_hint or nothing,
} and other);

/// How a tool may be run (2025-11-25 alone).
// spec: TOOL-05, TASKL-01
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether it may be called as a task. Taken as forbidden when absent.
    pub task_support: Option<TaskSupport>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(ToolExecution as "how a tool may be run" {
    "taskSupport" => task_support or nothing,
} and other);

/// The result of `tools/list`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListToolsResult {
    /// The tools of this page.
    pub tools: Vec<Tool>,
    /// Where the list goes on; absent on the last page.
    pub next_cursor: Option<Cursor>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(ListToolsResult as "a list of tools" {
    "tools" => tools,
    "nextCursor" => next_cursor or nothing,
    "_meta" => meta or nothing,
});

impl ListToolsResult {
    /// A page; the last one unless `next_cursor` is set.
    pub fn new(tools: Vec<Tool>) -> Self {
        Self {
            tools,
            ..Self::default()
        }
    }
}

/// Parameters of `tools/call`.
// spec: TOOL-12
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallToolParams {
    /// Which tool.
    pub name: String,
    /// Its arguments, as they arrived.
    pub arguments: Option<RawObject>,
    /// Runs the call as an experimental task (2025-11-25 alone).
    pub task: Option<TaskMetadata>,
}

members!(CallToolParams as "a call of a tool" {
    "name" => name,
    "arguments" => arguments or nothing,
    "task" => task or nothing,
});

impl CallToolParams {
    /// Calls a tool.
    pub fn new(name: impl Into<String>, arguments: Option<RawObject>) -> Self {
        Self {
            name: name.into(),
            arguments,
            task: None,
        }
    }

    /// Runs the call as an experimental task (2025-11-25 alone).
    #[must_use]
    pub fn task(mut self, task: TaskMetadata) -> Self {
        self.task = Some(task);
        self
    }
}

/// The result of `tools/call`.
// spec: TOOL-13
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CallToolResult {
    /// What the tool says.
    pub content: Vec<ContentBlock>,
    /// What the tool says as one JSON value; `null` is a value.
    // spec: TOOL-14
    pub structured_content: Option<Box<RawValue>>,
    /// The tool failed; the content says why, for a language model.
    pub is_error: Option<bool>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(CallToolResult as "the result of a tool" {
    "content" => content,
    "structuredContent" => structured_content even null,
    "isError" => is_error or nothing,
    "_meta" => meta or nothing,
});

impl CallToolResult {
    setters! { meta }

    /// What the tool says.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }

    /// One text.
    pub fn from_text(text: impl Into<Text>) -> Self {
        Self::new(vec![ContentBlock::text(text)])
    }

    /// A value, as structured content and as text for clients that know only that.
    ///
    /// # Errors
    ///
    /// What `serde_json` says when the value cannot be serialized.
    // spec: TOOL-15
    pub fn structured(value: &(impl Serialize + ?Sized)) -> serde_json::Result<Self> {
        let raw = serde_json::value::to_raw_value(value)?;
        Ok(Self {
            structured_content: Some(raw.clone()),
            ..Self::from_text(Box::<str>::from(raw))
        })
    }

    /// A failure that the language model shall read.
    // spec: TOOL-20
    pub fn error(text: impl Into<Text>) -> Self {
        Self {
            is_error: Some(true),
            ..Self::from_text(text)
        }
    }

    /// The tool failed.
    pub fn is_error(&self) -> bool {
        self.is_error == Some(true)
    }

    /// All text blocks, one per line.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self
            .content
            .iter()
            .filter_map(ContentBlock::as_text)
            .collect();
        joined(&texts, "\n")
    }

    /// Reads the result as `T`: the structured content where there is one, else the text (as JSON,
    /// or as it is when `T` is a string).
    ///
    /// # Errors
    ///
    /// [`UnexpectedResult`] when the tool failed or said something else.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, UnexpectedResult> {
        let text = self.text();
        if self.is_error() {
            return Err(UnexpectedResult::ToolFailed(text));
        }
        if let Some(raw) = &self.structured_content {
            return serde_json::from_str(raw.get()).map_err(UnexpectedResult::OtherShape);
        }
        serde_json::from_str(&text)
            .or_else(|error| serde_json::from_value(text.into()).map_err(|_| error))
            .map_err(UnexpectedResult::OtherShape)
    }
}

/// A tool's result is not what the caller wanted to read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnexpectedResult {
    /// The tool failed and says why.
    #[error("the tool failed: {0}")]
    ToolFailed(String),
    /// The result does not fit the type.
    #[error("the tool's result has another shape: {0}")]
    OtherShape(#[source] serde_json::Error),
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{CallToolResult, ContentBlock, Tool};

    #[test]
    fn tools_keep_what_they_do_not_know() {
        let value = json!({
            "name": "x", "inputSchema": {"type": "object", "$defs": {"a": {"$anchor": "z"}}, "allOf": []},
            "annotations": {"readOnlyHint": true, "sparkles": 3}, "execution": {"taskSupport": "required"},
        });
        let tool: Tool = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(tool.description(), "");
        assert_eq!(serde_json::to_value(&tool).unwrap(), value);
        let keys: Vec<_> = tool.input_schema.keys().collect();
        assert_eq!(keys, ["type", "$defs", "allOf"]);
    }

    #[test]
    fn null_is_a_structured_value() {
        let result: CallToolResult =
            serde_json::from_str(r#"{"content":[],"structuredContent":null}"#).unwrap();
        assert_eq!(result.parse::<Value>().unwrap(), Value::Null);
        let text = serde_json::to_string(&result).unwrap();
        assert_eq!(text, r#"{"content":[],"structuredContent":null}"#);
    }

    #[test]
    fn results_read_as_types() {
        let structured = CallToolResult::structured(&json!({"sum": 3})).unwrap();
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
        assert!(
            CallToolResult::new(vec![ContentBlock::text("x")])
                .parse::<f64>()
                .is_err()
        );
    }

    #[test]
    fn display_names() {
        assert_eq!(Tool::new("a").display_name(), "a");
        assert_eq!(Tool::new("a").title("A").display_name(), "A");
    }
}
