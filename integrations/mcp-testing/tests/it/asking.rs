//! Handlers that request input, and clients with handlers for these requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mcp::StdioServer;
use mcp::client::ClientBuilder;
use mcp::core::Fault;
use mcp::prelude::*;
use mcp::types::Root;
use serde_json::json;

use crate::kit::{CONNECTIONS, connect_with};

/// Counters of side effects.
#[derive(Clone, Default)]
struct Counters {
    runs: Arc<AtomicU32>,
    tickets: Arc<AtomicU32>,
}

fn increment(counter: &AtomicU32) -> u32 {
    counter.fetch_add(1, Ordering::Relaxed) + 1
}

/// Confirmation of a deployment.
#[derive(Elicit)]
struct Confirm {
    /// Type the environment's name
    name: String,
    #[elicit(default = false)]
    force: bool,
    #[elicit(default = vec![Part::Api])]
    parts: Vec<Part>,
}

#[derive(Debug, PartialEq, Elicit)]
enum Part {
    /// The programming interface
    Api,
    Site,
}

struct Deployment;

#[mcp::server(name = "deployment", version = "1")]
impl Deployment {
    /// Deploys something.
    #[tool]
    async fn deploy(
        &self,
        environment: String,
        State(counters): State<Counters>,
        progress: Progress,
        ask: Ask,
    ) -> Result<String, ToolError> {
        increment(&counters.runs);
        progress.report(0.0, 1.0, "asking").await;
        let ticket = ask
            .once("ticket", || async { increment(&counters.tickets) })
            .await?;
        let confirm = ask.form::<Confirm>("confirm", format!("Deploy to {environment}?"));
        let confirm = match confirm.await? {
            Answer::Accept(confirm) if confirm.name == environment => confirm,
            Answer::Accept(_) => return Err(ToolError::new("the name does not match")),
            Answer::Decline | Answer::Cancel => return Ok(format!("ticket {ticket} closed")),
        };
        let notes = Sampling::user("Write release notes").max_tokens(200);
        let notes = ask.sample("notes", notes).await?.content.text();
        let login = ask.url("login", "Sign in", "https://example.com/login");
        let (roots, login) = ask.all((ask.roots("roots"), login)).await?;
        Ok(format!(
            "ticket {ticket}, force {}, {:?}, {notes}, {} roots, signed in {}",
            confirm.force,
            confirm.parts,
            roots.len(),
            login.is_accepted()
        ))
    }

    /// Greets the user.
    #[prompt]
    async fn greet(&self, ask: Ask) -> Result<String, PromptError> {
        let notes = ask.sample("words", Sampling::user("Words?")).await?;
        Ok(notes.content.text())
    }
}

fn server(counters: &Counters) -> Server {
    Server::of(Deployment).state(counters.clone())
}

/// A client with handlers for all requests.
fn client_with_handlers() -> ClientBuilder {
    Client::builder()
        .on_elicit(|form: ElicitRequest| async move {
            assert_eq!(form.message(), "Deploy to production?");
            form.accept(json!({"name": "production"}))
        })
        .on_elicit_url(|visit: UrlRequest| async move {
            assert_eq!(visit.url().as_str(), "https://example.com/login");
            ElicitResult::accept_url()
        })
        .on_sample(|_: SampleRequest| async { CreateMessageResult::new("model", "all new") })
        .roots([Root::from("file:///a"), Root::from("file:///b")])
}

/// Calls `deploy` and returns how often its handler ran.
async fn deploy(client: &Client, counters: &Counters) -> u32 {
    let arguments = json!({"environment": "production"});
    let result = client.call("deploy", arguments).await.unwrap();
    assert_eq!(
        result.text(),
        "ticket 1, force false, [Api], all new, 2 roots, signed in true"
    );
    counters.runs.load(Ordering::Relaxed)
}

#[tokio::test]
async fn handler_with_four_requests_runs_four_times() {
    for connection in CONNECTIONS {
        let counters = Counters::default();
        let (client, _server) =
            connect_with(connection, server(&counters), client_with_handlers()).await;
        assert_eq!(deploy(&client, &counters).await, 4, "{connection:?}");
        let prompt = client.get_prompt("greet", json!({})).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("all new"));
    }
}

/// In a session of a legacy revision, the handler waits for the answers and runs once.
#[tokio::test]
async fn handler_in_session_runs_once() {
    for (version, runs) in [
        (ProtocolVersion::V2025_11_25, 1),
        (ProtocolVersion::V2026_07_28, 4),
    ] {
        let counters = Counters::default();
        let (near, far) = tokio::io::duplex(4096);
        let (reader, writer) = tokio::io::split(far);
        tokio::spawn(StdioServer::new(server(&counters)).run_over(reader, writer));
        let (reader, writer) = tokio::io::split(near);
        let builder = client_with_handlers().mode(ConnectMode::Pin(version));
        let client = builder.connect(Io(reader, writer)).await.unwrap();
        assert_eq!(deploy(&client, &counters).await, runs, "{version}");
        let prompt = client.get_prompt("greet", json!({})).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("all new"));
    }
}

// spec: ELIC-18
#[tokio::test]
async fn declined_form_is_answer_and_missing_capability_is_error() {
    for connection in CONNECTIONS {
        let counters = Counters::default();
        let builder = Client::builder().on_elicit(|_| async { ElicitResult::decline() });
        let (client, _server) = connect_with(connection, server(&counters), builder).await;
        let arguments = || json!({"environment": "production"});
        let result = client.call("deploy", arguments()).await.unwrap();
        assert_eq!(result.text(), "ticket 1 closed");

        let error = client.get_prompt("greet", json!({})).await.unwrap_err();
        let missing = matches!(error.fault(), Some(Fault::MissingCapability { .. }));
        assert!(missing, "{error}");
    }
}
