//! A protected server: tools need the scopes of an access token.
//!
//! `cargo run -p examples --bin protected_server ISSUER` serves http://127.0.0.1:8000/mcp for tokens of an
//! authorization server that is running, such as `oidc-provider` or Keycloak. Without an issuer it accepts
//! two fixed tokens, calls itself with them, and ends.

#![allow(clippy::print_stdout, reason = "example output")]

use mcp::ScopedCall;
use mcp::auth::{ResourceServer, StaticTokens};
use mcp::http::Serve;
use mcp::prelude::*;
use serde_json::json;
use tokio::net::TcpListener;

struct Files;

/// Files of a team.
#[mcp::server]
impl Files {
    /// Returns the caller.
    #[tool(read_only)]
    fn whoami(&self, Identity(who): Identity) -> String {
        format!("{} of {}", who.subject, who.issuer)
    }

    /// Read a file.
    #[tool(read_only, scopes("files:read"))]
    fn read(&self, path: String) -> String {
        format!("contents of {path}")
    }

    /// Delete a file.
    #[tool(scopes("files:read", "files:write"))]
    fn delete(&self, path: String) -> String {
        format!("deleted {path}")
    }
}

/// Recursive removal needs a scope of its own.
fn scopes_to_purge(call: &ScopedCall<'_>) -> Option<&'static str> {
    let is_recursive = call.argument("recursive").unwrap_or(true);
    is_recursive.then_some("files:admin")
}

fn server() -> Server {
    let purge = Tool::new("purge")
        .description("Empties the bin")
        .handler(|RawArgs(_): RawArgs| "purged")
        .scopes(["files:write"])
        .scopes_for(scopes_to_purge);
    Server::of(Files).tool(purge)
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let scopes = ["files:read", "files:write"];
    if let Some(issuer) = std::env::args().nth(1) {
        let auth = ResourceServer::new("http://127.0.0.1:8000/mcp")
            .issuer(issuer)
            .scopes(scopes);
        let serve = Serve::new(server()).authorize(auth);
        return Ok(serve.run("127.0.0.1:8000").await?);
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let tokens = StaticTokens::new()
        .token("token-of-ada", "ada", scopes)
        .token("token-of-bob", "bob", ["files:read"]);
    let auth = ResourceServer::new(&url).static_tokens(tokens);
    tokio::spawn(Serve::new(server()).authorize(auth).run(listener));

    for token in ["token-of-ada", "token-of-bob", "unknown-token"] {
        println!("{token}:");
        if let Err(error) = call_tools(&url, token).await {
            println!("  {error}");
        }
    }
    Ok(())
}

async fn call_tools(url: &str, token: &str) -> mcp::Result<()> {
    let client = Client::builder().bearer_token(token).connect(url).await?;
    println!("  {}", client.call("whoami", ()).await?.text());
    let file = json!({"path": "notes.md"});
    println!("  {}", client.call("read", &file).await?.text());
    println!("  {}", client.call("delete", &file).await?.text());
    Ok(())
}
