//! What a client offers.

use std::sync::Arc;

use super::{Settings, extensions};
use crate::json::members;
use crate::legacy_tasks::TasksCapability;

/// Capabilities of a client: declared once per session in the legacy era, on every request in the
/// modern one. Unknown capabilities survive in `other`.
///
/// They are read without buffering: `{}` and `{"sampling":{}}` cost no allocation.
// spec: VER-16, LIFE-10, EXT-02
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// The client tells its file system roots.
    pub roots: Option<RootsCapability>,
    /// The client samples from its language model.
    pub sampling: Option<SamplingCapability>,
    /// The client asks its user.
    pub elicitation: Option<ElicitationCapability>,
    /// The client runs experimental tasks (2025-11-25 alone).
    pub tasks: Option<Arc<TasksCapability>>,
    /// Extensions by identifier, with their settings.
    pub extensions: Settings,
    /// Non-standard capabilities.
    pub experimental: Settings,
    /// Capabilities that this library does not know.
    pub other: Settings,
}

members!(ClientCapabilities as "client capabilities" {
    "roots" => roots or nothing,
    "sampling" => sampling or nothing,
    "elicitation" => elicitation or nothing,
    "tasks" => tasks or nothing,
    "extensions" => extensions or nothing,
    "experimental" => experimental or nothing,
} and other);

/// The `roots` capability.
// spec: ROOT-01
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RootsCapability {
    /// Changes are announced (legacy era alone).
    pub list_changed: Option<bool>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(RootsCapability as "the roots capability" {
    "listChanged" => list_changed or nothing,
} and other);

/// The `sampling` capability.
// spec: SAMP-03, SAMP-05
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SamplingCapability {
    /// `includeContext` is understood.
    pub context: Option<Settings>,
    /// `tools` and `toolChoice` are understood.
    pub tools: Option<Settings>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(SamplingCapability as "the sampling capability" {
    "context" => context or nothing,
    "tools" => tools or nothing,
} and other);

/// The `elicitation` capability. Without members it means forms alone.
// spec: ELIC-01
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// The user can fill in forms.
    pub form: Option<Settings>,
    /// The user can be sent to a URL.
    pub url: Option<Settings>,
    /// Members that this library does not know.
    pub other: Settings,
}

members!(ElicitationCapability as "the elicitation capability" {
    "form" => form or nothing,
    "url" => url or nothing,
} and other);

impl ElicitationCapability {
    /// The user can fill in forms: declared, or nothing is.
    pub fn allows_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }

    /// The user can be sent to a URL.
    pub fn allows_url(&self) -> bool {
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

    /// Declares `roots` and that its changes are announced (legacy era alone).
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

    /// Declares `elicitation` in form mode.
    #[must_use]
    pub fn with_elicitation(mut self) -> Self {
        let elicitation = self.elicitation.get_or_insert_default();
        if elicitation.url.is_some() {
            elicitation.form.get_or_insert_default();
        }
        self
    }

    /// Declares `elicitation` in URL mode, beside form mode if that is declared already.
    #[must_use]
    pub fn with_url_elicitation(mut self) -> Self {
        if let Some(declared) = self.elicitation.as_mut().filter(|it| it.allows_form()) {
            declared.form.get_or_insert_default();
        }
        let elicitation = self.elicitation.get_or_insert_default();
        elicitation.url.get_or_insert_default();
        self
    }

    /// The client asks its user by forms.
    pub fn allows_form(&self) -> bool {
        self.elicitation
            .as_ref()
            .is_some_and(ElicitationCapability::allows_form)
    }

    /// The client sends its user to URLs.
    pub fn allows_url(&self) -> bool {
        self.elicitation
            .as_ref()
            .is_some_and(ElicitationCapability::allows_url)
    }

    /// The client samples with tools.
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
    fn what_is_not_known_survives_at_every_level() {
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
    fn members_that_are_null_are_absent_and_doubled_ones_refused() {
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

    #[test]
    fn elicitation_without_members_means_forms() {
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
    fn extensions_have_settings() {
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
