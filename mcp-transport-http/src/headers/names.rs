//! Names and fixed values of the headers that this crate reads or writes. The protocol's names are
//! public, for proxies and gateways.
//!
//! Header names are compared without regard to case, header values with case (spec: HTTP-S-09). A
//! [`HeaderName`] is always lower case.

use http::{HeaderName, HeaderValue};

pub(crate) use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, AUTHORIZATION, CACHE_CONTROL,
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, LOCATION, ORIGIN, RETRY_AFTER,
    TRANSFER_ENCODING, WWW_AUTHENTICATE,
};

/// Protocol version of the request. Equal to the version in the `_meta` of the body.
pub const MCP_PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The body's JSON-RPC method.
pub const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// Tool, prompt, resource or task that the method acts upon.
pub const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Prefix of all protocol headers, in lower case.
pub(crate) const MCP_PREFIX: &str = "mcp-";
/// Prefix of the headers that carry arguments of a tool, in lower case.
pub const MCP_PARAM_PREFIX: &str = "mcp-param-";
/// Session id (revisions before 2026-07-28).
pub const MCP_SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// Id of the last event that a reconnecting client has received (revisions before 2026-07-28).
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The response's buffering by reverse proxies.
pub(crate) const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Media type of a JSON response.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static(JSON_TYPE);
/// Media type of an event stream.
pub(crate) const EVENT_STREAM: HeaderValue = HeaderValue::from_static(EVENT_STREAM_TYPE);
/// Media type of plain text.
pub(crate) const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
/// Media types that a client of this transport accepts.
pub(crate) const ACCEPT_BOTH: HeaderValue =
    HeaderValue::from_static("application/json, text/event-stream");
/// `Cache-Control` of event streams. A proxy that compresses keeps events in its compressor until the
/// stream ends, so that a question to the client never arrives; `no-transform` forbids that.
pub(crate) const NO_STORE_NO_TRANSFORM: HeaderValue =
    HeaderValue::from_static("no-store, no-transform");
/// `X-Accel-Buffering` of event streams.
pub(crate) const NO: HeaderValue = HeaderValue::from_static("no");
/// `Accept-Encoding` of this transport, which decodes no bodies.
pub(crate) const IDENTITY: HeaderValue = HeaderValue::from_static("identity");
/// `Allow` of an endpoint without sessions.
pub(crate) const ALLOW_POST: HeaderValue = HeaderValue::from_static("POST");
/// `Allow` of an endpoint with sessions.
pub(crate) const ALLOW_ALL: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");

pub(crate) const JSON_TYPE: &str = "application/json";
pub(crate) const EVENT_STREAM_TYPE: &str = "text/event-stream";
