//! Authentication: an HTTP layer verifies a token, tools read the caller's identity, and a layer
//! around one tool checks a permission.
//!
//! `cargo run -p examples --bin identity`

#![allow(clippy::print_stdout, reason = "example output")]

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::response::{IntoResponse, Response};
use axum::{Router, middleware};
use mcp::http::client::HttpChannel;
use mcp::middleware::{Exchange, Fault, Next, Reply, from_fn};
use mcp::prelude::*;
use serde_json::json;
use tokio::net::TcpListener;

/// A token's claims.
#[derive(Clone)]
struct Claims {
    name: &'static str,
    may_write: bool,
}

/// A placeholder: a real function verifies tokens.
fn verify(token: &str) -> Option<Claims> {
    let (name, may_write) = match token {
        "Bearer token-of-ada" => ("Ada", true),
        "Bearer token-of-bob" => ("Bob", false),
        _ => return None,
    };
    Some(Claims { name, may_write })
}

/// An HTTP layer that rejects requests without a valid token.
async fn authenticate(mut request: Request, next: middleware::Next) -> Response {
    let token = request.headers().get(AUTHORIZATION);
    match token.and_then(|token| verify(token.to_str().ok()?)) {
        Some(claims) => {
            request.extensions_mut().insert(claims);
            next.run(request).await
        }
        None => StatusCode::UNAUTHORIZED.into_response(),
    }
}

/// A layer around calls that requires write permission, independent of the transport.
async fn require_write(exchange: Exchange, next: Next) -> Result<Reply, Fault> {
    match exchange.extensions.get::<Claims>() {
        Some(claims) if claims.may_write => Ok(next.run(exchange).await),
        _ => Err(Fault::Refused("write permission is required".into())),
    }
}

struct Diary;

/// A shared diary.
#[mcp::server]
impl Diary {
    /// Read the diary.
    #[tool(read_only)]
    fn read(&self, Identity(user): Identity<Claims>) -> String {
        format!("{} reads: nothing happened", user.name)
    }

    /// Write to the diary.
    #[tool(layer = from_fn(require_write))]
    fn write(&self, text: String, Identity(user): Identity<Claims>) -> String {
        format!("{} wrote: {text}", user.name)
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let server = Server::of(Diary);
    server.check()?;
    let app = Router::new()
        .route_service("/mcp", StreamableHttp::new(server))
        .layer(middleware::from_fn(authenticate));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(async { axum::serve(listener, app).await });

    for token in ["token-of-ada", "token-of-bob", "unknown-token"] {
        println!("{token}:");
        if let Err(error) = call_tools(&url, token).await {
            println!("  {error}");
        }
    }
    Ok(())
}

async fn call_tools(url: &str, token: &str) -> mcp::Result<()> {
    let channel = HttpChannel::new(url)?.header(AUTHORIZATION, format!("Bearer {token}"))?;
    let client = Client::connect(channel).await?;
    println!("  {}", client.call("read", json!({})).await?.text());
    let written = client.call("write", json!({"text": "sunny"})).await?;
    println!("  {}", written.text());
    Ok(())
}
