//! Apps: one that is listed, one that is not, and tools for them.

use mcp::apps::{App, Apps, Csp, Permissions};
use mcp::extension::Declared;
use mcp::prelude::*;

const COUNTER: &str = "ui://test/counter";
const HIDDEN: &str = "ui://test/hidden";

/// Adds the apps and their tools.
pub(crate) fn add(server: Server) -> Server {
    let html = |name: &str| format!("<!doctype html><title>{name}</title><p>{name}</p>");
    let counter = App::new(COUNTER, html("Counter"))
        .title("Counter")
        .csp(
            Csp::new()
                .connect("https://example.com")
                .load("https://*.cdn.example.com"),
        )
        .permissions(Permissions::new().clipboard_write())
        .prefers_border(true);
    let hidden = App::new(HIDDEN, html("Hidden")).unlisted();
    let count = |host: Option<Declared<Apps>>| match host {
        Some(Declared(settings)) if settings.shows_apps() => "counted, see the counter",
        _ => "counted to 3",
    };
    server
        .tool(
            Tool::new("test_tool_with_app")
                .description("Has a user interface")
                .app(COUNTER)
                .handler(count),
        )
        .tool(
            Tool::new("test_tool_with_unlisted_app")
                .description("Has a user interface that is not listed")
                .app(HIDDEN)
                .handler(|| "shown in a hidden app"),
        )
        .tool(
            Tool::new("test_app_only_tool")
                .description("For views only")
                .app(COUNTER)
                .app_only()
                .handler(|| "counted for a view"),
        )
        .tool(
            Tool::new("test_model_only_tool")
                .description("For the language model only")
                .model_only()
                .handler(|| "counted for a model"),
        )
        .extension(Apps::new().app(counter).app(hidden))
}
