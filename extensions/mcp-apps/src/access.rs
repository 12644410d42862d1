//! The parties that may call a tool.

use mcp_types::Tool;
use mcp_types::ext::apps::{ToolUi, Visibility};
use mcp_types::meta::keys;

/// The parties that may call a tool, as the `_meta.ui` of the tool says.
///
/// A tool without `_meta.ui` is for both. A tool whose `_meta.ui` cannot be read is for none: a
/// tool that was meant for views only must not reach the model because of a mistake.
// spec: APP-04
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolAccess {
    /// The language model may call it.
    pub model: bool,
    /// The views of the same server may call it.
    pub app: bool,
}

impl ToolAccess {
    /// Reads the metadata of a tool.
    // spec: APP-08
    pub fn of(tool: &Tool) -> Self {
        let has_ui = |meta: &mcp_types::Meta| meta.get::<serde_json::Value>(keys::UI).is_some();
        let is_malformed = tool
            .meta
            .as_ref()
            .is_some_and(|meta| has_ui(meta) && meta.get::<ToolUi>(keys::UI).is_none());
        let parties = ToolUi::of(tool).unwrap_or_default().visibility;
        let is_for = |party| !is_malformed && (parties.is_empty() || parties.contains(&party));
        Self {
            model: is_for(Visibility::Model),
            app: is_for(Visibility::App),
        }
    }
}

/// Removes the tools that the language model may not call. Apply it to each list of tools before the
/// model receives it.
///
/// # Examples
///
/// ```
/// use mcp::Tool;
/// use mcp::apps::{ToolUi, Visibility, model_tools};
///
/// let refresh = Tool::new("refresh").ui(&ToolUi::default().visible_to(Visibility::App));
/// let tools = model_tools([Tool::new("chart").app("ui://chart"), refresh]);
/// assert_eq!(tools.len(), 1);
/// ```
// spec: APP-08
pub fn model_tools(tools: impl IntoIterator<Item = Tool>) -> Vec<Tool> {
    let tools = tools.into_iter();
    tools.filter(|tool| ToolAccess::of(tool).model).collect()
}
