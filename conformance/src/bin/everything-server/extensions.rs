//! Events; the apps are in `apps.rs`.

use mcp::events::{EventType, Events};
use mcp::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Counted {
    count: u64,
}

/// Adds the extensions and their tools.
pub(crate) fn add(server: Server) -> Server {
    let events = Events::new().event(EventType::<Counted>::new("test.counted").poll().push());
    let publisher = events.clone();
    let trigger = Tool::new("test_publish_event").describe("Publishes an event");
    server
        .tool(trigger.handler(move || {
            let publisher = publisher.clone();
            async move {
                publisher.publish(&Counted { count: 3 }).await?;
                Ok::<_, ToolError>("published")
            }
        }))
        .extension(events)
}
