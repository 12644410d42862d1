//! Client capabilities.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::extensions;
use crate::{de, extra::ExtraFields, legacy_tasks::TasksCapability};

/// Client capabilities. Legacy clients declare them once per session, modern clients with every
/// request.
///
/// Capabilities without settings (`{"sampling":{}}`) are read without an allocation.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities>
// spec: VER-16, LIFE-10, EXT-02
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Support for `roots/list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<RootsCapability>,
    /// Support for `sampling/createMessage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCapability>,
    /// Support for `elicitation/create`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapability>,
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

/// The `roots` capability.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RootsCapability {
    /// Support for `notifications/roots/list_changed` (only legacy revisions).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

/// The `sampling` capability.
// spec: SAMP-05
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SamplingCapability {
    /// Support for `includeContext`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ExtraFields>,
    /// Support for `tools` and `toolChoice`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ExtraFields>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

/// The `elicitation` capability. Without members it means support for forms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// Support for forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<ExtraFields>,
    /// Support for URLs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<ExtraFields>,
    /// Members that this crate does not define.
    #[serde(flatten)]
    pub extra: ExtraFields,
}

impl ElicitationCapability {
    /// Returns `true` if the client supports forms: `form` is declared, or `url` is not.
    fn allows_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }

    /// Returns `true` if the client supports URLs.
    fn allows_url(&self) -> bool {
        self.url.is_some()
    }
}

impl ClientCapabilities {
    extensions!();

    /// Declares `roots`.
    #[must_use]
    pub fn with_roots(mut self) -> Self {
        self.roots.get_or_insert_default();
        self
    }

    /// Declares `roots` with notifications about changes (only legacy revisions).
    #[must_use]
    pub fn with_roots_changes(mut self) -> Self {
        self.roots.get_or_insert_default().list_changed = Some(true);
        self
    }

    /// Declares `sampling`.
    #[must_use]
    pub fn with_sampling(mut self) -> Self {
        self.sampling.get_or_insert_default();
        self
    }

    /// Declares `sampling` with tools.
    #[must_use]
    pub fn with_sampling_tools(mut self) -> Self {
        let sampling = self.sampling.get_or_insert_default();
        sampling.tools.get_or_insert_default();
        self
    }

    /// Declares `elicitation` with forms.
    #[must_use]
    pub fn with_elicitation(mut self) -> Self {
        let elicitation = self.elicitation.get_or_insert_default();
        if elicitation.url.is_some() {
            elicitation.form.get_or_insert_default();
        }
        self
    }

    /// Declares `elicitation` with URLs. Forms stay declared if they were.
    #[must_use]
    pub fn with_url_elicitation(mut self) -> Self {
        if let Some(declared) = self
            .elicitation
            .as_mut()
            .filter(|declared| declared.allows_form())
        {
            declared.form.get_or_insert_default();
        }
        let elicitation = self.elicitation.get_or_insert_default();
        elicitation.url.get_or_insert_default();
        self
    }

    /// Returns `true` if the client supports elicitation by forms.
    pub fn allows_form(&self) -> bool {
        self.elicitation
            .as_ref()
            .is_some_and(ElicitationCapability::allows_form)
    }

    /// Returns `true` if the client supports elicitation by URLs.
    pub fn allows_url(&self) -> bool {
        self.elicitation
            .as_ref()
            .is_some_and(ElicitationCapability::allows_url)
    }

    /// Returns `true` if the client supports sampling with tools.
    pub fn allows_sampling_tools(&self) -> bool {
        let sampling = self.sampling.as_ref();
        sampling.is_some_and(|sampling| sampling.tools.is_some())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ClientCapabilities;

    #[test]
    fn unknown_members_are_kept_at_every_level() {
        let value = json!({
            "roots": {"listChanged": true, "x": 1},
            "sampling": {"tools": {"deep": [1]}, "y": {}},
            "elicitation": {"form": {}, "url": {}, "voice": {}},
            "tasks": {"requests": {"sampling": {"createMessage": {}}}, "z": 2},
            "extensions": {"com.example/a": {"on": true}},
            "experimental": {"b": {}},
            "holograms": {"resolution": 3},
        });
        let read: ClientCapabilities = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), value);
        let text = value.to_string();
        assert_eq!(
            serde_json::from_str::<ClientCapabilities>(&text).unwrap(),
            read
        );
        assert!(read.allows_form() && read.allows_url() && read.allows_sampling_tools());
        assert!(read.has_extension("com.example/a"));
    }

    #[test]
    fn null_member_is_absent_and_repeated_member_refused() {
        let read: ClientCapabilities =
            serde_json::from_str(r#"{"roots":null,"extensions":null}"#).unwrap();
        assert_eq!(read, ClientCapabilities::default());
        for text in [
            r#"{"sampling":{},"sampling":{"tools":{}}}"#,
            r#"{"elicitation":{"url":{},"url":{}}}"#,
            r#"{"sampling":true}"#,
            r#"{"extensions":[]}"#,
            "[]",
        ] {
            assert!(
                serde_json::from_str::<ClientCapabilities>(text).is_err(),
                "{text}"
            );
        }
    }

    // spec: ELIC-01
    #[test]
    fn elicitation_without_members_allows_forms() {
        let none = ClientCapabilities::default();
        assert!(!none.allows_form() && !none.allows_url());
        let form = none.clone().with_elicitation();
        assert!(form.allows_form() && !form.allows_url());
        assert_eq!(
            serde_json::to_value(&form).unwrap(),
            json!({"elicitation": {}})
        );
        let url = none.clone().with_url_elicitation();
        assert!(!url.allows_form() && url.allows_url());
        for both in [form.with_url_elicitation(), url.with_elicitation()] {
            assert!(both.allows_form() && both.allows_url());
        }
    }

    #[test]
    fn extension_returns_declared_settings() {
        #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        struct Options {
            level: u8,
        }

        let declared =
            ClientCapabilities::default().with_extension("com.example/x", &Options { level: 3 });
        assert_eq!(
            declared.extension("com.example/x"),
            Some(Options { level: 3 })
        );
        assert_eq!(declared.extension::<Options>("com.example/y"), None);
    }
}
