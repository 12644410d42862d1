//! Keys of `_meta` and extension identifiers that the specification reserves.

/// Revision of the protocol (every modern request).
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Capabilities of the client (every modern request).
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Name and version of the client (modern requests).
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// Name and version of the server (modern results).
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Minimum severity of log messages for a modern request.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Id of the `subscriptions/listen` request that a notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// Token for progress notifications of a request.
pub const PROGRESS_TOKEN: &str = "progressToken";
/// Keys of `_meta` that a client writes into a request itself. They belong to one request between one
/// client and one server, so programs cannot set them, and a gateway does not pass them on.
// spec: META-08, META-11
pub const ENVELOPE: [&str; 5] = [
    PROTOCOL_VERSION,
    CLIENT_INFO,
    CLIENT_CAPABILITIES,
    PROGRESS_TOKEN,
    LOG_LEVEL,
];
/// W3C Trace Context: parent span.
pub const TRACEPARENT: &str = "traceparent";
/// W3C Trace Context: vendor-specific state.
pub const TRACESTATE: &str = "tracestate";
/// W3C Baggage.
pub const BAGGAGE: &str = "baggage";
/// Experimental task that a message belongs to (2025-11-25).
// spec: META-15
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// Immediate response for the language model while a task runs (2025-11-25).
// spec: META-15
pub const MODEL_IMMEDIATE_RESPONSE: &str = "io.modelcontextprotocol/model-immediate-response";
/// User interface of a tool or a resource (MCP Apps).
// spec: APP-03, APP-04
pub const UI: &str = "ui";
/// URI of a tool's user interface in the deprecated form (MCP Apps): for reading only.
// spec: APP-04
pub const UI_RESOURCE_URI: &str = "ui/resourceUri";

/// The tasks extension's identifier.
// spec: EXT-04
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// Identifier of MCP Apps.
// spec: EXT-04
pub const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The events extension's identifier (draft).
pub const EVENTS_EXTENSION: &str = "io.modelcontextprotocol/events";
/// The skills extension's identifier.
// spec: EXT-04
pub const SKILLS_EXTENSION: &str = "io.modelcontextprotocol/skills";
/// The client credentials extension's identifier.
// spec: EXT-04
pub const CLIENT_CREDENTIALS_EXTENSION: &str = "io.modelcontextprotocol/oauth-client-credentials";
/// Identifier of enterprise-managed authorization.
// spec: EXT-04
pub const ENTERPRISE_EXTENSION: &str = "io.modelcontextprotocol/enterprise-managed-authorization";
/// Identifier of workload identity federation (draft).
// spec: EXT-04
pub const WORKLOAD_EXTENSION: &str = "io.modelcontextprotocol/auth/wif";
/// Prefix of the skills extension's `_meta` keys.
// spec: SKILL-09
pub const SKILLS_PREFIX: &str = "io.modelcontextprotocol.skills/";
/// Prefix of the keys that the protocol reserves in a skill's front matter, in `metadata`.
// spec: SKILL-35
pub const RESERVED_METADATA_PREFIX: &str = "io.modelcontextprotocol/";
