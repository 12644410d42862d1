//! Events of servers (draft): the names of methods and the error codes.
//!
//! The error codes (-32023 to -32027) come from the draft of 5 October 2026, the newest text. The events
//! scenarios of the official conformance suite are from September 2026 and expect the codes of an earlier
//! draft, which begin with -32011.
//!
//! Spec: <https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415>

use crate::codes;

/// Lists the event types.
pub const LIST: &str = "events/list";
/// Reads events.
pub const POLL: &str = "events/poll";
/// Streams events as notifications until the client cancels the request.
pub const STREAM: &str = "events/stream";
/// Creates or renews the delivery of events to a URL.
pub const SUBSCRIBE: &str = "events/subscribe";
/// Ends the delivery of events to a URL.
pub const UNSUBSCRIBE: &str = "events/unsubscribe";
/// Notifies that the event types have changed.
pub const LIST_CHANGED: &str = "notifications/events/list_changed";

/// The event type or the subscription does not exist (provisional).
pub const NOT_FOUND: i64 = codes::EVENTS_NOT_FOUND;
/// The caller may not do this (provisional).
pub const FORBIDDEN: i64 = codes::EVENTS_FORBIDDEN;
/// A limit is reached (provisional).
pub const RESOURCE_EXHAUSTED: i64 = codes::EVENTS_RESOURCE_EXHAUSTED;
/// The server does not have a feature (provisional).
pub const UNSUPPORTED: i64 = codes::EVENTS_UNSUPPORTED;
/// The URL of a subscription does not accept events (provisional).
pub const CALLBACK_ENDPOINT_ERROR: i64 = codes::EVENTS_CALLBACK_ENDPOINT_ERROR;
