//! The vocabulary of the Model Context Protocol: one superset of types for every revision.
//!
//! | you look for | module |
//! |---|---|
//! | JSON-RPC: ids, messages, the parser, batches, errors | `jsonrpc` |
//! | revisions, and what each of them knows | `version` |
//! | the table of methods | `method` |
//! | error codes and their data | [`codes`] |
//! | `_meta`: its reserved keys, the syntax of keys, traces | [`meta`] |
//! | tools, resources, prompts, content, … | one module per page of the specification |
//! | what a server asks of a client | `elicitation`, `sampling`, `roots`; `input` has all three |
//! | the handshake and the tasks of the legacy era | `lifecycle`, [`legacy_tasks`] |
//! | the official extensions | [`ext`] |
//!
//! The types know nothing of transports, clocks or runtimes. What a revision may not see is left
//! out by the wires in `mcp-core`, never here.

mod cache;
mod cancellation;
mod capabilities;
pub mod codes;
mod completion;
mod content;
mod discover;
mod elicitation;
pub mod ext;
mod implementation;
mod input;
#[doc(hidden)]
#[allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    missing_debug_implementations,
    missing_docs,
    reason = "for the crates of this workspace"
)]
pub mod json;
mod jsonrpc;
pub mod legacy_tasks;
mod lifecycle;
mod logging;
pub mod meta;
mod method;
mod number;
mod page;
mod progress;
mod prompts;
mod raw;
mod reread;
mod resources;
mod roots;
mod sampling;
mod setters;
mod subscriptions;
mod text;
mod time;
mod tools;
mod version;

pub use cache::{CacheHint, CacheScope};
pub use cancellation::Cancelled;
pub use capabilities::{
    ClientCapabilities, ElicitationCapability, ListChangedCapability, ResourcesCapability,
    RootsCapability, SamplingCapability, ServerCapabilities, Settings,
};
pub use completion::{
    CompleteParams, CompleteResult, Completion, CompletionArgument, CompletionContext,
    CompletionReference,
};
pub use content::{
    Annotations, AudioContent, Blob, BlobResourceContents, ContentBlock, EmbeddedResource,
    ImageContent, InvalidAnnotations, ResourceContents, ResourceLink, Role, Text, TextContent,
    TextResourceContents, ToolResultContent, ToolUseContent,
};
pub use discover::DiscoverResult;
pub use elicitation::{
    BooleanSchema, Choice, Choices, ElicitAction, ElicitFormParams, ElicitParams, ElicitResult,
    ElicitUrlParams, ElicitationComplete, EnumSchema, FormError, FormSchema, MultiSelectSchema,
    NumberSchema, PrimitiveSchema, StringFormat, StringSchema,
};
pub use implementation::{Icon, IconTheme, Implementation};
pub use input::{InputRequest, InputRequests, InputRequired, InputResponse, InputResponses};
pub use jsonrpc::{
    ErrorObject, Message, Notification, ParamError, Params, ParseError, Request, RequestId,
    Response,
};
pub use lifecycle::{InitializeParams, InitializeResult};
pub use logging::{LogMessage, LoggingLevel, SetLevelParams};
pub use meta::Meta;
pub use method::{Capability, Method, MethodKind, MethodSpec, Sender};
pub use page::{Cursor, Page};
pub use progress::{ProgressParams, ProgressToken, ProgressUpdate};
pub use prompts::{
    GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
};
#[doc(hidden)]
pub use raw::plain_until;
pub use raw::{RawJson, RawObject, RawObjectError};
pub use resources::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams, ReadResourceResult,
    Resource, ResourceTemplate, ResourceUpdated, SubscribeParams,
};
pub use roots::{ListRootsResult, Root};
pub use sampling::{
    BrokenConversation, CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint,
    ModelPreferences, SamplingContent, SamplingMessage, StopReason, ToolChoice, ToolChoiceMode,
};
pub use subscriptions::{
    ListenParams, ListenResult, PlainNotification, SubscriptionAcknowledged, SubscriptionFilter,
};
#[doc(hidden)]
pub use text::joined;
pub use tools::{
    CallToolParams, CallToolResult, ListToolsResult, Tool, ToolAnnotations, ToolExecution,
    UnexpectedResult,
};
pub use version::{Era, ProtocolVersion, UnknownVersion};

/// A JSON object whose members keep their order: schemas, settings, unknown members.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;
