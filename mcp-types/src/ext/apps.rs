//! MCP Apps: tools with a user interface, which is a resource of its own.
//!
//! These are the types that clients and servers exchange. What a host and the shown page say to
//! each other is no part of the protocol.
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-apps>

use crate::json::members;
use crate::meta::keys;
use crate::text::text_enum;
use crate::{Meta, Settings, Tool};

/// The MIME type of a user interface.
// spec: APP-02
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";
/// What the URI of a user interface begins with.
// spec: APP-02
pub const SCHEME: &str = "ui://";

/// The settings that a client declares.
// spec: APP-01
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppsSettings {
    /// The MIME types that the client can show.
    pub mime_types: Vec<String>,
}

members!(AppsSettings as "settings of apps" {
    "mimeTypes" => mime_types,
});

impl Default for AppsSettings {
    /// A client that shows what the extension describes.
    #[inline]
    fn default() -> Self {
        Self {
            mime_types: vec![MIME_TYPE.to_owned()],
        }
    }
}

impl AppsSettings {
    /// The client can show what the extension describes.
    #[inline]
    pub fn shows_apps(&self) -> bool {
        self.mime_types.iter().any(|known| known == MIME_TYPE)
    }
}

/// What a tool has to do with user interfaces: at `ui` in its `_meta`.
// spec: APP-04
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolUi {
    /// The user interface that shows its results.
    pub resource_uri: Option<String>,
    /// Who may call it; everybody when empty.
    pub visibility: Vec<Visibility>,
}

members!(ToolUi as "the UI of a tool" {
    "resourceUri" => resource_uri or nothing,
    "visibility" => visibility or nothing,
});

text_enum! {
    /// Who may call a tool.
    // spec: APP-08
    pub enum Visibility {
        /// The language model.
        Model = "model",
        /// The shown page.
        App = "app",
    }
}

impl ToolUi {
    /// Results are shown by the user interface at a `ui://` URI.
    #[inline]
    pub fn new(resource_uri: impl Into<String>) -> Self {
        Self {
            resource_uri: Some(resource_uri.into()),
            visibility: Vec::new(),
        }
    }

    /// Adds somebody who may call it. Without any everybody may.
    #[must_use]
    #[inline]
    pub fn visible_to(mut self, visibility: Visibility) -> Self {
        self.visibility.push(visibility);
        self
    }

    /// What a tool has to do with user interfaces, in either way to write it.
    // spec: APP-04
    #[inline]
    pub fn of(tool: &Tool) -> Option<Self> {
        let meta = tool.meta.as_ref()?;
        let old = || meta.get::<String>(keys::UI_RESOURCE_URI);
        match meta.get::<Self>(keys::UI) {
            Some(ui) if ui.resource_uri.is_some() => Some(ui),
            Some(ui) => Some(Self {
                resource_uri: old(),
                ..ui
            }),
            None => old().map(Self::new),
        }
    }

    /// The language model may call it.
    #[inline]
    pub fn for_model(&self) -> bool {
        self.visibility.is_empty() || self.visibility.contains(&Visibility::Model)
    }

    /// The shown page may call it.
    #[inline]
    pub fn for_app(&self) -> bool {
        self.visibility.is_empty() || self.visibility.contains(&Visibility::App)
    }
}

impl Tool {
    /// Says what the tool has to do with user interfaces.
    // spec: APP-04
    #[must_use]
    #[inline]
    pub fn ui(self, ui: &ToolUi) -> Self {
        match serde_json::to_value(ui) {
            Ok(value) => self.meta(keys::UI, value),
            Err(_) => self,
        }
    }
}

/// What a host has to know to show a user interface: at `ui` in the `_meta` of its contents.
// spec: APP-03
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceUi {
    /// Where it may load from and connect to.
    pub csp: Option<Csp>,
    /// What it would like to use of the machine.
    pub permissions: Option<Permissions>,
    /// A domain of its own, in the form that the host wants.
    pub domain: Option<String>,
    /// It looks better with a border, or without one.
    pub prefers_border: Option<bool>,
}

members!(ResourceUi as "how a UI is shown" {
    "csp" => csp or nothing,
    "permissions" => permissions or nothing,
    "domain" => domain or nothing,
    "prefersBorder" => prefers_border or nothing,
});

impl ResourceUi {
    /// A user interface that needs nothing.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says where it may load from and connect to.
    #[must_use]
    #[inline]
    pub fn csp(mut self, csp: Csp) -> Self {
        self.csp = Some(csp);
        self
    }

    /// Says what it would like to use of the machine.
    #[must_use]
    #[inline]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = Some(permissions);
        self
    }

    /// Asks for a domain of its own.
    #[must_use]
    #[inline]
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.domain = Some(domain.into());
        self
    }

    /// Says whether it looks better with a border.
    #[must_use]
    #[inline]
    pub fn prefers_border(mut self, border: bool) -> Self {
        self.prefers_border = Some(border);
        self
    }
}

impl Meta {
    /// Says what a host has to know to show a user interface.
    // spec: APP-03
    #[must_use]
    #[inline]
    pub fn with_ui(self, ui: &ResourceUi) -> Self {
        match serde_json::to_value(ui) {
            Ok(value) => self.with(keys::UI, value),
            Err(_) => self,
        }
    }
}

/// Where a user interface may load from and connect to; nowhere else. The strings come from a
/// server: check each before it goes into a header.
// spec: APP-03, APP-11
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Csp {
    /// Where it may connect to.
    pub connect_domains: Vec<String>,
    /// Where it may load scripts, styles, pictures and fonts from.
    pub resource_domains: Vec<String>,
    /// What it may show in frames.
    pub frame_domains: Vec<String>,
    /// What its base may be.
    pub base_uri_domains: Vec<String>,
}

members!(Csp as "domains of a UI" {
    "connectDomains" => connect_domains or nothing,
    "resourceDomains" => resource_domains or nothing,
    "frameDomains" => frame_domains or nothing,
    "baseUriDomains" => base_uri_domains or nothing,
});

impl Csp {
    /// It may load from nowhere and connect to nothing.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// It may connect to a domain.
    #[must_use]
    #[inline]
    pub fn connect(mut self, domain: impl Into<String>) -> Self {
        self.connect_domains.push(domain.into());
        self
    }

    /// It may load from a domain.
    #[must_use]
    #[inline]
    pub fn load(mut self, domain: impl Into<String>) -> Self {
        self.resource_domains.push(domain.into());
        self
    }

    /// It may show a domain in frames.
    #[must_use]
    #[inline]
    pub fn frame(mut self, domain: impl Into<String>) -> Self {
        self.frame_domains.push(domain.into());
        self
    }

    /// Its base may be a domain.
    #[must_use]
    #[inline]
    pub fn base_uri(mut self, domain: impl Into<String>) -> Self {
        self.base_uri_domains.push(domain.into());
        self
    }
}

/// What a user interface would like to use of the machine. Present means wanted.
// spec: APP-03
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Permissions {
    /// The camera.
    pub camera: Option<Settings>,
    /// The microphone.
    pub microphone: Option<Settings>,
    /// Where the machine is.
    pub geolocation: Option<Settings>,
    /// Writing to the clipboard.
    pub clipboard_write: Option<Settings>,
}

members!(Permissions as "permissions of a UI" {
    "camera" => camera or nothing,
    "microphone" => microphone or nothing,
    "geolocation" => geolocation or nothing,
    "clipboardWrite" => clipboard_write or nothing,
});

impl Permissions {
    /// It wants nothing.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// It would like to use the camera.
    #[must_use]
    #[inline]
    pub fn camera(mut self) -> Self {
        self.camera = Some(Settings::default());
        self
    }

    /// It would like to use the microphone.
    #[must_use]
    #[inline]
    pub fn microphone(mut self) -> Self {
        self.microphone = Some(Settings::default());
        self
    }

    /// It would like to know where the machine is.
    #[must_use]
    #[inline]
    pub fn geolocation(mut self) -> Self {
        self.geolocation = Some(Settings::default());
        self
    }

    /// It would like to write to the clipboard.
    #[must_use]
    #[inline]
    pub fn clipboard_write(mut self) -> Self {
        self.clipboard_write = Some(Settings::default());
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
    fn clients_declare_what_they_show() {
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
    fn tools_are_linked_in_either_way() {
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
    fn resources_say_what_they_need() {
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
