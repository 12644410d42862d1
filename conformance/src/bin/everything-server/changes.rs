//! Tools that tell a change.

use mcp::prelude::*;

pub(crate) struct Changes;

#[mcp::tools(routes = routes)]
impl Changes {
    /// Tells everybody who listens that the list of tools has changed
    #[tool]
    fn test_trigger_tool_change(notify: Notify) -> &'static str {
        notify.tools_changed();
        "told that the tools have changed"
    }

    /// Tells everybody who listens that the list of prompts has changed
    #[tool]
    fn test_trigger_prompt_change(notify: Notify) -> &'static str {
        notify.prompts_changed();
        "told that the prompts have changed"
    }

    /// Tells everybody who listens that the list of resources has changed, and the watched one, too
    #[tool]
    fn test_trigger_resource_change(notify: Notify) -> &'static str {
        notify.resources_changed();
        notify.resource_updated("test://watched-resource");
        "told that the resources have changed"
    }
}
