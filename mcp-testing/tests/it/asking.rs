//! Servers that ask, and clients that answer by their handlers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mcp::StdioServer;
use mcp::client::ClientBuilder;
use mcp::core::Fault;
use mcp::prelude::*;
use mcp::types::Root;
use serde_json::json;

use crate::kit::{WAYS, connect_with};

/// What was done, and how often.
#[derive(Clone, Default)]
struct Done {
    runs: Arc<AtomicU32>,
    tickets: Arc<AtomicU32>,
}

fn up(counter: &AtomicU32) -> u32 {
    counter.fetch_add(1, Ordering::Relaxed) + 1
}

/// What to do.
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
    /// What programs call
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
        State(done): State<Done>,
        progress: Progress,
        ask: Ask,
    ) -> Result<String, ToolError> {
        up(&done.runs);
        progress.report(0.0, 1.0, "asking").await;
        let ticket = ask.once("ticket", || async { up(&done.tickets) }).await?;
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

    /// Greets somebody.
    #[prompt]
    async fn greet(&self, ask: Ask) -> Result<String, PromptError> {
        let notes = ask.sample("words", Sampling::user("Words?")).await?;
        Ok(notes.content.text())
    }
}

fn server(done: &Done) -> Server {
    Server::of(Deployment).state(done.clone())
}

/// A client that answers everything.
fn answering() -> ClientBuilder {
    Client::builder()
        .on_elicit(|form: ElicitRequest| async move {
            assert_eq!(form.message(), "Deploy to production?");
            form.accept(json!({"name": "production"}))
        })
        .on_elicit_url(|visit: UrlRequest| async move {
            assert_eq!(visit.url(), "https://example.com/login");
            ElicitResult::accept_url()
        })
        .on_sample(|_: SampleRequest| async { CreateMessageResult::new("model", "all new") })
        .roots([Root::new("file:///a"), Root::new("file:///b")])
}

/// Deploys; how often the handler has run for it.
async fn deploy(client: &Client, done: &Done) -> u32 {
    let arguments = json!({"environment": "production"});
    let result = client.call("deploy", arguments).await.unwrap();
    assert_eq!(
        result.text(),
        "ticket 1, force false, [Api], all new, 2 roots, signed in true"
    );
    done.runs.load(Ordering::Relaxed)
}

#[tokio::test]
async fn one_straight_line_over_four_rounds() {
    for way in WAYS {
        let done = Done::default();
        let (client, _listening) = connect_with(way, server(&done), answering()).await;
        assert_eq!(deploy(&client, &done).await, 4, "{way:?}");
        let prompt = client.get_prompt("greet", json!({})).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("all new"));
    }
}

/// Over a pipe a session of an older revision can be asked: there the same handler runs once.
#[tokio::test]
async fn the_same_line_in_a_session() {
    for (version, runs) in [
        (ProtocolVersion::V2025_11_25, 1),
        (ProtocolVersion::V2026_07_28, 4),
    ] {
        let done = Done::default();
        let (near, far) = tokio::io::duplex(4096);
        let (reader, writer) = tokio::io::split(far);
        tokio::spawn(StdioServer::new(server(&done)).serve(reader, writer));
        let (reader, writer) = tokio::io::split(near);
        let builder = answering().mode(ConnectMode::Pin(version));
        let client = builder.connect(Io(reader, writer)).await.unwrap();
        assert_eq!(deploy(&client, &done).await, runs, "{version}");
        let prompt = client.get_prompt("greet", json!({})).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("all new"));
    }
}

#[tokio::test]
async fn users_who_say_no_and_clients_that_cannot_be_asked() {
    for way in WAYS {
        let done = Done::default();
        let builder = Client::builder().on_elicit(|_| async { ElicitResult::decline() });
        let (client, _listening) = connect_with(way, server(&done), builder).await;
        let arguments = || json!({"environment": "production"});
        let result = client.call("deploy", arguments()).await.unwrap();
        assert_eq!(result.text(), "ticket 1 closed");

        let error = client.get_prompt("greet", json!({})).await.unwrap_err();
        let missing = matches!(error.fault(), Some(Fault::MissingCapability { .. }));
        assert!(missing, "{error}");
    }
}
