//! Several tenants behind one endpoint: a layer takes the tenant from a verified token, and each
//! tenant has a server of its own, with its own data and tools.
//!
//! `cargo run -p examples --bin tenants`

#![allow(clippy::print_stdout, reason = "example output")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::response::{IntoResponse, Response};
use axum::{Router, middleware};
use mcp::Principal;
use mcp::prelude::*;
use serde_json::json;
use tokio::net::TcpListener;

/// A tenant's name, from the request's token.
#[derive(Clone)]
struct Tenant(&'static str);

/// A placeholder: a real function verifies tokens. Returns the tenant and the user.
fn verify(token: &str) -> Option<(Tenant, Principal)> {
    let (tenant, user) = match token {
        "Bearer token-of-ada" => ("acme", "ada"),
        "Bearer token-of-bob" => ("globex", "bob"),
        _ => return None,
    };
    Some((
        Tenant(tenant),
        Principal::new("https://login.example.com", user),
    ))
}

/// An HTTP layer that rejects requests without a valid token. The `Principal` binds sessions and
/// request states to the user.
async fn authenticate(mut request: Request, next: middleware::Next) -> Response {
    let token = request.headers().get(AUTHORIZATION);
    match token.and_then(|token| verify(token.to_str().ok()?)) {
        Some((tenant, user)) => {
            request.extensions_mut().insert(tenant);
            request.extensions_mut().insert(user);
            next.run(request).await
        }
        None => StatusCode::UNAUTHORIZED.into_response(),
    }
}

/// The notes of one tenant.
#[derive(Default)]
struct Notes {
    notes: Mutex<Vec<String>>,
}

/// Shared notes of a company.
#[mcp::server]
impl Notes {
    /// Add a note.
    #[tool]
    fn add(&self, text: String, Identity(user): Identity) -> Result<String, ToolError> {
        let mut notes = self.notes.lock().map_err(|_| "the notes are locked")?;
        notes.push(format!("{}: {text}", user.subject));
        Ok(format!("{} notes", notes.len()))
    }

    /// Read all notes.
    #[tool(read_only)]
    fn read(&self) -> Result<String, ToolError> {
        let notes = self.notes.lock().map_err(|_| "the notes are locked")?;
        Ok(notes.join(", "))
    }
}

/// All tenants' servers. One of them has paid for a further tool.
fn servers() -> mcp::Result<HashMap<&'static str, Arc<Server>>> {
    let export = Tool::new("export")
        .description("Export all notes")
        .read_only();
    let export = export.handler(|| "exported");
    let tenants = [
        ("acme", Server::of(Notes::default()).tool(export)),
        ("globex", Server::of(Notes::default())),
    ];
    let mut servers = HashMap::new();
    for (tenant, server) in tenants {
        server.check()?;
        servers.insert(tenant, Arc::new(server));
    }
    Ok(servers)
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let servers = servers()?;
    // Requests without a tenant do not pass the layer.
    let empty = Arc::new(Server::new("notes", "1.0.0"));
    let endpoint = StreamableHttp::per_request(move |parts| {
        let tenant = parts.extensions.get::<Tenant>();
        let server = tenant.and_then(|Tenant(name)| servers.get(name));
        server.unwrap_or(&empty).clone()
    });
    let app = Router::new()
        .route_service("/mcp", endpoint)
        .layer(middleware::from_fn(authenticate));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(async { axum::serve(listener, app).await });

    for (token, note) in [("token-of-ada", "buy iron"), ("token-of-bob", "sell iron")] {
        let client = Client::builder().bearer_token(token).connect(&url).await?;
        client.call("add", json!({ "text": note })).await?;
        let tools = client.list_tools().await?;
        let tools: Vec<_> = tools.into_iter().map(|tool| tool.name).collect();
        let notes = client.call("read", ()).await?.text();
        println!("{token}: tools {}; notes {notes}", tools.join(" "));
        client.close().await?;
    }
    Ok(())
}
