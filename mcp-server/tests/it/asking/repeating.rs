//! Handlers with effects that run again when the answer arrives.

use mcp_core::schema::Severity;
use mcp_core::{InputState, Reply};
use mcp_server::{Ask, Server, Tool, ToolError, ToolExt};
use serde_json::json;

use super::client::{Client, answered, asked, tool};
use crate::request_log::logged;

const URL: &str = "https://example.com/login";

fn server() -> Server {
    async fn asks(ask: Ask) -> Result<(), ToolError> {
        ask.url("key", "Sign in", URL).await?;
        Ok(())
    }

    async fn records(ask: Ask) -> Result<(), ToolError> {
        ask.once("ticket", async || 7).await?;
        ask.url("key", "Sign in", URL).await?;
        Ok(())
    }

    Server::new("s", "1")
        .tool(Tool::new("writes").handler(asks))
        .tool(Tool::new("reads").read_only().handler(asks))
        .tool(Tool::new("repeats").idempotent().handler(asks))
        .tool(Tool::new("records").handler(records))
}

#[test]
#[cfg(debug_assertions)]
fn second_run_with_effects_is_logged_as_warning() {
    let run_twice = |name: &str| {
        let (client, call, server) = (Client::new(), tool(name), server());
        let first = asked(client.send(&server, &call, InputState::default()));
        let answers = json!({"key": {"action": "accept"}});
        let reply = client.send(&server, &call, answered(&first, &answers));
        assert!(matches!(reply, Reply::Complete { .. }), "{reply:?}");
    };
    // Registers the log statement before a subscriber exists: other tests may be registering it.
    run_twice("writes");
    for (name, is_warned) in [
        ("writes", true),
        ("reads", false),
        ("repeats", false),
        ("records", false),
    ] {
        let text = logged(tracing::Level::WARN, || run_twice(name));
        let warning = "put side effects before a question into `Ask::once`";
        assert_eq!(
            text.matches(warning).count(),
            usize::from(is_warned),
            "{text}"
        );
    }
}

#[test]
fn tool_that_asks_and_has_effects_is_a_lint() {
    let lints = server().lints();
    let found: Vec<_> = lints
        .iter()
        .filter(|lint| lint.reason.contains("again from its beginning"))
        .map(|lint| (&*lint.tool, lint.severity))
        .collect();
    assert_eq!(
        found,
        [("writes", Severity::Note), ("records", Severity::Note)]
    );
}
