//! An MCP endpoint in an axum application, with shared state and a tool that reads a request header.
//!
//! Run `cargo run -p examples --bin axum_server [ADDRESS]`, then connect a client to the printed URL.

#![allow(clippy::print_stdout, reason = "prints its URL")]

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::routing::get;
use mcp::prelude::*;

/// State that the web application and the tools share.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicU64>);

/// The header `x-tenant`.
struct Tenant(String);

impl FromHeader for Tenant {
    const NAME: &'static str = "x-tenant";
    type Error = Infallible;

    fn from_header(value: &str) -> Result<Self, Infallible> {
        Ok(Self(value.to_owned()))
    }
}

struct Greeter;

/// Greets users and counts the greetings.
#[mcp::server]
impl Greeter {
    /// Greet a user.
    #[tool]
    fn greet(
        &self,
        name: String,
        tenant: Option<Header<Tenant>>,
        State(counter): State<Counter>,
    ) -> String {
        let count = counter.0.fetch_add(1, Ordering::Relaxed) + 1;
        let tenant = tenant.map_or("default".to_owned(), |Header(tenant)| tenant.0);
        format!("Hello {name}, greeting {count}, tenant {tenant}")
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let counter = Counter::default();
    let server = Server::of(Greeter).state(counter.clone());
    server.check()?;

    let app = Router::new()
        .route(
            "/greetings",
            get(async move || counter.0.load(Ordering::Relaxed).to_string()),
        )
        .route_service("/mcp", StreamableHttp::new(server));

    let address = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:8000".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, app)
        .with_graceful_shutdown(mcp::http::termination())
        .await?;
    Ok(())
}
