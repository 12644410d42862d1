//! MCP Apps: a tool's user interface, which is a server resource.
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-apps>

use serde::{Deserialize, Serialize};

use crate::{de, meta::keys, text_enum::text_enum, tools::Tool};

/// The user interface of a tool: the value of `ui` in its `_meta`.
// spec: APP-04
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
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
    pub enum Visibility {
        /// The language model.
        Model = "model",
        /// The displayed page.
        App = "app",
    }
}

impl ToolUi {
    /// Creates the value from the user interface's `ui://` URI.
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
    #[inline]
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
    #[must_use]
    pub fn app_only(self) -> Self {
        self.visible_only_to(Visibility::App)
    }

    /// Hides the tool from views: only the language model may call it.
    #[must_use]
    pub fn model_only(self) -> Self {
        self.visible_only_to(Visibility::Model)
    }

    fn visible_only_to(self, party: Visibility) -> Self {
        let mut ui = ToolUi::of(&self).unwrap_or_default();
        ui.visibility = vec![party];
        self.ui(&ui)
    }

    /// Sets the tool's user interface.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ToolUi, Visibility};
    use crate::tools::Tool;

    #[test]
    fn tool_ui_is_read_in_both_forms() {
        let tool = Tool::new("x").ui(&ToolUi::new("ui://x").visible_to(Visibility::App));
        let value = serde_json::to_value(&tool).unwrap();
        assert_eq!(
            value["_meta"],
            json!({"ui": {"resourceUri": "ui://x", "visibility": ["app"]}})
        );
        let ui = ToolUi::of(&tool).unwrap();
        assert_eq!(ui.visibility, [Visibility::App]);

        let old = Tool::new("x").meta("ui/resourceUri", "ui://old");
        let ui = ToolUi::of(&old).unwrap();
        assert_eq!(ui, ToolUi::new("ui://old"));
        assert!(ui.visibility.is_empty());
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
        assert_eq!(ui.visibility, [Visibility::App]);
        assert_eq!(
            serde_json::to_value(&tool).unwrap()["_meta"],
            json!({"ui": {"resourceUri": "ui://x", "visibility": ["app"]}, "ui/resourceUri": "ui://x"})
        );
        let tool = Tool::new("x").app("ui://x").model_only();
        assert_eq!(ToolUi::of(&tool).unwrap().visibility, [Visibility::Model]);
    }
}
