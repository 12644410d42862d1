#!/usr/bin/env bash
# The cost of building the same echo server with the SDK and with rmcp: a clean release build of each below
# target/bench-build, its time, the number of its crates, and the size of the stripped program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
repository=$PWD
folder=$repository/target/bench-build

measure() {
    local name=$1 dependencies=$2
    rm -rf "${folder:?}/$name"
    mkdir -p "$folder/$name/src"
    cat >"$folder/$name/src/main.rs"
    cat >"$folder/$name/Cargo.toml" <<END
[package]
name = "echo"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
$dependencies

[profile.release]
strip = true
END
    cd "$folder/$name"
    cargo fetch --quiet
    echo "$name: $(cargo tree --edges normal,build --prefix none | sed 's/ (\*)//' | sort -u | wc -l) crates"
    time env CARGO_TARGET_DIR=target cargo build --release --quiet
    stat --format='%s bytes' target/release/echo
}

measure mcp "omnimcp = { path = \"$repository/mcp\", default-features = false, features = [\"server\", \"stdio\", \"http\", \"macros\"] }
tokio = { version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }" <<'END'
struct Echo;

#[mcp::server]
impl Echo {
    /// Say it again.
    #[tool]
    async fn echo(&self, message: String) -> String {
        message
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    match std::env::args().nth(1) {
        Some(address) => mcp::serve_http(Echo, address).await,
        None => mcp::serve_stdio(Echo).await,
    }
}
END

measure rmcp 'rmcp = { version = "3.9", features = ["server", "macros", "transport-io", "transport-streamable-http-server"] }
axum = { version = "0.8", default-features = false, features = ["http1", "tokio"] }
schemars = "1"
serde = { version = "1", features = ["derive"] }
tokio = { version = "1", features = ["macros", "net", "rt-multi-thread"] }' <<'END'
use std::sync::Arc;

use rmcp::handler::server::{router::tool::ToolRouter, wrapper::Parameters};
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{ServerHandler, ServiceExt, tool, tool_handler, tool_router};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Message {
    message: String,
}

#[derive(Clone)]
struct Echo {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Echo {
    #[tool(description = "Say it again")]
    async fn echo(&self, Parameters(Message { message }): Parameters<Message>) -> String {
        message
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let echo = || Echo { tool_router: Echo::tool_router() };
    match std::env::args().nth(1) {
        Some(address) => {
            let sessions = Arc::new(LocalSessionManager::default());
            let service = StreamableHttpService::new(move || Ok(echo()), sessions, Default::default());
            let app = axum::Router::new().nest_service("/mcp", service);
            axum::serve(tokio::net::TcpListener::bind(address).await?, app).await?;
        }
        None => {
            echo().serve(rmcp::transport::stdio()).await?.waiting().await?;
        }
    }
    Ok(())
}
END
