//! The `_meta` keys and the identifiers that the specification reserves.

/// Revision of the protocol, on every modern request.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Capabilities of the client, on every modern request.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Name and version of the client, on modern requests.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// Name and version of the server, on modern results.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Least level of log messages wanted for a modern request.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Id of the `subscriptions/listen` request that a notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// Token under which progress of a request is reported.
pub const PROGRESS_TOKEN: &str = "progressToken";
/// W3C Trace Context: parent span.
pub const TRACEPARENT: &str = "traceparent";
/// W3C Trace Context: vendor state.
pub const TRACESTATE: &str = "tracestate";
/// W3C Baggage.
pub const BAGGAGE: &str = "baggage";
/// The experimental task (2025-11-25) that a message belongs to.
// spec: META-15
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// What a host may give its language model at once while a task runs (2025-11-25).
// spec: META-15
pub const MODEL_IMMEDIATE_RESPONSE: &str = "io.modelcontextprotocol/model-immediate-response";
/// What a tool or a resource has to do with user interfaces: of MCP Apps.
// spec: APP-03, APP-04
pub const UI: &str = "ui";
/// The user interface of a tool, as it was written once: of MCP Apps. Read it, do not write it.
// spec: APP-04
pub const UI_RESOURCE_URI: &str = "ui/resourceUri";

/// The tasks extension, in `extensions` of capabilities.
// spec: EXT-04
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// MCP Apps, in `extensions` of capabilities.
// spec: EXT-04
pub const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The skills extension, in `extensions` of capabilities.
// spec: EXT-04
pub const SKILLS_EXTENSION: &str = "io.modelcontextprotocol/skills";
/// What keys of `_meta` that belong to skills begin with.
// spec: SKILL-09
pub const SKILLS_PREFIX: &str = "io.modelcontextprotocol.skills/";
