//! Subscriptions to changes (2026-07-28).
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

use std::ops::Not;

use serde::{Deserialize, Serialize};

use crate::{de, extra::ExtraFields, meta::Meta};

/// Selection of changes: those that a client subscribes to, or those that a server sends.
///
/// # Examples
///
/// ```
/// use mcp::types::SubscriptionFilter;
///
/// let filter = SubscriptionFilter::new().tools_changed().resource("file:///a");
/// assert_eq!(
///     serde_json::to_string(&filter)?,
///     r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
// spec: SUB-01
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// The tool list's changes.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Not::not"
    )]
    pub tools_list_changed: bool,
    /// The prompt list's changes.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Not::not"
    )]
    pub prompts_list_changed: bool,
    /// The resource list's changes.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Not::not"
    )]
    pub resources_list_changed: bool,
    /// URIs of resources whose changes are selected.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub resource_subscriptions: Vec<String>,
    /// Ids of tasks whose changes are selected (tasks extension).
    // spec: TASK-19
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub task_ids: Vec<String>,
    /// Changes of the event type list (events extension, draft).
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Not::not"
    )]
    pub events_list_changed: bool,
    /// Selections of other extensions.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

impl SubscriptionFilter {
    /// Creates a filter that selects no changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects changes of the tool list.
    #[must_use]
    pub fn tools_changed(mut self) -> Self {
        self.tools_list_changed = true;
        self
    }

    /// Selects changes of the prompt list.
    #[must_use]
    pub fn prompts_changed(mut self) -> Self {
        self.prompts_list_changed = true;
        self
    }

    /// Selects changes of the resource list.
    #[must_use]
    pub fn resources_changed(mut self) -> Self {
        self.resources_list_changed = true;
        self
    }

    /// Selects changes of the resource at `uri` and of the resources below it.
    #[must_use]
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.resource_subscriptions.push(uri.into());
        self
    }

    /// Selects changes of a task (tasks extension).
    #[must_use]
    pub fn task(mut self, id: impl Into<String>) -> Self {
        self.task_ids.push(id.into());
        self
    }

    /// Selects changes of the event type list (events extension, draft).
    #[must_use]
    pub fn events_changed(mut self) -> Self {
        self.events_list_changed = true;
        self
    }

    /// Returns the selected resource that covers `uri`: the resource itself or its nearest ancestor.
    // spec: RSRC-13
    pub fn covering(&self, uri: &str) -> Option<&str> {
        let selected = self.resource_subscriptions.iter().map(String::as_str);
        let covering = selected.filter(|ancestor| {
            uri.strip_prefix(ancestor).is_some_and(|below| {
                below.is_empty() || ancestor.ends_with('/') || below.starts_with('/')
            })
        });
        covering.max_by_key(|ancestor| ancestor.len())
    }

    /// Returns `true` if no changes are selected.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Parameters of `subscriptions/listen`.
// spec: SUB-01
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListenParams {
    /// Changes that the client subscribes to.
    pub notifications: SubscriptionFilter,
}

impl From<SubscriptionFilter> for ListenParams {
    fn from(notifications: SubscriptionFilter) -> Self {
        Self { notifications }
    }
}

/// Result of `subscriptions/listen`, sent when the server ends the subscription.
// spec: SUB-09
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ListenResult {
    /// Protocol-level metadata (`_meta`), in particular the subscription's id.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Parameters of `notifications/subscriptions/acknowledged`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SubscriptionAcknowledged {
    /// Changes that the server sends: a part of the requested ones.
    pub notifications: SubscriptionFilter,
    /// Protocol-level metadata (`_meta`), in particular the subscription's id.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Parameters of notifications that have only `_meta`, such as
/// `notifications/tools/list_changed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PlainNotification {
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ListenResult, SubscriptionFilter};
    use crate::jsonrpc::RequestId;
    use crate::meta::{Meta, keys};

    #[test]
    fn unknown_members_in_a_filter_are_kept() {
        let value = json!({
            "promptsListChanged": true, "resourcesListChanged": true, "taskIds": ["t"],
            "weather": {"city": "Rome"},
        });
        let filter: SubscriptionFilter = serde_json::from_value(value.clone()).unwrap();
        assert!(filter.prompts_list_changed && !filter.tools_list_changed && !filter.is_empty());
        assert_eq!(serde_json::to_value(&filter).unwrap(), value);
        for broken in ["[]", r#"{"toolsListChanged":1}"#, r#"{"taskIds":[1]}"#] {
            assert!(
                serde_json::from_str::<SubscriptionFilter>(broken).is_err(),
                "{broken}"
            );
        }
        let no = r#"{"toolsListChanged":false,"taskIds":null}"#;
        assert!(
            serde_json::from_str::<SubscriptionFilter>(no)
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn resource_is_covered_by_itself_and_its_ancestors() {
        let filter = SubscriptionFilter::new()
            .resource("file:///a")
            .resource("file:///a/b/")
            .resource("mail://");
        for (uri, covering) in [
            ("file:///a", Some("file:///a")),
            ("file:///a/c", Some("file:///a")),
            ("file:///a/b/c/d", Some("file:///a/b/")),
            ("file:///a/b", Some("file:///a")),
            ("file:///ab", None),
            ("file:///", None),
            ("mail://inbox", Some("mail://")),
            ("", None),
        ] {
            assert_eq!(filter.covering(uri), covering, "{uri}");
        }
    }

    #[test]
    fn subscription_id_keeps_its_json_type() {
        for id in [RequestId::from(1), RequestId::from("1")] {
            let meta = Meta::default().with(keys::SUBSCRIPTION_ID, id.clone());
            assert_eq!(meta.get(keys::SUBSCRIPTION_ID), Some(id.clone()));
            let end = ListenResult { meta: Some(meta) };
            let value = serde_json::to_value(&end).unwrap();
            let key = "io.modelcontextprotocol/subscriptionId";
            assert_eq!(value["_meta"][key], serde_json::to_value(&id).unwrap());
        }
    }
}
