//! Client settings, and an app's display requirements.

use mcp_types::ExtraFields;
use serde::{Deserialize, Deserializer, Serialize};

/// MIME type of a user interface.
// spec: APP-02
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";
/// The URI scheme of user interfaces.
// spec: APP-02
pub(crate) const SCHEME: &str = "ui://";

/// Settings of the extension for clients.
// spec: APP-01
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AppsSettings {
    /// MIME types that the client can display.
    pub mime_types: Vec<String>,
}

impl Default for AppsSettings {
    /// Declares support for [`MIME_TYPE`].
    fn default() -> Self {
        Self {
            mime_types: vec![MIME_TYPE.to_owned()],
        }
    }
}

impl AppsSettings {
    /// Returns `true` if the client can display [`MIME_TYPE`].
    pub fn shows_apps(&self) -> bool {
        self.mime_types.iter().any(|known| known == MIME_TYPE)
    }
}

/// The display requirements of a user interface: the value of `ui` in its contents' `_meta`.
// spec: APP-03
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceUi {
    /// Content security policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csp: Option<Csp>,
    /// Requested permissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// The domain that the page requests, in a host-specific format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Preference for a visible border.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefers_border: Option<bool>,
}

/// The content security policy of a user interface. Domains that are not listed are blocked.
///
/// The domains come from a server: [`content_security_policy`](crate::content_security_policy) checks each one.
// spec: APP-03, APP-11
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Csp {
    /// Domains that the page may connect to.
    #[serde(
        deserialize_with = "null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub connect_domains: Vec<String>,
    /// Domains that the page may load scripts, styles, images and fonts from.
    #[serde(
        deserialize_with = "null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub resource_domains: Vec<String>,
    /// Domains that the page may display in frames.
    #[serde(
        deserialize_with = "null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub frame_domains: Vec<String>,
    /// Domains that the page's base URI may have.
    #[serde(
        deserialize_with = "null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub base_uri_domains: Vec<String>,
}

impl Csp {
    /// Creates a policy that blocks all domains.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows connections to a domain.
    #[must_use]
    pub fn connect(mut self, domain: impl Into<String>) -> Self {
        self.connect_domains.push(domain.into());
        self
    }

    /// Allows scripts, styles, images and fonts from a domain.
    #[must_use]
    pub fn load(mut self, domain: impl Into<String>) -> Self {
        self.resource_domains.push(domain.into());
        self
    }

    /// Allows frames with a domain.
    #[must_use]
    pub fn frame(mut self, domain: impl Into<String>) -> Self {
        self.frame_domains.push(domain.into());
        self
    }

    /// Allows a domain as base URI.
    #[must_use]
    pub fn base_uri(mut self, domain: impl Into<String>) -> Self {
        self.base_uri_domains.push(domain.into());
        self
    }
}

/// Permissions that a user interface requests. A present member requests the permission.
// spec: APP-03
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Permissions {
    /// Access to the camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<ExtraFields>,
    /// Access to the microphone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microphone: Option<ExtraFields>,
    /// Access to the location.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<ExtraFields>,
    /// Write access to the clipboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clipboard_write: Option<ExtraFields>,
}

impl Permissions {
    /// Creates a value without permissions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests access to the camera.
    #[must_use]
    pub fn camera(mut self) -> Self {
        self.camera = Some(ExtraFields::default());
        self
    }

    /// Requests access to the microphone.
    #[must_use]
    pub fn microphone(mut self) -> Self {
        self.microphone = Some(ExtraFields::default());
        self
    }

    /// Requests access to the location.
    #[must_use]
    pub fn geolocation(mut self) -> Self {
        self.geolocation = Some(ExtraFields::default());
        self
    }

    /// Requests write access to the clipboard.
    #[must_use]
    pub fn clipboard_write(mut self) -> Self {
        self.clipboard_write = Some(ExtraFields::default());
        self
    }
}

/// Deserializes a list and replaces `null` by an empty one.
fn null_to_default<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use mcp_types::meta::keys;
    use mcp_types::{ClientCapabilities, Meta};
    use serde_json::json;

    use super::{AppsSettings, Csp, MIME_TYPE, Permissions, ResourceUi};

    #[test]
    fn apps_settings_declare_mime_types() {
        let client = ClientCapabilities::default()
            .with_extension(keys::UI_EXTENSION, &AppsSettings::default());
        let value = serde_json::to_value(&client).unwrap();
        let id = "io.modelcontextprotocol/ui";
        assert_eq!(
            value,
            json!({"extensions": {id: {"mimeTypes": [MIME_TYPE]}}})
        );
        let settings: AppsSettings = client.extension(keys::UI_EXTENSION).unwrap();
        assert!(settings.shows_apps());
        let other: AppsSettings = serde_json::from_value(json!({"mimeTypes": []})).unwrap();
        assert!(!other.shows_apps());
    }

    #[test]
    fn resource_ui_round_trips_through_meta() {
        let csp = Csp::new()
            .connect("https://a.example")
            .load("https://b.example");
        let ui = ResourceUi {
            csp: Some(csp),
            permissions: Some(Permissions::new().camera()),
            domain: Some("x".to_owned()),
            prefers_border: Some(true),
        };
        let meta = Meta::default().with(keys::UI, serde_json::to_value(&ui).unwrap());
        let wanted = json!({"ui": {
            "csp": {"connectDomains": ["https://a.example"], "resourceDomains": ["https://b.example"]},
            "permissions": {"camera": {}}, "domain": "x", "prefersBorder": true,
        }});
        assert_eq!(serde_json::to_value(&meta).unwrap(), wanted);
        assert_eq!(meta.get::<ResourceUi>(keys::UI), Some(ui));
    }

    #[test]
    fn repeated_member_is_refused() {
        let settings = format!(r#"{{"mimeTypes":["{MIME_TYPE}"],"mimeTypes":[]}}"#);
        let error = serde_json::from_str::<AppsSettings>(&settings).unwrap_err();
        assert!(error.to_string().contains("duplicate field"), "{error}");
        for text in [
            r#"{"domain":"a","csp":{},"domain":"b"}"#,
            r#"{"csp":{},"permissions":{},"csp":{}}"#,
            r#"{"permissions":{},"prefersBorder":true,"permissions":{}}"#,
            r#"{"prefersBorder":true,"prefersBorder":false}"#,
            r#"{"csp":{"connectDomains":["a"],"connectDomains":[]}}"#,
            r#"{"csp":{"resourceDomains":["a"],"resourceDomains":[]}}"#,
            r#"{"csp":{"frameDomains":["a"],"frameDomains":[]}}"#,
            r#"{"csp":{"baseUriDomains":["a"],"baseUriDomains":[]}}"#,
            r#"{"permissions":{"camera":{},"camera":{}}}"#,
            r#"{"permissions":{"microphone":{},"microphone":{}}}"#,
            r#"{"permissions":{"geolocation":{},"geolocation":{}}}"#,
            r#"{"permissions":{"clipboardWrite":{},"clipboardWrite":{}}}"#,
        ] {
            let error = serde_json::from_str::<ResourceUi>(text).unwrap_err();
            assert!(
                error.to_string().contains("duplicate field"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn null_is_no_domain() {
        let csp: Csp = serde_json::from_str(r#"{"connectDomains":null}"#).unwrap();
        assert_eq!(csp, Csp::new());
    }
}
