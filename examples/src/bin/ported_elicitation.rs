//! The example `elicitation_stdio` of rmcp: a tool asks the user for a name, and another one sends the
//! user to a URL.
//!
//! `cargo run -p examples --bin ported_elicitation`

use std::sync::{Mutex, PoisonError};

use mcp::AskError;
use mcp::prelude::*;

#[derive(Elicit)]
struct UserInfo {
    /// Your name
    name: String,
}

#[derive(Default)]
struct Greeter {
    user: Mutex<Option<String>>,
}

#[mcp::server(instructions = "Greets the user, whose name it asks for once.")]
impl Greeter {
    /// Greets the user.
    #[tool(idempotent)]
    async fn greet_user(&self, greeting: String, ask: Ask) -> Result<String, AskError> {
        let known = self.set_user(|_| {});
        let name = match known {
            Some(name) => name,
            None => match ask.form::<UserInfo>("name", "What is your name?").await? {
                Answer::Accept(info) => {
                    self.set_user(|user| *user = Some(info.name.clone()));
                    info.name
                }
                Answer::Decline | Answer::Cancel => "Unknown".to_owned(),
            },
        };
        Ok(format!("{greeting} {name}!"))
    }

    /// Forgets the user's name.
    #[tool(idempotent)]
    fn reset_name(&self) -> &'static str {
        self.set_user(|user| *user = None);
        "the name is forgotten"
    }

    /// Sends the user to a page.
    #[tool(idempotent)]
    async fn secure_tool_call(&self, ask: Ask) -> Result<&'static str, ToolError> {
        let page = "https://example.com/complete_tool";
        match ask.url("page", "Continue on this page", page).await? {
            Answer::Accept(()) => Ok("the user visits the page"),
            Answer::Cancel => Ok("the user canceled"),
            Answer::Decline => Err(ToolError::new("the user declined")),
        }
    }

    fn set_user(&self, change: impl FnOnce(&mut Option<String>)) -> Option<String> {
        let mut user = self.user.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut user);
        user.clone()
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    mcp::serve_stdio(Greeter::default()).await
}
