//! Every header name and every fixed header value that this crate reads or writes. Those of the
//! protocol itself are for proxies and gateways, too.
//!
//! Names are compared without case, values with case (spec: HTTP-S-09); [`HeaderName`] does the
//! former by being lower case.

use http::{HeaderName, HeaderValue};

#[doc(hidden)]
pub use http::header::{
    ACCEPT, ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE,
    EXPECT, HOST, LOCATION, ORIGIN, RETRY_AFTER, TRANSFER_ENCODING,
};

/// Protocol version of the request; equals the version in the body's `_meta`.
pub const MCP_PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The JSON-RPC method of the body.
pub const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// What the method acts upon: a tool, a prompt, a resource or a task.
pub const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Start of the headers that carry arguments of a tool, in lower case.
pub const MCP_PARAM_PREFIX: &str = "mcp-param-";
/// Session of the revisions before 2026-07-28.
pub const MCP_SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The last event that a reconnecting client has seen (revisions before 2026-07-28).
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Tells reverse proxies whether they may hold a response back.
#[doc(hidden)]
pub const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The media type of a single JSON answer.
#[doc(hidden)]
pub const JSON: HeaderValue = HeaderValue::from_static(JSON_TYPE);
/// The media type of a stream of events.
#[doc(hidden)]
pub const EVENT_STREAM: HeaderValue = HeaderValue::from_static(EVENT_STREAM_TYPE);
/// The media type of hints for people.
#[doc(hidden)]
pub const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
/// What a client of this transport accepts.
#[doc(hidden)]
pub const ACCEPT_BOTH: HeaderValue =
    HeaderValue::from_static("application/json, text/event-stream");
/// `Cache-Control` of event streams.
#[doc(hidden)]
pub const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
/// `X-Accel-Buffering` of event streams.
#[doc(hidden)]
pub const NO: HeaderValue = HeaderValue::from_static("no");
/// `Allow` of an endpoint that serves the modern era only.
#[doc(hidden)]
pub const ALLOW_POST: HeaderValue = HeaderValue::from_static("POST");

/// `Allow` of an endpoint that serves sessions as well.
#[doc(hidden)]
pub const ALLOW_ALL: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");

pub(crate) const JSON_TYPE: &str = "application/json";
pub(crate) const EVENT_STREAM_TYPE: &str = "text/event-stream";
