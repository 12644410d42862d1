//! A server over HTTP, inside an axum application.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `ADDRESS` | address to listen at | `127.0.0.1:8000` |
//! | `PUBLIC_HOSTS` | host names of the server, separated by commas | only this machine |
//! | `STATE_SECRET` | at least 32 bytes, the same on all nodes | random |

use std::env;
use std::io::{self, Write as _};

use axum::Router;
use axum::routing::get;
use mcp::http::{HealthChecks, Shutdown, termination};
use mcp::prelude::*;
use mcp::{Sessions, StateKeys};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// Converts lengths.
struct Lengths;

#[mcp::server]
impl Lengths {
    /// Convert a length from inches to centimeters.
    #[tool(read_only)]
    fn inches_to_centimeters(&self, inches: f64) -> Result<f64, ToolError> {
        if inches < 0.0 {
            return Err(ToolError::new("a length is not negative"));
        }
        Ok(inches * 2.54)
    }
}

/// Creates the server. All nodes accept each other's request states if they have the same secret.
fn server() -> mcp::Result<Server> {
    let server = Server::of(Lengths);
    Ok(match env::var("STATE_SECRET") {
        Ok(secret) => server.request_state_keys(StateKeys::new(secret).map_err(io::Error::other)?),
        Err(_) => server,
    })
}

/// Creates the application: the endpoint, health checks, and pages of your own.
fn application(server: Server, shutdown: &Shutdown) -> Router {
    let mut endpoint = StreamableHttp::new(server)
        // Any node serves any request.
        .sessions(Sessions::stateless())
        .shutdown_with(shutdown.clone());
    if let Ok(hosts) = env::var("PUBLIC_HOSTS") {
        endpoint = endpoint.allowed_hosts(hosts.split(',').map(str::trim));
    }
    let health = HealthChecks::new();
    Router::new()
        .route_service("/mcp", endpoint)
        .route_service("/health", health.clone())
        .route_service("/ready", health)
        .route("/", get(async || "The endpoint is /mcp."))
}

fn main() -> mcp::Result<()> {
    let runtime = Runtime::new()?;
    let served = runtime.block_on(serve());
    // `#[tokio::main]` would wait for a function that still blocks a thread, after the shutdown.
    runtime.shutdown_background();
    served
}

async fn serve() -> mcp::Result<()> {
    let shutdown = Shutdown::new();
    let app = application(server()?, &shutdown);
    let address = env::var("ADDRESS").unwrap_or_else(|_| "127.0.0.1:8000".to_owned());
    let listener = TcpListener::bind(address).await?;
    writeln!(io::stderr(), "http://{}/mcp", listener.local_addr()?)?;
    let stop = async move {
        termination().await;
        // Ends subscriptions. Running calls finish.
        shutdown.drain();
    };
    axum::serve(listener, app)
        .with_graceful_shutdown(stop)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use mcp::http::Shutdown;
    use mcp::prelude::*;
    use serde_json::json;
    use tokio::net::TcpListener;

    use super::{application, server};

    #[tokio::test]
    async fn tool_converts_over_http() -> mcp::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        let app = application(server()?, &Shutdown::new());
        tokio::spawn(async { axum::serve(listener, app).await });

        let client = Client::connect(url).await?;
        let length = client
            .call("inches_to_centimeters", json!({"inches": 10}))
            .await?;
        assert_eq!(length.text(), "25.4");
        Ok(())
    }
}
