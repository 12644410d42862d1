//! Layers, whichever way calls come, and beside handlers that ask.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp::middleware::{Exchange, Next, Reply, from_fn};
use mcp::prelude::*;
use serde_json::json;
use tokio::time::sleep;
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;

use crate::kit::{WAYS, connect_with};

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
            Answer::Accept(who) => Ok(format!("Hello {}", who.name)),
            _ => Ok("Hello stranger".to_owned()),
        }
    }

    /// Takes too long.
    #[tool]
    async fn dawdle(&self) {
        sleep(Duration::from_secs(3600)).await;
    }
}

/// A layer that notes how calls are answered.
fn noting(seen: &Arc<Mutex<Vec<&'static str>>>) -> impl mcp::middleware::Middleware + use<> {
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

/// Each round of a handler that asks passes the layers once, and holds nothing while its client is
/// asked: the limit of one call at a time is free for the next round.
#[tokio::test]
async fn rounds_pass_layers() {
    for way in WAYS {
        let seen = Arc::default();
        let server = Server::of(Desk).layer(noting(&seen));
        let builder = Client::builder()
            .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"name": "Ada"})) });
        let (client, _listening) = connect_with(way, server, builder).await;
        let greeting = client.call("greet", json!({})).await.unwrap();
        assert_eq!(greeting.text(), "Hello Ada");
        assert_eq!(
            *seen.lock().unwrap(),
            ["input required", "complete"],
            "{way:?}"
        );
    }
}

#[tokio::test]
async fn time_limits_hold_everywhere() {
    for way in WAYS {
        let limit = TimeoutLayer::new(Duration::from_millis(20));
        let server = Server::of(Desk).layer(limit);
        let (client, _listening) = connect_with(way, server, Client::builder()).await;
        let error = client.call("dawdle", json!({})).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains("the call took too long"), "{way:?}: {text}");
    }
}
