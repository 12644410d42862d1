//! An app with a tool, and events.

use mcp::apps::{App, Apps, Csp};
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
    let html = "<!doctype html><title>Counter</title><p>A counter.</p>";
    let app = App::new("ui://test/counter", html).csp(Csp::new().connect("https://example.com"));
    let events = Events::new().event(EventType::<Counted>::new("test.counted").poll().push());
    let publisher = events.clone();
    let trigger = Tool::new("test_publish_event").describe("Publishes an event");
    server
        .tool(
            Tool::new("test_tool_with_app")
                .describe("Has a user interface")
                .app("ui://test/counter")
                .handler(|| "counted to 3"),
        )
        .tool(trigger.handler(move || {
            let publisher = publisher.clone();
            async move {
                publisher.publish(&Counted { count: 3 }).await?;
                Ok::<_, ToolError>("published")
            }
        }))
        .extension(Apps::new().app(app))
        .extension(events)
}
