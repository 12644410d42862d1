//! Who calls: a layer of HTTP verifies a token, tools are told whose it was, and a layer of calls
//! asks for more of those that change something.
//!
//! `cargo run -p examples --bin identity`

#![allow(clippy::print_stdout, reason = "it shows what happens")]

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

/// What a token says.
#[derive(Clone)]
struct Claims {
    name: &'static str,
    may_write: bool,
}

/// Stands for what verifies tokens in earnest.
fn verify(token: &str) -> Option<Claims> {
    let (name, may_write) = match token {
        "Bearer token-of-ada" => ("Ada", true),
        "Bearer token-of-bob" => ("Bob", false),
        _ => return None,
    };
    Some(Claims { name, may_write })
}

/// A layer of HTTP: nobody comes in without a token.
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

/// A layer of calls: some may read alone. It would work in the same way behind another transport.
async fn may_write(exchange: Exchange, next: Next) -> Result<Reply, Fault> {
    match exchange.extensions.get::<Claims>() {
        Some(claims) if claims.may_write => Ok(next.run(exchange).await),
        _ => Err(Fault::Refused("you may read, and not write".into())),
    }
}

struct Diary;

/// One diary for everybody.
#[mcp::server]
impl Diary {
    /// Read the diary.
    #[tool(read_only)]
    fn read(&self, Identity(who): Identity<Claims>) -> String {
        format!("Dear {}, nothing happened.", who.name)
    }

    /// Write into the diary.
    #[tool(layer = from_fn(may_write))]
    fn write(&self, text: String, Identity(who): Identity<Claims>) -> String {
        format!("{} wrote: {text}", who.name)
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

    for token in ["token-of-ada", "token-of-bob", "token-of-nobody"] {
        println!("{token}:");
        if let Err(error) = visit(&url, token).await {
            println!("  {error}");
        }
    }
    Ok(())
}

async fn visit(url: &str, token: &str) -> mcp::Result<()> {
    let channel = HttpChannel::new(url)?.header(AUTHORIZATION, format!("Bearer {token}"))?;
    let client = Client::connect(channel).await?;
    println!("  {}", client.call("read", json!({})).await?.text());
    let written = client.call("write", json!({"text": "sunny"})).await?;
    println!("  {}", written.text());
    Ok(())
}
