//! What a client offers.

use serde::{Deserialize, Serialize};

use super::Settings;
use crate::JsonObject;

/// Capabilities of a client: declared once per session in the legacy era, on every request in the
/// modern one. Unknown capabilities survive in `other`.
// spec: VER-16, LIFE-10
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// The client tells its file system roots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roots: Option<RootsCapability>,
    /// The client samples from its language model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCapability>,
    /// The client asks its user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapability>,
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

/// The `roots` capability.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct RootsCapability {
    /// Changes are announced (legacy era alone).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
}

/// The `sampling` capability.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SamplingCapability {
    /// `includeContext` is understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Settings>,
    /// `tools` and `toolChoice` are understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Settings>,
}

/// The `elicitation` capability. Without members it means forms alone.
// spec: ELIC-01
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// The user can fill in forms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Settings>,
    /// The user can be sent to a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Settings>,
}

impl ClientCapabilities {
    /// Declares `roots`.
    #[must_use]
    pub fn with_roots(mut self) -> Self {
        self.roots = Some(RootsCapability::default());
        self
    }

    /// Declares `sampling`.
    #[must_use]
    pub fn with_sampling(mut self) -> Self {
        self.sampling = Some(SamplingCapability::default());
        self
    }

    /// Declares `elicitation` in form mode.
    #[must_use]
    pub fn with_elicitation(mut self) -> Self {
        self.elicitation = Some(ElicitationCapability::default());
        self
    }
}
