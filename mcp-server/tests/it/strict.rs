//! Generated code raises no lint, even in a crate with strict lints.

use std::sync::Arc;

use mcp_macros::{Output, server};
use mcp_server::{Args, Log, Progress, Routes, Server, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kit::call_text;

/// A server.
#[derive(Debug)]
struct Desk {
    name: String,
}

/// A result.
#[derive(Debug, Serialize, JsonSchema, Output)]
#[output(crate = mcp_server)]
struct Answer {
    /// its text
    text: String,
}

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Question {
    /// its text
    text: String,
}

/// A server.
#[server(crate = mcp_server)]
impl Desk {
    /// Every option.
    #[tool]
    async fn every(
        &self,
        State(prefix): State<Arc<str>>,
        /// a flag
        one: bool,
        two: bool,
        three: bool,
        four: Option<bool>,
        text: String,
        #[arg(default = 3, range = 1..=9)] number: u8,
        progress: Progress,
        log: Log,
    ) -> Answer {
        progress.report(1.0, 1.0, "").await;
        log.info("");
        let text = format!(
            "{prefix} {one} {two} {three} {four:?} {text} {number} {}",
            self.name
        );
        Answer { text }
    }

    /// One struct.
    #[tool]
    fn ask(&self, Args(question): Args<Question>) -> String {
        format!("{} {}", self.name, question.text)
    }

    /// A resource.
    #[resource("desk://name", mime_type = "text/plain", cache = "1h")]
    fn name(&self) -> &str {
        &self.name
    }

    /// A family of resources.
    #[resource("desk://{drawer}/{+path}{?lines}")]
    async fn drawer(
        &self,
        drawer: u8,
        path: String,
        lines: Option<u8>,
        progress: Progress,
    ) -> String {
        progress.report(1.0, 1.0, "").await;
        format!("{} {drawer} {path} {lines:?}", self.name)
    }

    /// A prompt.
    #[prompt(title = "Write")]
    fn write(&self, to: String, #[arg(default = true)] polite: bool) -> String {
        format!("{} {to} {polite}", self.name)
    }

    /// A completion.
    #[completion(prompt = "write", argument = "to")]
    fn people(&self, prefix: &str) -> Vec<String> {
        vec![format!("{prefix}{}", self.name)]
    }

    /// Another one.
    #[completion(template = "desk://{drawer}/{+path}{?lines}", argument = "path")]
    fn paths(prefix: String) -> Vec<String> {
        vec![prefix]
    }

    #[deprecated(note = "old")]
    #[tool]
    fn old(&self) -> &str {
        &self.name
    }

    #[tool]
    #[must_use]
    fn number(number: i32) -> String {
        number.to_string()
    }
}

#[server(crate = mcp_server, routes = more)]
impl Desk {
    #[tool]
    fn more_of_it(&self, text: String) -> String {
        text + &self.name
    }
}

fn routes(desk: Arc<Desk>) -> Routes {
    desk.more()
}

#[test]
fn generated_code_compiles_under_strict_lints() {
    let desk = Arc::new(Desk {
        name: "desk".to_owned(),
    });
    let server = Server::of(Arc::clone(&desk))
        .state(Arc::<str>::from(">"))
        .merge(routes(desk));
    server.check().unwrap();
    assert_eq!(
        call_text(
            &server,
            "every",
            r#"{"one": true, "two": false, "three": true, "text": "x"}"#
        ),
        r#"{"text":"> true false true None x 3 desk"}"#
    );
    assert_eq!(call_text(&server, "ask", r#"{"text": "x"}"#), "desk x");
    assert_eq!(
        call_text(&server, "more_of_it", r#"{"text": "x"}"#),
        "xdesk"
    );
}
