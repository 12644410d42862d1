//! Layers in process and over HTTP, with handlers that request input.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp::middleware::{Exchange, Next, Reply, from_fn};
use mcp::prelude::*;
use serde_json::json;
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;

use crate::kit::{CONNECTIONS, connect_with};

#[derive(Elicit)]
struct Name {
    name: String,
}

struct Desk;

#[mcp::server(name = "desk", version = "1")]
impl Desk {
    /// Greets by name.
    #[tool(layer = ConcurrencyLimitLayer::new(1))]
    async fn greet(&self, ask: Ask) -> Result<String, ToolError> {
        match ask.form::<Name>("name", "Who are you?").await? {
            Answer::Accept(user) => Ok(format!("Hello {}", user.name)),
            _ => Ok("Hello stranger".to_owned()),
        }
    }

    /// Never completes.
    #[tool]
    async fn slow(&self) {
        pending::<()>().await;
    }
}

/// A layer that records the kinds of replies.
fn record_replies(
    seen: &Arc<Mutex<Vec<&'static str>>>,
) -> impl mcp::middleware::Middleware + use<> {
    let seen = seen.clone();
    from_fn(move |exchange: Exchange, next: Next| {
        let seen = seen.clone();
        async move {
            let reply = next.run(exchange).await;
            seen.lock().unwrap().push(match &reply {
                Reply::Complete { .. } => "complete",
                Reply::InputRequired(_) => "input required",
                _ => "other",
            });
            reply
        }
    })
}

/// Each round of a call passes the layers once. Between two rounds the call holds no permit from the
/// concurrency limit.
#[tokio::test]
async fn each_input_round_passes_layers() {
    for connection in CONNECTIONS {
        let seen = Arc::default();
        let server = Server::of(Desk).layer(record_replies(&seen));
        let builder = Client::builder()
            .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"name": "Ada"})) });
        let (client, _server) = connect_with(connection, server, builder).await;
        let greeting = client.call("greet", json!({})).await.unwrap();
        assert_eq!(greeting.text(), "Hello Ada");
        assert_eq!(
            *seen.lock().unwrap(),
            ["input required", "complete"],
            "{connection:?}"
        );
    }
}

#[tokio::test]
async fn timeout_layer_ends_call() {
    for connection in CONNECTIONS {
        let limit = TimeoutLayer::new(Duration::from_millis(20));
        let server = Server::of(Desk).layer(limit);
        let (client, _server) = connect_with(connection, server, Client::builder()).await;
        let error = client.call("slow", json!({})).await.unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("the call took too long"),
            "{connection:?}: {text}"
        );
    }
}
