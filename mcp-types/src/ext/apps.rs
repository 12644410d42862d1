//! MCP Apps: tools with a user interface, which is a resource of the server.
//!
//! The types are those that clients and servers exchange. The messages between a host and a displayed
//! page are not part of this crate.
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-apps>

use serde::{Deserialize, Serialize};

use crate::meta::keys;
use crate::text_enum::text_enum;
use crate::{ExtraFields, Meta, Tool, de};

/// MIME type of a user interface.
// spec: APP-02
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";
/// URI scheme of a user interface.
// spec: APP-02
pub const SCHEME: &str = "ui://";

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

/// User interface of a tool: the value of `ui` in its `_meta`.
// spec: APP-04
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolUi {
    /// URI of the user interface that displays the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_uri: Option<String>,
    /// Parties that may call the tool. Empty means all.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub visibility: Vec<Visibility>,
}

text_enum! {
    /// Party that may call a tool.
    // spec: APP-08
    pub enum Visibility {
        /// The language model.
        Model = "model",
        /// The displayed page.
        App = "app",
    }
}

impl ToolUi {
    /// Creates the value from the `ui://` URI of the user interface.
    pub fn new(resource_uri: impl Into<String>) -> Self {
        Self {
            resource_uri: Some(resource_uri.into()),
            visibility: Vec::new(),
        }
    }

    /// Adds a party that may call the tool. Without any, all parties may call it.
    #[must_use]
    pub fn visible_to(mut self, visibility: Visibility) -> Self {
        self.visibility.push(visibility);
        self
    }

    /// Returns the user interface of a tool, from the current or the deprecated key of its `_meta`.
    // spec: APP-04
    pub fn of(tool: &Tool) -> Option<Self> {
        let meta = tool.meta.as_ref()?;
        let deprecated = || meta.get::<String>(keys::UI_RESOURCE_URI);
        match meta.get::<Self>(keys::UI) {
            Some(ui) if ui.resource_uri.is_some() => Some(ui),
            Some(ui) => Some(Self {
                resource_uri: deprecated(),
                ..ui
            }),
            None => deprecated().map(Self::new),
        }
    }

    /// Returns `true` if the language model may call the tool.
    pub fn for_model(&self) -> bool {
        self.visibility.is_empty() || self.visibility.contains(&Visibility::Model)
    }

    /// Returns `true` if the displayed page may call the tool.
    pub fn for_app(&self) -> bool {
        self.visibility.is_empty() || self.visibility.contains(&Visibility::App)
    }
}

impl Tool {
    /// Links the tool to a user interface: the resource at a `ui://` URI displays its results. Keeps the
    /// parties that may call the tool.
    ///
    /// Older hosts read a flat key of `_meta`, so the URI is also written there.
    // spec: APP-04
    #[must_use]
    pub fn app(self, resource_uri: impl Into<String>) -> Self {
        let uri = resource_uri.into();
        let visibility = ToolUi::of(&self).map(|ui| ui.visibility);
        let ui = ToolUi {
            resource_uri: Some(uri.clone()),
            visibility: visibility.unwrap_or_default(),
        };
        self.ui(&ui).meta(keys::UI_RESOURCE_URI, uri)
    }

    /// Hides the tool from the language model: only views may call it.
    // spec: APP-08
    #[must_use]
    pub fn app_only(self) -> Self {
        self.visible_only_to(Visibility::App)
    }

    /// Hides the tool from views: only the language model may call it.
    // spec: APP-08
    #[must_use]
    pub fn model_only(self) -> Self {
        self.visible_only_to(Visibility::Model)
    }

    fn visible_only_to(self, party: Visibility) -> Self {
        let mut ui = ToolUi::of(&self).unwrap_or_default();
        ui.visibility = vec![party];
        self.ui(&ui)
    }

    /// Sets the user interface of the tool.
    // spec: APP-04
    #[must_use]
    pub fn ui(self, ui: &ToolUi) -> Self {
        match serde_json::to_value(ui) {
            Ok(value) => self.meta(keys::UI, value),
            Err(_) => self,
        }
    }
}

/// Display requirements of a user interface: the value of `ui` in the `_meta` of its contents.
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
    /// Requested domain of the page, in a host-specific format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Preference for a visible border.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefers_border: Option<bool>,
}

impl ResourceUi {
    /// Creates a value without requirements.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the content security policy.
    #[must_use]
    pub fn csp(mut self, csp: Csp) -> Self {
        self.csp = Some(csp);
        self
    }

    /// Sets the requested permissions.
    #[must_use]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = Some(permissions);
        self
    }

    /// Sets the requested domain of the page.
    #[must_use]
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.domain = Some(domain.into());
        self
    }

    /// Sets the preference for a visible border.
    #[must_use]
    pub fn prefers_border(mut self, border: bool) -> Self {
        self.prefers_border = Some(border);
        self
    }
}

impl Meta {
    /// Sets the display requirements of a user interface.
    // spec: APP-03
    #[must_use]
    pub fn with_ui(self, ui: &ResourceUi) -> Self {
        match serde_json::to_value(ui) {
            Ok(value) => self.with(keys::UI, value),
            Err(_) => self,
        }
    }
}

/// Content security policy of a user interface. Domains that are not listed are blocked.
///
/// The domains come from a server. Validate each one before you write it into a header.
// spec: APP-03, APP-11
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Csp {
    /// Domains that the page may connect to.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub connect_domains: Vec<String>,
    /// Domains that the page may load scripts, styles, images and fonts from.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub resource_domains: Vec<String>,
    /// Domains that the page may display in frames.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub frame_domains: Vec<String>,
    /// Domains that the base URI of the page may have.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{AppsSettings, Csp, MIME_TYPE, Permissions, ResourceUi, ToolUi, Visibility};
    use crate::meta::keys;
    use crate::{ClientCapabilities, Meta, Tool};

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
    fn tool_ui_is_read_in_both_forms() {
        let tool = Tool::new("x").ui(&ToolUi::new("ui://x").visible_to(Visibility::App));
        let value = serde_json::to_value(&tool).unwrap();
        assert_eq!(
            value["_meta"],
            json!({"ui": {"resourceUri": "ui://x", "visibility": ["app"]}})
        );
        let ui = ToolUi::of(&tool).unwrap();
        assert!(ui.for_app() && !ui.for_model());

        let old = Tool::new("x").meta("ui/resourceUri", "ui://old");
        let ui = ToolUi::of(&old).unwrap();
        assert_eq!(ui, ToolUi::new("ui://old"));
        assert!(ui.for_app() && ui.for_model());
        let both = old.meta("ui", json!({"visibility": ["model"]}));
        assert_eq!(
            ToolUi::of(&both),
            Some(ToolUi::new("ui://old").visible_to(Visibility::Model))
        );
        assert_eq!(ToolUi::of(&Tool::new("x")), None);
    }

    #[test]
    fn tool_app_writes_both_keys_and_keeps_visibility() {
        let tool = Tool::new("x").app_only().app("ui://x");
        let ui = ToolUi::of(&tool).unwrap();
        assert!(ui.for_app() && !ui.for_model());
        assert_eq!(
            serde_json::to_value(&tool).unwrap()["_meta"],
            json!({"ui": {"resourceUri": "ui://x", "visibility": ["app"]}, "ui/resourceUri": "ui://x"})
        );
        let tool = Tool::new("x").app("ui://x").model_only();
        assert!(!ToolUi::of(&tool).unwrap().for_app());
    }

    #[test]
    fn resource_ui_round_trips_through_meta() {
        let ui = ResourceUi::new()
            .csp(
                Csp::new()
                    .connect("https://a.example")
                    .load("https://b.example"),
            )
            .permissions(Permissions::new().camera())
            .domain("x")
            .prefers_border(true);
        let meta = Meta::default().with_ui(&ui);
        let wanted = json!({"ui": {
            "csp": {"connectDomains": ["https://a.example"], "resourceDomains": ["https://b.example"]},
            "permissions": {"camera": {}}, "domain": "x", "prefersBorder": true,
        }});
        assert_eq!(serde_json::to_value(&meta).unwrap(), wanted);
        assert_eq!(meta.get::<ResourceUi>(keys::UI), Some(ui));
    }
}
