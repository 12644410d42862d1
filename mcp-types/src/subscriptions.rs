//! Changes: who wants to hear of which.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

use crate::json::members;
use crate::meta::keys;
use crate::{Meta, RequestId, Settings};

/// The changes that a client wants to hear of, or that a server will tell.
///
/// # Examples
///
/// ```
/// use mcp_types::SubscriptionFilter;
///
/// let filter = SubscriptionFilter::new().tools_changed().resource("file:///a");
/// assert_eq!(
///     serde_json::to_string(&filter)?,
///     r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
// spec: SUB-01
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// Changes of the list of tools.
    pub tools_list_changed: bool,
    /// Changes of the list of prompts.
    pub prompts_list_changed: bool,
    /// Changes of the list of resources.
    pub resources_list_changed: bool,
    /// Changes of single resources, by URI.
    pub resource_subscriptions: Vec<String>,
    /// Changes of tasks, by id: of the tasks extension.
    // spec: TASK-19
    pub task_ids: Vec<String>,
    /// What other extensions add.
    pub other: Settings,
}

members!(SubscriptionFilter as "a filter of changes" {
    "toolsListChanged" => tools_list_changed or nothing,
    "promptsListChanged" => prompts_list_changed or nothing,
    "resourcesListChanged" => resources_list_changed or nothing,
    "resourceSubscriptions" => resource_subscriptions or nothing,
    "taskIds" => task_ids or nothing,
} and other);

impl SubscriptionFilter {
    /// No change at all.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also changes of the list of tools.
    #[must_use]
    pub fn tools_changed(mut self) -> Self {
        self.tools_list_changed = true;
        self
    }

    /// Also changes of the list of prompts.
    #[must_use]
    pub fn prompts_changed(mut self) -> Self {
        self.prompts_list_changed = true;
        self
    }

    /// Also changes of the list of resources.
    #[must_use]
    pub fn resources_changed(mut self) -> Self {
        self.resources_list_changed = true;
        self
    }

    /// Also changes of one resource.
    #[must_use]
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.resource_subscriptions.push(uri.into());
        self
    }

    /// Also changes of one task: of the tasks extension.
    #[must_use]
    pub fn task(mut self, id: impl Into<String>) -> Self {
        self.task_ids.push(id.into());
        self
    }

    /// A change of the resource at `uri` is wanted: it was asked for, or one above it.
    // spec: RSRC-13
    pub fn covers(&self, uri: &str) -> bool {
        self.covering(uri).is_some()
    }

    /// What was asked for of the resource at `uri`: itself, or the nearest one above it.
    pub fn covering(&self, uri: &str) -> Option<&str> {
        let asked = self.resource_subscriptions.iter().map(String::as_str);
        let covering = asked.filter(|asked| {
            uri.strip_prefix(asked).is_some_and(|below| {
                below.is_empty() || asked.ends_with('/') || below.starts_with('/')
            })
        });
        covering.max_by_key(|asked| asked.len())
    }

    /// No change at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Parameters of `subscriptions/listen`.
// spec: SUB-01
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListenParams {
    /// The changes that the client wants to hear of.
    pub notifications: SubscriptionFilter,
}

members!(ListenParams as "what to listen to" {
    "notifications" => notifications,
});

impl ListenParams {
    /// Listens for some changes.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self { notifications }
    }
}

/// The result of `subscriptions/listen`: the server has ended the subscription in good order.
// spec: SUB-09
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListenResult {
    /// What the result carries beside, the id of the subscription above all.
    pub meta: Option<Meta>,
}

members!(ListenResult as "the end of a subscription" {
    "_meta" => meta or nothing,
});

impl ListenResult {
    /// The end of the subscription that the request `id` began.
    pub fn new(id: &RequestId) -> Self {
        Self {
            meta: Some(Meta::default().for_subscription(id)),
        }
    }

    /// The id of the request that began the subscription.
    pub fn subscription_id(&self) -> Option<RequestId> {
        self.meta.as_ref()?.subscription_id()
    }
}

/// Parameters of `notifications/subscriptions/acknowledged`.
// spec: SUB-03
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SubscriptionAcknowledged {
    /// The changes that the server will tell: a part of what the client asked for.
    pub notifications: SubscriptionFilter,
    /// What the notification carries beside, the id of the subscription above all.
    pub meta: Option<Meta>,
}

members!(SubscriptionAcknowledged as "a subscription" {
    "notifications" => notifications,
    "_meta" => meta or nothing,
});

impl SubscriptionAcknowledged {
    /// The subscription that the request `id` began will tell some changes.
    pub fn new(id: &RequestId, notifications: SubscriptionFilter) -> Self {
        Self {
            notifications,
            meta: Some(Meta::default().for_subscription(id)),
        }
    }
}

/// Parameters of notifications that say all by their name: a list has changed, the handshake is
/// done.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PlainNotification {
    /// What the notification carries beside.
    pub meta: Option<Meta>,
}

members!(PlainNotification as "a notification" {
    "_meta" => meta or nothing,
});

impl PlainNotification {
    /// A notification that carries something beside.
    pub fn of(meta: Meta) -> Self {
        Self { meta: Some(meta) }
    }
}

impl Meta {
    /// The id of the `subscriptions/listen` request that a notification belongs to.
    // spec: META-13
    pub fn subscription_id(&self) -> Option<RequestId> {
        self.get(keys::SUBSCRIPTION_ID)
    }

    /// Says which `subscriptions/listen` request a notification belongs to.
    // spec: META-13
    #[must_use]
    pub fn for_subscription(self, id: &RequestId) -> Self {
        self.with(keys::SUBSCRIPTION_ID, id.clone())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ListenResult, SubscriptionAcknowledged, SubscriptionFilter};
    use crate::RequestId;

    #[test]
    fn filters_keep_what_extensions_add() {
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
    fn a_resource_is_covered_by_itself_and_by_those_above_it() {
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
            assert_eq!(filter.covers(uri), covering.is_some(), "{uri}");
        }
    }

    #[test]
    fn subscriptions_are_named_with_the_type_of_the_id() {
        for id in [RequestId::from(1), RequestId::from("1")] {
            let end = ListenResult::new(&id);
            assert_eq!(end.subscription_id(), Some(id.clone()));
            let ack = SubscriptionAcknowledged::new(&id, SubscriptionFilter::new().tools_changed());
            let value = serde_json::to_value(&ack).unwrap();
            let key = "io.modelcontextprotocol/subscriptionId";
            assert_eq!(value["_meta"][key], serde_json::to_value(&id).unwrap());
        }
    }
}
