//! Values of every type: minimal ones and ones with all members.

mod asking;
mod serving;
mod session;

use mcp_types::ProtocolVersion::{
    self, V2024_11_05 as R1, V2025_03_26 as R2, V2025_06_18 as R3, V2025_11_25 as R4,
    V2026_07_28 as R5,
};
use mcp_types::ext;
use mcp_types::legacy_tasks::{TaskMetadata, TaskSupport};
use mcp_types::meta::{self, keys};
use mcp_types::{
    Annotations, CallToolParams, CallToolResult, Cancelled, ClientCapabilities, CompleteParams,
    CompleteResult, Completion, CompletionReference, ContentBlock, Cursor, ExtraFields,
    GetPromptParams, GetPromptResult, Icon, IconTheme, Implementation, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LogMessage, LoggingLevel, Meta, Method, Page, ProgressParams, ProgressToken, ProgressUpdate,
    Prompt, PromptArgument, PromptMessage, RawObject, ReadResourceParams, ReadResourceResult,
    RequestId, Resource, ResourceContents, ResourceLink, ResourceTemplate, Role,
    ServerCapabilities, SetLevelParams, SubscribeParams, TextContent, Tool, ToolAnnotations,
    ToolResultContent, ToolUseContent,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::json_schemas;

/// A value, its definition in the schema, and the revisions that define it.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) value: Value,
    /// Reads the type of the value. `None` for types that cannot be deserialized.
    pub(crate) read: Option<fn(&str) -> serde_json::Result<()>>,
    /// Returns whether the JSON schema of the type accepts a value.
    pub(crate) is_valid: Option<fn(&Value) -> bool>,
    since: ProtocolVersion,
    until: ProtocolVersion,
}

/// The message that the wire writes around a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    Plain,
    Request(&'static str),
    /// A request of legacy revisions that is part of a result in modern revisions.
    Asked(&'static str),
    Note(&'static str),
    Result,
    Error,
}

impl Case {
    pub(crate) fn exists_in(&self, version: ProtocolVersion) -> bool {
        (self.since..=self.until).contains(&version)
    }
}

/// Collects values with the revisions that define them.
struct Cases {
    all: Vec<Case>,
    since: ProtocolVersion,
    until: ProtocolVersion,
}

impl Cases {
    fn span(&mut self, since: ProtocolVersion, until: ProtocolVersion) -> &mut Self {
        (self.since, self.until) = (since, until);
        self
    }

    fn add<T>(&mut self, name: &'static str, shape: Shape, value: &T) -> &mut Self
    where
        T: Serialize + DeserializeOwned + JsonSchema,
    {
        self.write_only(name, shape, value);
        if let Some(case) = self.all.last_mut() {
            case.read = Some(|text| serde_json::from_str::<T>(text).map(drop));
            case.is_valid = Some(json_schemas::is_valid::<T>);
        }
        self
    }

    /// Adds a value of a type that cannot be deserialized.
    fn write_only(
        &mut self,
        name: &'static str,
        shape: Shape,
        value: &impl Serialize,
    ) -> &mut Self {
        let value = serde_json::to_value(value).unwrap();
        let (since, until) = (self.since, self.until);
        self.all.push(Case {
            name,
            shape,
            value,
            read: None,
            is_valid: None,
            since,
            until,
        });
        self
    }

    fn plain<T>(&mut self, name: &'static str, value: &T) -> &mut Self
    where
        T: Serialize + DeserializeOwned + JsonSchema,
    {
        self.add(name, Shape::Plain, value)
    }

    fn result<T>(&mut self, name: &'static str, value: &T) -> &mut Self
    where
        T: Serialize + DeserializeOwned + JsonSchema,
    {
        self.add(name, Shape::Result, value)
    }

    fn request<T>(&mut self, name: &'static str, method: Method, value: &T) -> &mut Self
    where
        T: Serialize + DeserializeOwned + JsonSchema,
    {
        self.add(name, Shape::Request(method.as_str()), value)
    }

    fn asked<T>(&mut self, name: &'static str, method: Method, value: &T) -> &mut Self
    where
        T: Serialize + DeserializeOwned + JsonSchema,
    {
        self.add(name, Shape::Asked(method.as_str()), value)
    }

    fn note<T>(&mut self, name: &'static str, method: Method, value: &T) -> &mut Self
    where
        T: Serialize + DeserializeOwned + JsonSchema,
    {
        self.add(name, Shape::Note(method.as_str()), value)
    }
}

/// Returns all values.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = Cases {
        all: Vec::new(),
        since: R1,
        until: R5,
    };
    basics(&mut cases);
    contents(&mut cases);
    definitions(&mut cases);
    capabilities(&mut cases);
    serving::add(&mut cases);
    asking::add(&mut cases);
    session::add(&mut cases);
    cases.all
}

fn object(value: Value) -> JsonObject {
    serde_json::from_value(value).unwrap()
}

fn extra() -> Meta {
    Meta::default().with("com.example/x", json!({"deep": [1, null]}))
}

fn icon() -> Icon {
    let mut icon = Icon::new("https://example.com/a.png")
        .mime_type("image/png")
        .size("48x48")
        .size("any");
    icon.theme = Some(IconTheme::Dark);
    icon
}

fn hints() -> Annotations {
    let mut hints = Annotations::default()
        .audience(Role::User)
        .audience(Role::Assistant)
        .priority(0.5);
    hints.last_modified = Some("2026-07-28T12:00:00Z".to_owned());
    hints
}

fn info() -> Implementation {
    Implementation::new("x", "1.0")
        .title("X")
        .description("Does x.")
        .website_url("https://example.com")
        .icon(icon())
}

fn basics(cases: &mut Cases) {
    cases
        .span(R1, R5)
        .plain("RequestId", &RequestId::from(i64::MIN))
        .plain("RequestId", &RequestId::from("a"))
        .plain("ProgressToken", &ProgressToken::from(7))
        .plain("ProgressToken", &ProgressToken::from("t"))
        .plain("Cursor", &Cursor::new(""))
        .plain("Role", &Role::User)
        .plain("Role", &Role::Assistant)
        .plain("Implementation", &Implementation::new("x", "1"))
        .plain("Implementation", &info());
    for level in [
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    ] {
        let level: LoggingLevel = serde_json::from_value(level.into()).unwrap();
        cases.plain("LoggingLevel", &level);
    }
    cases
        .span(R2, R5)
        .plain("Annotations", &Annotations::default())
        .plain("Annotations", &hints());
    cases
        .span(R4, R5)
        .plain("Icon", &Icon::new("data:,"))
        .plain("Icon", &icon());
    let trace: meta::TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        .parse()
        .unwrap();
    let request = Meta::from(object(crate::spec::request_meta()))
        .with_trace(&meta::TraceContext::from(trace))
        .with(keys::LOG_LEVEL, "info");
    let subscribed = extra().with(keys::SUBSCRIPTION_ID, RequestId::from(1));
    cases
        .span(R5, R5)
        .plain("MetaObject", &extra())
        .plain("RequestMetaObject", &request)
        .plain(
            "ResultMetaObject",
            &extra().with(keys::SERVER_INFO, json!(info())),
        )
        .plain("NotificationMetaObject", &subscribed)
        .plain("SubscriptionsListenResultMetaObject", &subscribed);
}

fn text() -> ContentBlock {
    let mut text = TextContent::default();
    text.text = "hi".to_owned();
    (text.annotations, text.meta) = (Some(hints()), x());
    text.into()
}

fn link() -> ContentBlock {
    ResourceLink::new("file:///a", "a")
        .title("A")
        .description("An a.")
        .mime_type("text/plain")
        .size(3)
        .icon(icon())
        .annotations(hints())
        .meta("com.example/x", 1)
        .into()
}

fn embedded() -> ContentBlock {
    let mut block = ContentBlock::resource(text_contents()).annotations(hints());
    if let ContentBlock::Resource(embedded) = &mut block {
        embedded.meta = x();
    }
    block
}

fn x() -> Option<Meta> {
    Some(Meta::default().with("com.example/x", 1))
}

fn text_contents() -> ResourceContents {
    ResourceContents::text("file:///a", "hi")
        .mime_type("text/plain")
        .meta("com.example/x", 1)
}

fn blob_contents() -> ResourceContents {
    ResourceContents::blob("file:///b", b"\x00\xff")
        .mime_type("x/y")
        .meta("com.example/x", 1)
}

fn tool_use() -> ContentBlock {
    let input = RawObject::from_text(r#"{"city": "Rome"}"#).unwrap();
    let mut call = ToolUseContent::new("c", "weather", input);
    call.meta = x();
    call.into()
}

fn tool_result(structured: Value) -> ContentBlock {
    let mut result = ToolResultContent::new("c", vec![text(), link(), embedded()]);
    (result.structured_content, result.is_error, result.meta) = (Some(structured), Some(true), x());
    result.into()
}

fn contents(cases: &mut Cases) {
    let mut picture = ContentBlock::image(b"png", "image/png").annotations(hints());
    let mut sound = ContentBlock::audio(b"wav", "audio/wav").annotations(hints());
    if let ContentBlock::Image(content) = &mut picture {
        content.meta = x();
    }
    if let ContentBlock::Audio(content) = &mut sound {
        content.meta = x();
    }
    cases
        .span(R1, R5)
        .plain("TextContent", &ContentBlock::text(""))
        .plain("TextContent", &text())
        .plain("ImageContent", &ContentBlock::image(b"", "image/png"))
        .plain("ImageContent", &picture)
        .plain(
            "EmbeddedResource",
            &ContentBlock::resource(ResourceContents::blob("a:b", b"x")),
        )
        .plain("EmbeddedResource", &embedded())
        .plain("ResourceContents", &text_contents())
        .plain("TextResourceContents", &ResourceContents::text("a:b", ""))
        .plain("TextResourceContents", &text_contents())
        .plain("BlobResourceContents", &ResourceContents::blob("a:b", b""))
        .plain("BlobResourceContents", &blob_contents());
    cases
        .span(R2, R5)
        .plain("AudioContent", &ContentBlock::audio(b"", "audio/wav"))
        .plain("AudioContent", &sound);
    cases
        .span(R3, R5)
        .plain(
            "ResourceLink",
            &ContentBlock::from(ResourceLink::new("a:b", "b")),
        )
        .plain("ResourceLink", &link());
    for block in [text(), picture, sound, link(), embedded()] {
        cases.plain("ContentBlock", &block.clone().annotations(hints()));
    }
    cases
        .span(R4, R5)
        .plain(
            "ToolUseContent",
            &ContentBlock::from(ToolUseContent::new("c", "t", RawObject::default())),
        )
        .plain("ToolUseContent", &tool_use())
        .plain(
            "ToolResultContent",
            &ContentBlock::from(ToolResultContent::new("c", vec![])),
        )
        .plain("ToolResultContent", &tool_result(json!({"x": 1})));
    for block in [text(), tool_use(), tool_result(json!({}))] {
        cases.plain("SamplingMessageContentBlock", &block);
    }
    cases
        .span(R5, R5)
        .plain("ToolResultContent", &tool_result(Value::Null));
}

fn schema() -> JsonObject {
    object(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
    }))
}

fn tool() -> Tool {
    Tool::new("add")
        .input_schema(schema())
        .title("Add")
        .description("Adds.")
        .read_only()
        .destructive(false)
        .idempotent()
        .open_world(true)
        .icon(icon())
        .meta("com.example/x", 1)
}

fn resource() -> Resource {
    Resource::new("file:///a")
        .name("a")
        .title("A")
        .description("An a.")
        .mime_type("text/plain")
        .size(3)
        .icon(icon())
        .annotations(hints())
        .meta("com.example/x", 1)
}

fn template() -> ResourceTemplate {
    ResourceTemplate::new("file:///{path}")
        .name("files")
        .title("Files")
        .description("Files.")
        .mime_type("text/plain")
        .icon(icon())
        .annotations(hints())
        .meta("com.example/x", 1)
}

fn prompt() -> Prompt {
    Prompt::new("review")
        .title("Review")
        .description("Reviews.")
        .argument(argument())
        .argument(PromptArgument::new("b"))
        .icon(icon())
        .meta("com.example/x", 1)
}

fn argument() -> PromptArgument {
    PromptArgument::new("a")
        .title("A")
        .description("An a.")
        .required()
}

fn definitions(cases: &mut Cases) {
    let annotations = tool().annotations.unwrap();
    cases
        .span(R1, R5)
        .plain("Tool", &Tool::new("a"))
        .plain("Tool", &tool())
        .plain("Resource", &Resource::new("a:b"))
        .plain("Resource", &resource())
        .plain("ResourceTemplate", &ResourceTemplate::new("a:{b}"))
        .plain("ResourceTemplate", &template())
        .plain("Prompt", &Prompt::new("a"))
        .plain("Prompt", &prompt())
        .plain("PromptArgument", &PromptArgument::new("a"))
        .plain("PromptArgument", &argument());
    cases
        .span(R2, R5)
        .plain("ToolAnnotations", &ToolAnnotations::default())
        .plain("ToolAnnotations", &annotations);
    cases
        .span(R3, R5)
        .plain("Tool", &tool().output_schema(schema()));
    let mut task_tool = tool();
    let execution = task_tool.execution.get_or_insert_default();
    execution.task_support = Some(TaskSupport::Optional);
    cases
        .span(R4, R4)
        .plain("Tool", &task_tool)
        .plain("ToolExecution", &task_tool.execution);
    let free = object(json!({"type": "array", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": {}}}));
    cases
        .span(R5, R5)
        .plain("Tool", &tool().output_schema(free));
}

fn client() -> ClientCapabilities {
    let mut client = ClientCapabilities::default()
        .with_roots_changes()
        .with_sampling_tools()
        .with_elicitation()
        .with_url_elicitation()
        .with_extension(
            keys::UI_EXTENSION,
            &json!({"mimeTypes": ["text/html;profile=mcp-app"]}),
        );
    client
        .experimental
        .insert("com.example/x".to_owned(), json!({"a": 1}));
    let sampling = client.sampling.get_or_insert_default();
    sampling.context = Some(ExtraFields::default());
    client
}

fn server() -> ServerCapabilities {
    let mut server = ServerCapabilities::default()
        .with_tools(true)
        .with_prompts(true)
        .with_resources(true, true)
        .with_extension(keys::TASKS_EXTENSION, &ext::tasks::TasksSettings::default())
        .with_extension(keys::SKILLS_EXTENSION, &json!({"directoryRead": true}));
    server.completions = Some(ExtraFields::default());
    server.logging = Some(ExtraFields::default());
    server
        .experimental
        .insert("com.example/x".to_owned(), json!({"a": 1}));
    server
}

fn capabilities(cases: &mut Cases) {
    cases
        .span(R1, R5)
        .plain("ClientCapabilities", &ClientCapabilities::default())
        .plain("ClientCapabilities", &client())
        .plain("ServerCapabilities", &ServerCapabilities::default())
        .plain("ServerCapabilities", &server());
    let mut client = client();
    client.tasks = serde_json::from_value(json!({
        "list": {}, "cancel": {},
        "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
    }))
    .unwrap();
    let mut server = server();
    server.tasks = serde_json::from_value(json!({"requests": {"tools": {"call": {}}}})).unwrap();
    cases
        .span(R4, R4)
        .plain("ClientCapabilities", &client)
        .plain("ServerCapabilities", &server);
}
