//! What a server offers.

use std::sync::Arc;

use super::{Settings, extensions};
use crate::json::members;
use crate::legacy_tasks::TasksCapability;

/// Capabilities of a server. Unknown capabilities survive in `other`.
// spec: VER-16, LIFE-10, EXT-02
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// The server has tools.
    pub tools: Option<ListChangedCapability>,
    /// The server has resources.
    pub resources: Option<ResourcesCapability>,
    /// The server has prompts.
    pub prompts: Option<ListChangedCapability>,
    /// The server completes arguments.
    pub completions: Option<Settings>,
    /// The server sends log messages.
    pub logging: Option<Settings>,
    /// The server runs experimental tasks (2025-11-25 alone).
    pub tasks: Option<Arc<TasksCapability>>,
    /// Extensions by identifier, with their settings.
    pub extensions: Settings,
    /// Non-standard capabilities.
    pub experimental: Settings,
    /// Capabilities that this library does not know.
    pub other: Settings,
}

members!(ServerCapabilities as "server capabilities" {
    "tools" => tools or nothing,
    "resources" => resources or nothing,
    "prompts" => prompts or nothing,
    "completions" => completions or nothing,
    "logging" => logging or nothing,
    "tasks" => tasks or nothing,
    "extensions" => extensions or nothing,
    "experimental" => experimental or nothing,
} and other);

/// The `tools` or the `prompts` capability.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListChangedCapability {
    /// Changes of the list are announced.
    pub list_changed: Option<bool>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(ListChangedCapability as "a capability" {
    "listChanged" => list_changed or nothing,
} and other);

/// The `resources` capability.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// Changes of a single resource are announced to those who ask.
    pub subscribe: Option<bool>,
    /// Changes of the list are announced.
    pub list_changed: Option<bool>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(ResourcesCapability as "the resources capability" {
    "subscribe" => subscribe or nothing,
    "listChanged" => list_changed or nothing,
} and other);

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
