//! A client for `cargo xtask interop`: exercises every feature of a server that has the fixtures of
//! the everything server.
//!
//! `interop-client URL REVISION` prints `revision R`, what was settled with the server, then for
//! each feature `ok FEATURE` or `no FEATURE: what was wrong`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it tells what it found"
)]

use std::error::Error;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use mcp::prelude::*;
use serde_json::json;
use tokio::time::{sleep, timeout};

/// For one feature; every one of them takes a moment.
const LIMIT: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(100);
/// How long a probe runs that nobody cancels: longer than the feature has time.
const PROBE_SECONDS: f64 = 60.0;

type Checked = Result<(), Box<dyn Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, revision] = &arguments[..] else {
        eprintln!("usage: interop-client URL REVISION");
        return ExitCode::FAILURE;
    };
    let client = match connect(url, revision).await {
        Ok(client) => client,
        Err(error) => {
            eprintln!("cannot connect to {url}: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("revision {}", client.protocol_version());
    tell("tools", tools(&client)).await;
    tell("resources", resources(&client)).await;
    tell("prompts", prompts(&client)).await;
    tell("progress", progress(&client)).await;
    tell("elicitation", elicitation(&client)).await;
    tell("sampling", sampling(&client)).await;
    tell("cancellation", cancellation(&client)).await;
    tell("list_changed", list_changed(&client)).await;
    match client.close().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("closing: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Settles the revision as everybody does; when that gives another one than is wanted, asks for
/// that one alone.
async fn connect(url: &str, revision: &str) -> Result<Client, Box<dyn Error>> {
    let wanted: ProtocolVersion = revision.parse()?;
    let client = builder().connect(url).await?;
    if client.protocol_version() == wanted {
        return Ok(client);
    }
    client.close().await?;
    let pinned = builder().mode(ConnectMode::Pin(wanted));
    Ok(pinned.connect(url).await?)
}

fn builder() -> mcp::client::ClientBuilder {
    let user = json!({"username": "ada", "email": "ada@example.org"});
    Client::builder()
        .identity("interop-client", env!("CARGO_PKG_VERSION"))
        .on_elicit(move |form: ElicitRequest| {
            let user = user.clone();
            async move { form.accept(user) }
        })
        .on_sample(|_| async { CreateMessageResult::new("test-model", "forty-two") })
}

async fn tell(feature: &str, check: impl Future<Output = Checked>) {
    match timeout(LIMIT, check).await {
        Ok(Ok(())) => println!("ok {feature}"),
        Ok(Err(error)) => println!("no {feature}: {error}"),
        Err(_) => println!("no {feature}: not done after {} s", LIMIT.as_secs()),
    }
}

/// The answer has all of `wanted`.
fn has(answer: &str, wanted: &[&str]) -> Checked {
    match wanted.iter().find(|it| !answer.contains(**it)) {
        Some(missing) => Err(format!("`{missing}` is not in `{answer}`").into()),
        None => Ok(()),
    }
}

async fn tools(client: &Client) -> Checked {
    let tools = client.list_all_tools().await?;
    if !tools.iter().any(|tool| tool.name == "test_simple_text") {
        return Err(format!("the tool is not among {}", tools.len()).into());
    }
    let answer = client.call("test_simple_text", ()).await?;
    has(&answer.text(), &["simple text response"])
}

async fn resources(client: &Client) -> Checked {
    let uri = "test://static-text";
    let resources = client.list_all_resources().await?;
    if !resources.iter().any(|resource| resource.uri == uri) {
        return Err(format!("{uri} is not among {}", resources.len()).into());
    }
    let read = client.read_resource(uri).await?;
    has(&format!("{:?}", read.contents), &["static text resource"])
}

async fn prompts(client: &Client) -> Checked {
    let name = "test_prompt_with_arguments";
    let prompts = client.list_all_prompts().await?;
    if !prompts.iter().any(|prompt| prompt.name == name) {
        return Err(format!("{name} is not among {}", prompts.len()).into());
    }
    let arguments = json!({"arg1": "hello", "arg2": "world"});
    let prompt = client.get_prompt(name, arguments).await?;
    has(&format!("{:?}", prompt.messages), &["hello", "world"])
}

async fn progress(client: &Client) -> Checked {
    let seen = Mutex::new(Vec::new());
    let note = |report: f64| {
        seen.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(report)
    };
    let call = client
        .call("test_tool_with_progress", ())
        .on_progress(|report| note(report.progress));
    call.await?;
    let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    if seen != [0.0, 50.0, 100.0] {
        return Err(format!("the reports were {seen:?}").into());
    }
    Ok(())
}

async fn elicitation(client: &Client) -> Checked {
    let arguments = json!({"message": "Who are you?"});
    let answer = client.call("test_elicitation", arguments).await?;
    has(&answer.text(), &["accept", "ada@example.org"])
}

async fn sampling(client: &Client) -> Checked {
    let arguments = json!({"prompt": "What is the answer?"});
    let answer = client.call("test_sampling", arguments).await?;
    has(&answer.text(), &["forty-two"])
}

/// Begins a call that takes long, gives it up, and asks the server what became of it.
async fn cancellation(client: &Client) -> Checked {
    let token = format!("ours-{}-{}", client.protocol_version(), std::process::id());
    let arguments = json!({"token": token, "seconds": PROBE_SECONDS});
    let probe = client.call("test_cancel_probe", arguments);
    let answer = probe.cancel_on(async {
        // The feature's deadline ends this when the probe never runs.
        while !matches!(status(client, &token).await.as_deref(), Ok("running")) {
            sleep(PAUSE).await;
        }
    });
    match answer.await {
        Err(error) if error.is_cancelled() => {}
        other => return Err(format!("the call ended with {other:?}").into()),
    }
    let mut last = String::new();
    for _ in 0..30 {
        last = status(client, &token).await?;
        if last == "cancelled" {
            return Ok(());
        }
        sleep(PAUSE).await;
    }
    Err(format!("the server says that the call is `{last}`").into())
}

async fn status(client: &Client, token: &str) -> Result<String, mcp::Error> {
    let answer = client.call("test_cancel_status", json!({"token": token}));
    Ok(answer.await?.text())
}

/// Subscribes and makes the server tell a change. A session's own stream may come into being a
/// moment later, and nothing is kept for it: the change is told again until it is heard.
async fn list_changed(client: &Client) -> Checked {
    let mut changes = client.changes().tools_changed().await?;
    if !changes.granted().tools_list_changed {
        return Err("the server does not announce it".into());
    }
    loop {
        client.call("test_trigger_tool_change", ()).await?;
        match timeout(5 * PAUSE, changes.try_next()).await {
            Err(_) => {}
            Ok(Ok(Some(Change::Tools))) => return Ok(()),
            Ok(other) => return Err(format!("instead of a change there was {other:?}").into()),
        }
    }
}
