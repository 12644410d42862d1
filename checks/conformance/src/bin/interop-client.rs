//! A client for `cargo xtask interop`: tests every feature of a server with the fixtures of the
//! everything server.
//!
//! `interop-client URL REVISION [FEATURES]` prints `revision R` with the negotiated revision, and for
//! each feature `ok FEATURE` or `no FEATURE: ERROR`. FEATURES is a list with commas; default: all.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "prints its findings"
)]

use std::error::Error;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use mcp::prelude::*;
use serde_json::json;
use tokio::time::{sleep, timeout};

/// Timeout of each feature.
const LIMIT: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(100);
/// Duration of a probe that is not cancelled; longer than the timeout of the feature.
const PROBE_SECONDS: f64 = 60.0;

type CheckResult = Result<(), Box<dyn Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, revision, wanted @ ..] = &arguments[..] else {
        eprintln!("usage: interop-client URL REVISION [FEATURES]");
        return ExitCode::FAILURE;
    };
    let wanted = |feature: &str| {
        let mut lists = wanted.iter();
        lists
            .next()
            .is_none_or(|list| list.split(',').any(|name| name == feature))
    };
    let client = match connect(url, revision).await {
        Ok(client) => client,
        Err(error) => {
            eprintln!("cannot connect to {url}: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("revision {}", client.protocol_version());
    if wanted("tools") {
        report("tools", tools(&client)).await;
    }
    if wanted("resources") {
        report("resources", resources(&client)).await;
    }
    if wanted("prompts") {
        report("prompts", prompts(&client)).await;
    }
    if wanted("progress") {
        report("progress", progress(&client)).await;
    }
    if wanted("elicitation") {
        report("elicitation", elicitation(&client)).await;
    }
    if wanted("sampling") {
        report("sampling", sampling(&client)).await;
    }
    if wanted("cancellation") {
        report("cancellation", cancellation(&client)).await;
    }
    if wanted("list_changed") {
        report("list_changed", list_changed(&client)).await;
    }
    match client.close().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("closing: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Connects with automatic negotiation. If it selects another revision than the expected one, connects
/// again with only the expected revision.
async fn connect(url: &str, revision: &str) -> Result<Client, Box<dyn Error>> {
    let expected: ProtocolVersion = revision.parse()?;
    let client = builder().connect(url).await?;
    if client.protocol_version() == expected {
        return Ok(client);
    }
    client.close().await?;
    let pinned = builder().mode(ConnectMode::Pin(expected));
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

async fn report(feature: &str, check: impl Future<Output = CheckResult>) {
    match timeout(LIMIT, check).await {
        Ok(Ok(())) => println!("ok {feature}"),
        Ok(Err(error)) => println!("no {feature}: {error}"),
        Err(_) => println!("no {feature}: timeout after {} s", LIMIT.as_secs()),
    }
}

/// Checks that `text` contains all of `parts`.
fn contains_all(text: &str, parts: &[&str]) -> CheckResult {
    match parts.iter().find(|part| !text.contains(**part)) {
        Some(missing) => Err(format!("`{missing}` is missing in `{text}`").into()),
        None => Ok(()),
    }
}

async fn tools(client: &Client) -> CheckResult {
    let tools = client.list_tools().await?;
    if !tools.iter().any(|tool| tool.name == "test_simple_text") {
        return Err(format!(
            "test_simple_text is not among the {} listed tools",
            tools.len()
        )
        .into());
    }
    let answer = client.call("test_simple_text", ()).await?;
    contains_all(&answer.text(), &["simple text response"])
}

async fn resources(client: &Client) -> CheckResult {
    let uri = "test://static-text";
    let resources = client.list_resources().await?;
    if !resources.iter().any(|resource| resource.uri == uri) {
        return Err(format!(
            "{uri} is not among the {} listed resources",
            resources.len()
        )
        .into());
    }
    let read = client.read_resource(uri).await?;
    contains_all(&format!("{:?}", read.contents), &["static text resource"])
}

async fn prompts(client: &Client) -> CheckResult {
    let name = "test_prompt_with_arguments";
    let prompts = client.list_prompts().await?;
    if !prompts.iter().any(|prompt| prompt.name == name) {
        return Err(format!("{name} is not among the {} listed prompts", prompts.len()).into());
    }
    let arguments = json!({"arg1": "hello", "arg2": "world"});
    let prompt = client.get_prompt(name, arguments).await?;
    contains_all(&format!("{:?}", prompt.messages), &["hello", "world"])
}

async fn progress(client: &Client) -> CheckResult {
    let seen = Mutex::new(Vec::new());
    let record = |report: f64| {
        seen.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(report)
    };
    let call = client
        .call("test_tool_with_progress", ())
        .on_progress(|report| record(report.progress));
    call.await?;
    let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    if seen != [0.0, 50.0, 100.0] {
        return Err(format!("the reported values were {seen:?}").into());
    }
    Ok(())
}

async fn elicitation(client: &Client) -> CheckResult {
    let arguments = json!({"message": "Who are you?"});
    let answer = client.call("test_elicitation", arguments).await?;
    contains_all(&answer.text(), &["accept", "ada@example.org"])
}

async fn sampling(client: &Client) -> CheckResult {
    let arguments = json!({"prompt": "What is the answer?"});
    let answer = client.call("test_sampling", arguments).await?;
    contains_all(&answer.text(), &["forty-two"])
}

/// Starts a long call, cancels it, and reads its state from the server.
async fn cancellation(client: &Client) -> CheckResult {
    let token = format!("ours-{}-{}", client.protocol_version(), std::process::id());
    let arguments = json!({"token": token, "seconds": PROBE_SECONDS});
    let probe = client.call("test_cancel_probe", arguments);
    let answer = probe.cancel_on(async {
        // The timeout of the feature ends this loop if the probe never starts.
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
    Err(format!("the server reports the state `{last}` for the call").into())
}

async fn status(client: &Client, token: &str) -> Result<String, mcp::Error> {
    let answer = client.call("test_cancel_status", json!({"token": token}));
    Ok(answer.await?.text())
}

/// Subscribes, and triggers changes until one is received. The standalone stream of a session may open
/// later than the subscription, and changes before that are not stored.
async fn list_changed(client: &Client) -> CheckResult {
    let mut changes = client.changes().tools_changed().await?;
    if !changes.granted().tools_list_changed {
        return Err("the server does not grant the subscription".into());
    }
    loop {
        client.call("test_trigger_tool_change", ()).await?;
        match timeout(5 * PAUSE, changes.try_next()).await {
            Err(_) => {}
            Ok(Ok(Some(Change::Tools))) => return Ok(()),
            Ok(other) => return Err(format!("expected a change, received {other:?}").into()),
        }
    }
}
