//! The example `counter_streamhttp` of rmcp: tools, prompts and resources over HTTP, with a counter that
//! all clients share.
//!
//! `cargo run -p examples --bin ported_counter [ADDRESS]`

#![allow(clippy::print_stdout, reason = "prints its URL")]

use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use mcp::http::Serve;
use mcp::prelude::*;
use mcp::types::{GetPromptResult, JsonObject};
use serde_json::Value;

#[derive(Default)]
struct Counter(AtomicI32);

#[mcp::server(
    instructions = "Count with `increment` and `decrement`. The prompt `counter_analysis` plans the way to a goal."
)]
impl Counter {
    /// Adds 1 to the counter.
    #[tool]
    fn increment(&self) -> i32 {
        self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    /// Subtracts 1 from the counter.
    #[tool]
    fn decrement(&self) -> i32 {
        self.0.fetch_sub(1, Ordering::Relaxed).wrapping_sub(1)
    }

    /// Returns the counter's value.
    #[tool(read_only)]
    fn get_value(&self) -> i32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Works for ten seconds.
    #[tool]
    async fn long_task() -> &'static str {
        tokio::time::sleep(Duration::from_secs(10)).await;
        "the work is done"
    }

    /// Greets the client.
    #[tool]
    fn say_hello() -> &'static str {
        "hello"
    }

    /// Returns its arguments.
    #[tool]
    fn echo(Args(arguments): Args<JsonObject>) -> String {
        Value::Object(arguments).to_string()
    }

    /// Adds two numbers.
    #[tool(read_only)]
    fn sum(a: i32, b: i32) -> i64 {
        i64::from(a) + i64::from(b)
    }

    /// Returns the id of the client's session.
    #[tool(read_only)]
    fn get_session_id(headers: Headers) -> String {
        let id = headers.get("mcp-session-id");
        let id = id.and_then(|value| value.to_str().ok());
        id.unwrap_or("no session").to_owned()
    }

    /// A prompt with a required argument.
    #[prompt(meta = [("meta_key", "meta_value")])]
    fn example_prompt(
        /// the text for the prompt
        message: String,
    ) -> String {
        format!("This prompt quotes your message: '{message}'")
    }

    /// Plans the way from the counter's value to a goal.
    #[prompt]
    fn counter_analysis(
        &self,
        /// the value to reach
        goal: i32,
        /// `fast` or `careful`
        #[arg(default = "careful".to_owned())]
        strategy: String,
    ) -> GetPromptResult {
        let value = self.get_value();
        let distance = i64::from(goal) - i64::from(value);
        GetPromptResult::new([
            assistant("I plan how to reach the goal."),
            user(format!(
                "The counter is {value}, the goal {goal}, the distance {distance}. Be {strategy}."
            )),
        ])
        .description(format!("From {value} to {goal}"))
    }

    #[resource("str:////Users/to/some/path/", name = "cwd")]
    fn cwd() -> &'static str {
        "/Users/to/some/path/"
    }

    #[resource("memo://insights", name = "memo-name")]
    fn memo() -> &'static str {
        "Memo: five insights"
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let endpoint = StreamableHttp::new(Server::of(Counter::default()))
        .on_session(|event| tracing::info!(?event));
    let address = std::env::args().nth(1);
    let address = address.unwrap_or_else(|| "127.0.0.1:8000".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    Ok(Serve::service(endpoint).run(listener).await?)
}
