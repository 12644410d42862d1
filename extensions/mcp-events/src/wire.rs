//! Parameters and results of the methods.

use mcp_types::JsonObject;
use serde::{Deserialize, Serialize};

/// A way to receive events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DeliveryMode {
    /// The client asks for new events: `events/poll`.
    Poll,
    /// The server sends notifications: `events/stream`.
    Push,
    /// The server posts to a URL: `events/subscribe`.
    Webhook,
}

/// An event type of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EventDescriptor {
    /// The name.
    pub name: String,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The ways to receive events, at least one.
    pub delivery: Vec<DeliveryMode>,
    /// The arguments' JSON Schema, which select events.
    pub input_schema: JsonObject,
    /// The payload's JSON Schema.
    pub payload_schema: JsonObject,
    /// Further metadata (`_meta`).
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<JsonObject>,
}

/// Parameters of `events/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ListEventsParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// Result of `events/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListEventsResult {
    /// The event types.
    pub events: Vec<EventDescriptor>,
    /// The cursor of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// An event. Its data is untrusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EventOccurrence {
    /// The unique id: an event may arrive more than once.
    pub event_id: String,
    /// The name of the event type.
    pub name: String,
    /// The time in ISO 8601.
    pub timestamp: String,
    /// The payload.
    pub data: JsonObject,
    /// The position after the event. `None`: the event cannot be read again.
    pub cursor: Option<String>,
    /// Further metadata (`_meta`).
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Box<JsonObject>>,
}

/// Event selection: the parameters that all methods share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Selector {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<JsonObject>,
    /// `null` starts now.
    pub(crate) cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_age_ms: Option<u64>,
}

/// Parameters of `events/poll`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PollParams {
    #[serde(flatten)]
    pub(crate) selector: Selector,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_events: Option<u32>,
}

/// Result of `events/poll`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PollResult {
    /// The events, in order.
    pub events: Vec<EventOccurrence>,
    /// The position after them.
    pub cursor: Option<String>,
    /// True if events before these are lost.
    #[serde(default)]
    pub truncated: bool,
    /// True if more events are available now.
    #[serde(default)]
    pub has_more: bool,
    /// The time until the next poll, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_poll_ms: Option<u64>,
}

/// Parameters of `notifications/events/active` and `notifications/events/heartbeat`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Position {
    pub(crate) cursor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<bool>,
}

/// Parameters of `notifications/events/terminated`, and a control message of webhooks.
#[cfg(feature = "client")]
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct Termination {
    error: Option<TerminationError>,
}

#[cfg(feature = "client")]
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
struct TerminationError {
    #[serde(default)]
    message: String,
}

#[cfg(feature = "client")]
impl Termination {
    /// The reason that the server gives, at most 1,000 characters.
    pub(crate) fn reason(self) -> String {
        let message = self.error.unwrap_or_default().message;
        message.chars().take(1000).collect()
    }
}

/// The target of a webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Target {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<String>,
    pub(crate) url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<String>,
}

/// Parameters of `events/subscribe` and `events/unsubscribe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubscribeParams {
    #[serde(flatten)]
    pub(crate) selector: Selector,
    pub(crate) delivery: Target,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ttl_ms: Option<u64>,
}

/// Result of `events/subscribe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SubscribeResult {
    /// The subscription id, as `X-MCP-Subscription-Id` names it.
    pub id: String,
    /// The time in ISO 8601 before which the subscription has to be renewed. `None`: no end.
    pub refresh_before: Option<String>,
    /// The position of the subscription.
    pub cursor: Option<String>,
    /// True if events before that position are lost.
    #[serde(default)]
    pub truncated: bool,
    /// The state of deliveries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_status: Option<DeliveryStatus>,
}

/// The delivery state of a subscription.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DeliveryStatus {
    /// False after the last delivery has failed.
    pub active: bool,
    /// The time of the last delivery in ISO 8601.
    pub last_delivery_at: Option<String>,
    /// The last error.
    pub last_error: Option<String>,
    /// The time of the first failure since the last delivery, in ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_since: Option<String>,
    /// True while the server waits because the webhook has asked for it (`Retry-After`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<bool>,
    /// The length of that wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// The path of [`ReceiverFile`].
pub(crate) const RECEIVER_FILE: &str = "/.well-known/mcp-webhook-receiver.json";

/// The paths of a host that agree to receive events. A path that ends with a slash includes all paths
/// below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReceiverFile {
    pub(crate) receivers: Vec<String>,
}

impl ReceiverFile {
    /// Returns true if a path is listed.
    #[cfg(feature = "server")]
    pub(crate) fn covers(&self, path: &str) -> bool {
        self.receivers.iter().any(|receiver| {
            receiver.starts_with('/')
                && (path == receiver || receiver.ends_with('/') && path.starts_with(receiver))
        })
    }
}

#[cfg(all(test, feature = "server"))]
mod tests {
    use super::ReceiverFile;

    #[test]
    fn receiver_file_covers_its_paths_and_folders_only() {
        let file = |receiver: &str| ReceiverFile {
            receivers: vec![receiver.to_owned()],
        };
        for (receiver, path, is_covered) in [
            ("/hooks/", "/hooks/a/b", true),
            ("/hooks/", "/hooks/", true),
            ("/hooks/", "/hooks", false),
            ("/hooks", "/hooks", true),
            ("/hooks", "/hooks/a", false),
            ("/hooks", "/hooksandmore", false),
            ("/", "/a", true),
            ("", "/a", false),
            ("hooks/", "/hooks/a", false),
        ] {
            assert_eq!(file(receiver).covers(path), is_covered, "{receiver} {path}");
        }
    }
}
