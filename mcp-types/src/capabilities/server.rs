//! What a server offers.

use serde::{Deserialize, Serialize};

use super::Settings;
use crate::JsonObject;

/// Capabilities of a server. Unknown capabilities survive in `other`.
// spec: VER-16, LIFE-10
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
    /// Extensions by identifier, with their settings.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub extensions: JsonObject,
    /// Non-standard capabilities.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub experimental: JsonObject,
    /// Capabilities that this library does not know.
    #[serde(flatten)]
    pub other: JsonObject,
}

/// The `tools` or the `prompts` capability.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct ListChangedCapability {
    /// Changes of the list are announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
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
}
