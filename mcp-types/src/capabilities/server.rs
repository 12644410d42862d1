//! Server capabilities.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::extensions;
use crate::{de, extra::ExtraFields, legacy_tasks::TasksCapability};

/// Server capabilities.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities>
// spec: VER-16, LIFE-10, EXT-02
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Support for tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ListChangedCapability>,
    /// Support for resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// Support for prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<ListChangedCapability>,
    /// Support for argument completion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<ExtraFields>,
    /// Support for log messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logging: Option<ExtraFields>,
    /// Support for experimental tasks (only 2025-11-25).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Arc<TasksCapability>>,
    /// Supported extensions: settings by identifier.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "crate::extra::JsonObject::is_empty"
    )]
    pub extensions: ExtraFields,
    /// Non-standard capabilities.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "crate::extra::JsonObject::is_empty"
    )]
    pub experimental: ExtraFields,
    /// Capabilities that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

/// The `tools` or the `prompts` capability.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListChangedCapability {
    /// Support for notifications about changes of the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

/// The `resources` capability.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// Support for subscriptions to single resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
    /// Support for notifications about changes of the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

impl ServerCapabilities {
    extensions!();

    /// Declares `tools`. `list_changed` declares notifications about the list's changes.
    #[must_use]
    pub fn with_tools(mut self, list_changed: bool) -> Self {
        self.tools.get_or_insert_default().list_changed = list_changed.then_some(true);
        self
    }

    /// Declares `prompts`. `list_changed` declares notifications about the list's changes.
    #[must_use]
    pub fn with_prompts(mut self, list_changed: bool) -> Self {
        self.prompts.get_or_insert_default().list_changed = list_changed.then_some(true);
        self
    }

    /// Declares `resources`. `list_changed` declares notifications about the list's changes,
    /// `subscribe` subscriptions to single resources.
    #[must_use]
    pub fn with_resources(mut self, list_changed: bool, subscribe: bool) -> Self {
        let resources = self.resources.get_or_insert_default();
        resources.list_changed = list_changed.then_some(true);
        resources.subscribe = subscribe.then_some(true);
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ServerCapabilities;

    #[test]
    fn unknown_members_are_kept_at_every_level() {
        let value = json!({
            "tools": {"listChanged": true, "a": 1},
            "prompts": {"b": {}},
            "resources": {"subscribe": false, "c": []},
            "completions": {"d": 1},
            "logging": {},
            "tasks": {"list": {}, "requests": {"tools": {"call": {}}}},
            "extensions": {"com.example/a": {"on": true}},
            "holograms": {"resolution": 3},
        });
        let read: ServerCapabilities = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), value);
    }
}
