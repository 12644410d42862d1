//! A server as a service: public host names, limits, a secret that all nodes share, health checks,
//! metrics, a log line per request, and a shutdown that lets running calls finish.
//!
//! `ADDRESS=127.0.0.1:8000 cargo run -p examples --bin deployment`

#![allow(clippy::print_stdout, reason = "prints its URL")]

use std::env;
use std::io::Error;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use mcp::http::{Shutdown, termination};
use mcp::middleware::RequestLog;
use mcp::prelude::*;
use mcp::{Sessions, StateKeys, TokenSealer};
use tokio::net::TcpListener;

/// The settings, from environment variables.
struct Settings {
    /// `ADDRESS`: in a container `0.0.0.0:8000`.
    address: String,
    /// `PUBLIC_HOSTS`: the names by which clients or the proxy address the server, with commas.
    hosts: Vec<String>,
    /// `STATE_SECRET`: the same value on every node; at least 32 bytes.
    secret: Option<String>,
}

impl Settings {
    fn read() -> Self {
        let hosts = env::var("PUBLIC_HOSTS").unwrap_or_else(|_| "localhost,127.0.0.1".to_owned());
        Self {
            address: env::var("ADDRESS").unwrap_or_else(|_| "127.0.0.1:8000".to_owned()),
            hosts: hosts
                .split(',')
                .map(|host| host.trim().to_owned())
                .collect(),
            secret: env::var("STATE_SECRET").ok(),
        }
    }
}

struct Kiln;

/// A kiln.
#[mcp::server]
impl Kiln {
    /// Fire a pot.
    #[tool]
    async fn fire(
        &self,
        #[arg(range = 0..=60_000)] milliseconds: u64,
        progress: Progress,
    ) -> &'static str {
        progress.report(0.0, 1.0, "the kiln is closed").await;
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        "fired"
    }

    /// Reserve shelves of the kiln. The client keeps the ticket, which each node with the same secret accepts.
    #[tool]
    fn reserve(&self, shelves: u8, State(tickets): State<TokenSealer>) -> Result<String, Error> {
        tickets.seal("ticket", &[shelves], None)
    }

    /// Return the shelves of a ticket.
    #[tool]
    fn redeem(
        &self,
        ticket: String,
        State(tickets): State<TokenSealer>,
    ) -> Result<String, ToolError> {
        match tickets.open("ticket", &ticket, None).as_deref() {
            Some([shelves]) => Ok(format!("{shelves} shelves")),
            _ => Err(ToolError::new("the ticket is not one of this kiln")),
        }
    }
}

fn server(settings: &Settings) -> mcp::Result<Server> {
    let mut server = Server::of(Kiln).layer(RequestLog::new());
    if let Some(secret) = &settings.secret {
        server = server.request_state_keys(StateKeys::new(secret).map_err(Error::other)?);
    }
    let tickets = server.token_sealer();
    let server = server.state(tickets);
    server.check()?;
    Ok(server)
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let settings = Settings::read();
    let shutdown = Shutdown::new();
    let endpoint = StreamableHttp::new(server(&settings)?)
        .allowed_hosts(&settings.hosts)
        .body_limit(1 << 20)
        // Any node serves any request. Nodes with sessions share a `SessionStore` instead.
        .sessions(Sessions::stateless())
        .shutdown_with(shutdown.clone());
    let served = endpoint.clone();
    let app = Router::new()
        .route_service("/mcp", endpoint)
        .route("/health", get(async || "ok"))
        .route(
            "/metrics",
            get(async move || format!("mcp_sessions {}\n", served.metrics().sessions)),
        );

    let listener = TcpListener::bind(&settings.address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let stop = async move {
        termination().await;
        // Ends subscriptions; running calls go on.
        shutdown.drain();
    };
    axum::serve(listener, app)
        .with_graceful_shutdown(stop)
        .await?;
    println!("stopped");
    Ok(())
}
