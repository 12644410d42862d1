//! Tools that send change notifications.

use mcp::prelude::*;

pub(crate) struct Changes;

#[mcp::server(routes = routes)]
impl Changes {
    /// Notifies subscribers that the list of tools has changed
    #[tool]
    fn test_trigger_tool_change(notify: Notify) -> &'static str {
        notify.tools_changed();
        "subscribers were notified of changed tools"
    }

    /// Notifies subscribers that the list of prompts has changed
    #[tool]
    fn test_trigger_prompt_change(notify: Notify) -> &'static str {
        notify.prompts_changed();
        "subscribers were notified of changed prompts"
    }

    /// Notifies subscribers that the list of resources and the watched resource have changed
    #[tool]
    fn test_trigger_resource_change(notify: Notify) -> &'static str {
        notify.resources_changed();
        notify.resource_updated("test://watched-resource");
        "subscribers were notified of changed resources"
    }
}
