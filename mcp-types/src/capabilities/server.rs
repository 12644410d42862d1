//! What a server offers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Settings, extensions};
use crate::legacy_tasks::TasksCapability;

/// Capabilities of a server. Unknown capabilities survive in `other`.
// spec: VER-16, LIFE-10, EXT-02
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// The server has tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ListChangedCapability>,
    /// The server has resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// The server has prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<ListChangedCapability>,
    /// The server completes arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completions: Option<Settings>,
    /// The server sends log messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logging: Option<Settings>,
    /// The server runs experimental tasks (2025-11-25 alone).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Arc<TasksCapability>>,
    /// Extensions by identifier, with their settings.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub extensions: Settings,
    /// Non-standard capabilities.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub experimental: Settings,
    /// Capabilities that this library does not know.
    #[serde(flatten)]
    pub other: Settings,
}

/// The `tools` or the `prompts` capability.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct ListChangedCapability {
    /// Changes of the list are announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Members that this library does not know.
    #[serde(flatten)]
    pub other: Settings,
}

/// The `resources` capability.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct ResourcesCapability {
    /// Changes of a single resource are announced to those who ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
    /// Changes of the list are announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Members that this library does not know.
    #[serde(flatten)]
    pub other: Settings,
}

impl ServerCapabilities {
    extensions!();

    /// Declares `tools`, and whether changes of the list are announced.
    #[must_use]
    pub fn with_tools(mut self, list_changed: bool) -> Self {
        self.tools.get_or_insert_default().list_changed = list_changed.then_some(true);
        self
    }

    /// Declares `prompts`, and whether changes of the list are announced.
    #[must_use]
    pub fn with_prompts(mut self, list_changed: bool) -> Self {
        self.prompts.get_or_insert_default().list_changed = list_changed.then_some(true);
        self
    }

    /// Declares `resources`, and whether changes of the list and of single resources are announced.
    #[must_use]
    pub fn with_resources(mut self, list_changed: bool, subscribe: bool) -> Self {
        let resources = self.resources.get_or_insert_default();
        resources.list_changed = list_changed.then_some(true);
        resources.subscribe = subscribe.then_some(true);
        self
    }

    /// Declares `completions`.
    #[must_use]
    pub fn with_completions(mut self) -> Self {
        self.completions.get_or_insert_default();
        self
    }

    /// Declares `logging`.
    #[must_use]
    pub fn with_logging(mut self) -> Self {
        self.logging.get_or_insert_default();
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ServerCapabilities;

    #[test]
    fn what_is_not_known_survives_at_every_level() {
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
