//! Several servers from an `mcp.json`: lists their tools, their state, and calls one tool. A server
//! starts when it is first needed, and restarts after it has exited.
//!
//! `cargo run -p examples --bin group [FILE [TOOL [ARGUMENTS]]]`. Without a file, the program writes a
//! temporary one with two servers that run this program itself.

#![allow(clippy::print_stdout, reason = "a command line program")]

use std::env;
use std::io::Error;
use std::path::PathBuf;

use mcp::Group;
use mcp::group::{GroupConfig, Health, Naming};
use mcp::prelude::*;
use serde_json::{Map, Value, json};

/// A server with tools about its own process.
struct Worker;

#[mcp::server]
impl Worker {
    /// Return an environment variable of this server.
    #[tool]
    fn variable(&self, name: String) -> String {
        env::var(&name).unwrap_or_else(|_| format!("{name} is not set"))
    }

    /// Return the working directory of this server.
    #[tool]
    fn directory(&self) -> Result<String, ToolError> {
        Ok(env::current_dir()?.display().to_string())
    }

    /// Abort this server.
    #[tool]
    fn crash(&self) -> String {
        std::process::abort()
    }
}

/// Writes a file with two servers that run this program, and a disabled one.
fn write_own_config() -> std::io::Result<PathBuf> {
    let program = env::current_exe()?;
    let worker = |location: &str| {
        json!({
            "command": &program,
            "args": ["serve"],
            "env": {"LOCATION": location, "HOME_OF": "${userHome}"},
        })
    };
    let servers = json!({
        "kitchen": worker("downstairs"),
        "attic": worker("upstairs"),
        "cellar": {"command": "nothing", "disabled": true},
    });
    let path = env::temp_dir().join(format!("mcp-{}.json", std::process::id()));
    std::fs::write(&path, json!({"mcpServers": servers}).to_string())?;
    Ok(path)
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let mut arguments = env::args().skip(1);
    let (path, is_own) = match arguments.next() {
        Some(argument) if argument == "serve" => return mcp::serve_stdio(Worker).await,
        Some(path) => (path.into(), false),
        None => (write_own_config()?, true),
    };
    // `Group::load(path)?` does the same with the defaults.
    let config = GroupConfig::read(&path);
    if is_own {
        std::fs::remove_file(&path)?;
    }
    let client = Client::builder().identity("group", "1.0.0");
    let group = Group::builder()
        .naming(Naming::PlainUnlessTaken)
        .config(config?, client)
        .build();

    let tools = group.list_tools().await;
    for tool in &tools.items {
        println!(
            "{}: {}",
            tool.name,
            tool.item.description.as_deref().unwrap_or_default()
        );
    }
    for (server, health) in group.health() {
        match health {
            Health::Running => println!("{server}: running"),
            Health::Unused(reason) | Health::Down(reason) => println!("{server}: {reason}"),
            _ => {}
        }
    }
    let tool = arguments.next();
    let tool = tool.or(is_own.then(|| "attic__variable".to_owned()));
    if let Some(tool) = tool {
        let input = arguments.next();
        let input = input.unwrap_or_else(|| json!({"name": "LOCATION"}).to_string());
        let input: Map<String, Value> = serde_json::from_str(&input).map_err(Error::other)?;
        println!("{tool}: {}", group.call(&tool, input).await?.text());
    }
    group.close().await;
    Ok(())
}
