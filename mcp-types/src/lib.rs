//! Types of the Model Context Protocol. Each type has the members of all revisions.
//!
//! | Topic | Module |
//! |---|---|
//! | JSON-RPC: ids, messages, parser, batches, errors | `jsonrpc` |
//! | all messages that a client or a server sends, owned, and typed by their method | `owned` |
//! | revisions and their features | `version` |
//! | table of methods | `method` |
//! | error codes and their `data` | [`codes`] |
//! | `_meta`: reserved keys, key syntax, trace context | [`meta`] |
//! | tools, resources, prompts, content, … | one module per page of the specification |
//! | a server's requests to its client | `elicitation`, `sampling`, `roots`; `input` combines them |
//! | a peer's text in logs, terminals and messages | [`escape_line`], [`escape_block`], [`escape_json`], [`escaped`] |
//! | a peer's URLs that the program opens or loads; URLs that the program sends | `checked_url` (feature `url`), `own_url` |
//! | URI templates: parts, variables, expansion | [`uri_template`] |
//! | legacy handshake and legacy tasks | `lifecycle`, [`legacy_tasks`] |
//! | official extensions | [`ext`] |
//!
//! All types implement serde's `Serialize` and `Deserialize`. Optional members may be missing or `null`. A
//! field named `extra` keeps unknown members; types without such a field ignore them. A known member that
//! occurs twice is an error. With the feature `schemars`, all types implement `schemars::JsonSchema`.
//!
//! The crate does no IO, reads no clock, and needs no async runtime. The wires in `mcp-core` leave out members
//! that a revision does not define.

mod cache;
mod cancellation;
mod capabilities;
#[cfg(feature = "url")]
mod checked_url;
pub mod codes;
mod completion;
mod content;
mod de;
mod discover;
mod elicitation;
mod escape;
pub mod ext;
mod extra;
mod finite;
mod icon;
mod implementation;
mod input;
#[cfg(feature = "schemars")]
mod json_schema;
mod jsonrpc;
pub mod legacy_tasks;
mod lifecycle;
mod logging;
pub mod meta;
mod method;
mod number;
mod own_url;
mod owned;
mod page;
mod progress;
mod prompts;
mod raw;
mod resources;
mod roots;
mod sampling;
mod setters;
mod subscriptions;
mod tagged;
mod task_status;
mod text_enum;
pub mod time;
mod tools;
pub mod uri_template;
mod version;

pub use cache::{CacheHint, CacheScope};
pub use cancellation::Cancelled;
pub use capabilities::{
    ClientCapabilities, ElicitationCapability, ListChangedCapability, ResourcesCapability,
    RootsCapability, SamplingCapability, ServerCapabilities,
};
pub use completion::{
    CompleteParams, CompleteResult, Completion, CompletionArgument, CompletionContext,
    CompletionReference,
};
pub use content::{
    Annotations, AudioContent, Blob, BlobResourceContents, ContentBlock, EmbeddedResource,
    ImageContent, ResourceContents, ResourceLink, Role, TextContent, TextResourceContents,
    ToolResultContent, ToolUseContent,
};
pub use discover::DiscoverResult;
pub use elicitation::{
    BooleanSchema, Choice, Choices, ElicitAction, ElicitFormParams, ElicitParams, ElicitResult,
    ElicitUrlParams, ElicitationComplete, EnumSchema, FormError, FormSchema, MultiSelectSchema,
    NumberSchema, PrimitiveSchema, StringFormat, StringSchema,
};
pub use escape::{escape_block, escape_json, escape_line, escaped, shorten, truncate};
pub use extra::{ExtraFields, JsonObject};
pub use icon::{Icon, IconTheme};
pub use implementation::Implementation;
pub use input::{InputRequest, InputRequests, InputRequired, InputResponse, InputResponses};
pub use jsonrpc::{
    ErrorObject, Message, Notification, ParamError, Params, ParseError, Request, RequestId,
    Response,
};
pub use lifecycle::{InitializeParams, InitializeResult};
pub use logging::{LogMessage, LoggingLevel, SetLevelParams};
pub use meta::Meta;
pub use method::{Method, MethodKind, MethodSpec, Sender};
pub use own_url::UrlError;
pub use owned::{ClientMessage, ClientParams, Lossless, ServerMessage, ServerParams};
pub use page::{Cursor, Page};
pub use progress::{ProgressParams, ProgressToken, ProgressUpdate};
pub use prompts::{
    GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
};
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
pub use tools::{
    CallToolParams, CallToolResult, ListToolsResult, Tool, ToolAnnotations, ToolExecution,
    UnexpectedResult, is_tool_name,
};
pub use version::{ProtocolVersion, UnknownVersion};

#[cfg(feature = "url")]
pub use url::Url;

// For the other packages of this project.
#[doc(hidden)]
pub use self::{de::without_position, jsonrpc::is_plain};
