//! The `_meta` keys that the specification reserves.

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
