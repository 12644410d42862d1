//! `cargo xtask bench --build`: the cost of building the same echo server with the SDK and with rmcp:
//! time, crates, size.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::json;

use super::measure::Clock;
use crate::Result;
use crate::flags::Flags;
use crate::process;
use crate::workspace::Workspace;

/// A package with one server, outside the workspace.
struct Project {
    label: &'static str,
    dependencies: String,
    main: &'static str,
}

const OURS: &str = r#"struct Echo;

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
"#;

const RMCP: &str = r#"use std::sync::Arc;

use rmcp::handler::server::{router::tool::ToolRouter, wrapper::Parameters};
use rmcp::model::{ServerCapabilities, ServerConfig};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::{tool, tool_handler, tool_router, ServerHandler, ServiceExt};

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
"#;

/// Runs the command: one clean build of each server, and a table.
pub(crate) fn run(workspace: &Workspace, mut flags: Flags) -> Result<bool> {
    let without_rmcp = flags.switch("--without-rmcp");
    flags.finish()?;
    let folder = workspace.target().join("bench-build");
    let ours = workspace.root().join("mcp");
    let projects = [
        Project {
            label: "mcp",
            dependencies: format!(
                "omnimcp = {{ path = {:?}, default-features = false, features = [\"server\", \"stdio\", \"http\", \"macros\"] }}\n\
                 tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}",
                ours.display().to_string()
            ),
            main: OURS,
        },
        Project {
            label: "rmcp",
            dependencies: "rmcp = { version = \"3.9\", features = [\"server\", \"macros\", \"transport-io\", \"transport-streamable-http-server\"] }\n\
                 axum = { version = \"0.8\", default-features = false, features = [\"http1\", \"tokio\"] }\n\
                 schemars = \"1\"\nserde = { version = \"1\", features = [\"derive\"] }\n\
                 tokio = { version = \"1\", features = [\"macros\", \"net\", \"rt-multi-thread\"] }"
                .to_owned(),
            main: RMCP,
        },
    ];
    let clock = Clock::find();
    let mut rows = Vec::new();
    println!("server    seconds  CPU seconds  crates      bytes (stripped)");
    for project in projects
        .iter()
        .filter(|it| !(without_rmcp && it.label == "rmcp"))
    {
        let root = folder.join(project.label);
        project.write(&root)?;
        let crates = count(&root)?;
        let (start, before) = (Instant::now(), clock.of_children());
        process::run(cargo(&root).args(["build", "--release", "--quiet"]))?;
        let seconds = start.elapsed().as_secs_f64();
        // Processor time is comparable even if the machine is busy.
        let cpu = clock.of_children().zip(before);
        let cpu = cpu.map(|(after, before)| after.saturating_sub(before).as_secs_f64());
        let size = fs::metadata(root.join("target/release/echo"))?.len();
        let shown = cpu.map_or("-".to_owned(), |cpu| format!("{cpu:.1}"));
        println!(
            "{:8} {seconds:8.1} {shown:>12} {crates:7} {size:10}",
            project.label
        );
        rows.push(json!({
            "server": project.label,
            "seconds": seconds,
            "cpuSeconds": cpu,
            "crates": crates,
            "bytes": size,
        }));
    }
    let file = folder.join("build.json");
    fs::write(&file, format!("{:#}\n", json!(rows)))?;
    println!("written to {}", file.display());
    Ok(true)
}

impl Project {
    /// Deletes the package and its build output, and writes it again.
    fn write(&self, root: &Path) -> Result<()> {
        if root.exists() {
            fs::remove_dir_all(root)?;
        }
        fs::create_dir_all(root.join("src"))?;
        fs::write(root.join("src/main.rs"), self.main)?;
        let manifest = format!(
            "[package]\nname = \"echo\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
             [workspace]\n\n[dependencies]\n{}\n\n[profile.release]\nstrip = true\n",
            self.dependencies
        );
        fs::write(root.join("Cargo.toml"), manifest)?;
        process::run(cargo(root).args(["fetch", "--quiet"]))
    }
}

/// Returns the number of crates that are built, without the server itself.
fn count(root: &Path) -> Result<usize> {
    let tree = process::capture(cargo(root).args([
        "tree",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--no-dedupe",
    ]))?;
    let mut lines: Vec<&str> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    lines.sort_unstable();
    lines.dedup();
    Ok(lines
        .iter()
        .filter(|line| !line.is_empty())
        .count()
        .saturating_sub(1))
}

fn cargo(root: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root).env_remove("CARGO_TARGET_DIR");
    cargo
}
