//! Events of servers (draft): the method names. The error codes are in [`codes`](crate::codes).
//!
//! The error codes (-32023 to -32027) come from the draft of 5 October 2026, the newest text. The
//! official conformance suite's events scenarios are from September 2026 and expect an earlier draft's
//! codes, which begin with -32011.
//!
//! Spec: <https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415>

/// Lists the event types.
pub const LIST: &str = "events/list";
/// Reads events.
pub const POLL: &str = "events/poll";
/// Streams events as notifications until the client cancels the request.
pub const STREAM: &str = "events/stream";
/// Creates or renews the event delivery to a URL.
pub const SUBSCRIBE: &str = "events/subscribe";
/// Ends the event delivery to a URL.
pub const UNSUBSCRIBE: &str = "events/unsubscribe";
/// Notifies that the event types have changed.
pub const LIST_CHANGED: &str = "notifications/events/list_changed";
