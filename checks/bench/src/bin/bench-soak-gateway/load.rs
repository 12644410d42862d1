//! Clients of both eras that vanish in the middle of calls, streams and questions. The calls of a healthy server must
//! succeed all the same, and no call may hang.

use std::time::{Duration, Instant};

use bench::random::Random;
use bench::{Failure, joined, summary};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::caller::Caller;

/// Concurrent clients.
const CLIENTS: u64 = 8;
/// Longest pause between two connections of a client, in milliseconds.
const PAUSE: usize = 500;
/// Longest time until a client vanishes, in milliseconds.
const MAX_CUT: usize = 1500;
/// Longest time of a call that is not cut: what a session waits for its place, and the server's own limit.
const LIMIT: Duration = Duration::from_secs(60);
/// The time after which a client with a question gives up.
const PATIENCE: Duration = Duration::from_secs(4);
/// One of so many sessions is not closed by its client.
const ABANDONED: usize = 8;

/// Tools of the servers. Each server may be called, and none but the healthy one must answer.
const TOOLS: [&str; 16] = [
    "healthy__echo",
    "healthy__echo",
    "healthy__echo",
    "healthy__echo",
    "changing__echo",
    "changing__$LISTED",
    "dying__echo",
    "silent__echo",
    "mute__echo",
    "garbage__echo",
    "asking__echo",
    "roots__echo",
    "slow__echo",
    "modern__echo",
    "modern__ask",
    "modern__wait",
];

/// Runs clients for some seconds and prints their results.
pub(crate) async fn run(url: &str, seconds: f64, is_search: bool) -> Result<(), Failure> {
    // reqwest requires a crypto provider even without TLS.
    let _ = rustls::crypto::ring::default_provider().install_default();
    wait_for_healthy(url, is_search).await?;
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(seconds);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let clients = Clients {
                url: url.to_owned(),
                random: Random::new(number),
                is_search,
                done: 0,
            };
            tokio::spawn(clients.run(end))
        })
        .collect();
    let (requests, errors, last_error) = joined(clients).await?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", summary(requests, seconds, errors, last_error));
    Ok(())
}

/// Waits until the gateway has the tools of the healthy server.
async fn wait_for_healthy(url: &str, is_search: bool) -> Result<(), Failure> {
    let mut caller = Caller::new(reqwest::Client::new(), url, json!({}), false);
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        let params = call_params("healthy__echo", "ready", is_search);
        let reply = caller.call("tools/call", params).await?;
        if reply["result"]["content"][0]["text"] == "ready" {
            return Ok(());
        }
        sleep(Duration::from_millis(100)).await;
    }
    Err("the healthy server does not start".into())
}

fn call_params(tool: &str, message: &str, is_search: bool) -> Value {
    let arguments = json!({"message": message});
    if is_search {
        json!({"name": "call_tool", "arguments": {"name": tool, "arguments": arguments}})
    } else {
        json!({"name": tool, "arguments": arguments})
    }
}

/// Clients, one after the other.
struct Clients {
    url: String,
    random: Random,
    is_search: bool,
    /// Answers of the healthy server.
    done: u64,
}

impl Clients {
    /// Returns the number of checked answers, and the errors.
    async fn run(mut self, end: Instant) -> (u64, Vec<String>) {
        let mut failures = Vec::new();
        while Instant::now() < end {
            if let Err(error) = self.connect().await {
                eprintln!("ERROR: {error}");
                failures.push(error.to_string());
            }
            sleep(self.random.pause(PAUSE)).await;
        }
        (self.done, failures)
    }

    /// Opens a connection, calls tools, and closes it or vanishes.
    async fn connect(&mut self) -> Result<(), Failure> {
        // Connections are not used again, so that a dropped request is a client that has gone.
        let http = reqwest::Client::builder().pool_max_idle_per_host(0);
        let mut capabilities = json!({});
        for (name, settings) in [
            ("elicitation", json!({"form": {}})),
            ("sampling", json!({})),
            ("roots", json!({"listChanged": true})),
        ] {
            if self.random.below(2) == 0 {
                capabilities[name] = settings;
            }
        }
        let answers = self.random.below(4) == 0;
        let mut caller = Caller::new(http.build()?, &self.url, capabilities, answers);
        if self.random.below(2) == 0 {
            caller.initialize().await?;
        }
        let listening = match self.random.below(3) {
            0 => Some(caller.listen().await?),
            _ => None,
        };
        let reply = caller.call("tools/list", json!({})).await?;
        let names = names(&reply, "changing__tool_");
        for _ in 0..=self.random.below(3) {
            let tool = TOOLS[self.random.below(TOOLS.len())];
            let listed = names.get(self.random.below(names.len()));
            let listed = listed.map_or("changing__none", String::as_str);
            let tool = tool.replace("changing__$LISTED", listed);
            self.call(&mut caller, &tool).await?;
        }
        drop(listening);
        if self.random.below(ABANDONED) > 0 {
            caller.close().await?;
        }
        Ok(())
    }

    async fn call(&mut self, caller: &mut Caller, tool: &str) -> Result<(), Failure> {
        let message = format!("message {}", self.random.below(1 << 30));
        if self.is_search {
            let words = ["echo", "tool", "ask", &message][self.random.below(4)];
            let search = json!({"name": "search_tools", "arguments": {"queries": [words]}});
            caller.call("tools/call", search).await?;
        }
        let params = call_params(tool, &message, self.is_search);
        let call = caller.call("tools/call", params);
        if self.random.below(2) == 0 {
            // The request's connection ends with its future.
            let _ = timeout(self.random.pause(MAX_CUT), call).await;
            return Ok(());
        }
        if ["asking__", "modern__", "roots__"]
            .iter()
            .any(|server| tool.starts_with(server))
        {
            let _ = timeout(PATIENCE, call).await;
            return Ok(());
        }
        let reply = timeout(LIMIT, call).await;
        let reply = reply.map_err(|_| format!("{tool} hangs"))??;
        if tool.starts_with("healthy__") {
            let text = reply["result"]["content"][0]["text"].as_str();
            if text != Some(&message) {
                return Err(format!("{tool} answers {reply} to {message:?}").into());
            }
            self.done += 1;
        }
        Ok(())
    }
}

/// Returns the listed tools with this prefix.
fn names(reply: &Value, prefix: &str) -> Vec<String> {
    let tools = reply["result"]["tools"].as_array();
    let names = tools
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["name"].as_str());
    names
        .filter(|name| name.starts_with(prefix))
        .map(str::to_owned)
        .collect()
}
