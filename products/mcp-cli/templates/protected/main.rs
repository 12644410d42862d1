//! A server over HTTP that demands access tokens of an OAuth authorization server.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `ISSUER` | URL of the authorization server | a fixed token, for this machine only |
//! | `ADDRESS` | address to listen at | `127.0.0.1:8000` |
//! | `PUBLIC_URL` | URL by which clients reach this server | `http://ADDRESS/mcp` |

use std::env;
use std::io::{self, Write as _};

use mcp::auth::{ResourceServer, StaticTokens};
use mcp::http::{HealthChecks, Serve};
use mcp::prelude::*;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// The token that is accepted without an `ISSUER`.
const DEVELOPMENT_TOKEN: &str = "development";

/// A team's files.
struct Files;

#[mcp::server]
impl Files {
    /// Read a file.
    #[tool(read_only, scopes("files:read"))]
    fn read_file(&self, path: String) -> String {
        format!("contents of {path}")
    }

    /// Delete a file.
    #[tool(destructive, scopes("files:write"))]
    fn delete_file(&self, Identity(caller): Identity, path: String) -> String {
        format!("{} deleted {path}", caller.subject)
    }
}

/// Decides which tokens are accepted.
fn authorization(url: &str, issuer: Option<String>) -> ResourceServer {
    let auth = ResourceServer::new(url).scopes(["files:read", "files:write"]);
    match issuer {
        Some(issuer) => auth.issuer(issuer),
        None => auth.static_tokens(StaticTokens::new().token(
            DEVELOPMENT_TOKEN,
            "developer",
            ["files:read"],
        )),
    }
}

fn main() -> mcp::Result<()> {
    let runtime = Runtime::new()?;
    let served = runtime.block_on(serve());
    // `#[tokio::main]` would wait for a function that still blocks a thread, after the shutdown.
    runtime.shutdown_background();
    served
}

async fn serve() -> mcp::Result<()> {
    let address = env::var("ADDRESS").unwrap_or_else(|_| "127.0.0.1:8000".to_owned());
    let listener = TcpListener::bind(address).await?;
    let local_url = format!("http://{}/mcp", listener.local_addr()?);
    let url = env::var("PUBLIC_URL").unwrap_or(local_url);
    let issuer = env::var("ISSUER").ok();
    if issuer.is_none() {
        // `mcp dev` finds this line, and the server's URL.
        writeln!(
            io::stderr(),
            "set ISSUER for a real login; until then: `Authorization: Bearer {DEVELOPMENT_TOKEN}`"
        )?;
    }
    Serve::new(Server::of(Files))
        .authorize(authorization(&url, issuer))
        .health_checks(HealthChecks::new())
        .run(listener)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use mcp::http::Serve;
    use mcp::prelude::*;
    use serde_json::json;
    use tokio::net::TcpListener;

    use super::{DEVELOPMENT_TOKEN, Files, authorization};

    async fn start() -> mcp::Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        let auth = authorization(&url, None);
        tokio::spawn(Serve::new(Server::of(Files)).authorize(auth).run(listener));
        Ok(url)
    }

    #[tokio::test]
    async fn token_decides_which_tools_can_be_called() -> mcp::Result<()> {
        let url = start().await?;
        let builder = Client::builder().bearer_token(DEVELOPMENT_TOKEN);
        let client = builder.connect(url).await?;
        let file = json!({"path": "notes.md"});
        let read = client.call("read_file", &file).await?;
        assert_eq!(read.text(), "contents of notes.md");
        let refused = client.call("delete_file", &file).await;
        assert!(refused.is_err_and(|error| error.is_auth()));
        Ok(())
    }

    #[tokio::test]
    async fn request_without_token_is_refused() -> mcp::Result<()> {
        let refused = Client::connect(start().await?).await;
        assert!(refused.is_err_and(|error| error.is_auth()));
        Ok(())
    }
}
