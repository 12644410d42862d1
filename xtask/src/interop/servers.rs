//! Servers from npm and PyPI that people use, over pipes: our client lists their tools and calls one
//! that needs no account and no network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cases::Case;
use super::peers::{InstalledProgram, Peers};
use super::pipes::{self, CLIENT, COMMAND};
use crate::Result;
use crate::process;
use crate::workspace::Workspace;

/// A server, its arguments, a tool with arguments, and a part of the output of our client.
struct RealServer {
    name: &'static str,
    program: InstalledProgram,
    arguments: Vec<PathBuf>,
    call: Vec<String>,
    expected: &'static str,
}

impl RealServer {
    fn new(name: &'static str, program: InstalledProgram, expected: &'static str) -> Self {
        Self {
            name,
            program,
            arguments: Vec::new(),
            call: Vec::new(),
            expected,
        }
    }

    fn arguments(mut self, arguments: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    fn call(mut self, tool: &str, arguments: impl Into<String>) -> Self {
        self.call = vec![tool.to_owned(), arguments.into()];
        self
    }
}

/// Returns the cases.
pub(super) fn cases(workspace: &Workspace, peers: &Peers) -> Result<Vec<Case>> {
    let client = workspace.binary("debug", CLIENT);
    let mut list = peers_of_npm(peers)?;
    list.extend(peers_of_python(peers)?);
    list.extend(large_peers(peers));
    let mcp = workspace.binary("debug", COMMAND);
    let mut cases: Vec<Case> = list
        .iter()
        .filter_map(|peer| by_command(&mcp, peer))
        .collect();
    let case = |peer: RealServer| {
        let start = peer.program.map(|program| {
            let mut command = Command::new(&client);
            command.args(program.words()).args(&peer.arguments);
            if !peer.call.is_empty() {
                command.arg("--").args(&peer.call);
            }
            command
        });
        pipes::case(format!("our client -> {}", peer.name), start, peer.expected)
    };
    cases.extend(list.into_iter().map(case));
    Ok(cases)
}

/// Returns the case of `mcp call` with the server, if a tool is called.
fn by_command(mcp: &Path, peer: &RealServer) -> Option<Case> {
    let [tool, arguments] = peer.call.as_slice() else {
        return None;
    };
    let start = peer.program.as_ref().map(|program| {
        let mut command = Command::new(mcp);
        command.args(["call", tool, "--args-json", arguments, "--"]);
        command.args(program.words()).args(&peer.arguments);
        command
    });
    let start = start.map_err(Clone::clone);
    let name = format!("mcp call -> {}", peer.name);
    // Our client prints the tools first, the command the result alone.
    Some(pipes::case(name, start, peer.expected.trim_start()))
}

fn peers_of_npm(peers: &Peers) -> Result<Vec<RealServer>> {
    let files = peers.folder("files");
    fs::create_dir_all(&files)?;
    let program =
        |name: &str| peers.package(&format!("@modelcontextprotocol/{name}"), "dist/index.js");
    let thought =
        r#"{"thought": "so", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false}"#;
    Ok(vec![
        RealServer::new(
            "server-filesystem (npm)",
            program("server-filesystem"),
            "Allowed directories",
        )
        .arguments([&files])
        .call("list_allowed_directories", "{}"),
        RealServer::new(
            "server-memory (npm)",
            program("server-memory"),
            "\"entities\"",
        )
        .call("read_graph", "{}"),
        RealServer::new(
            "server-sequential-thinking (npm)",
            program("server-sequential-thinking"),
            "\"thoughtNumber\": 1",
        )
        .call("sequentialthinking", thought),
    ])
}

fn peers_of_python(peers: &Peers) -> Result<Vec<RealServer>> {
    let repository = peers.folder("repository");
    if !repository.join(".git").is_dir() {
        fs::create_dir_all(&repository)?;
        process::capture(
            Command::new("git")
                .arg("-C")
                .arg(&repository)
                .args(["init", "--quiet"]),
        )?;
    }
    let path = format!("{{\"repo_path\": {:?}}}", repository.display().to_string());
    Ok(vec![
        RealServer::new(
            "mcp-server-time (PyPI)",
            peers.python_tool("mcp-server-time"),
            "\"timezone\": \"UTC\"",
        )
        .call("get_current_time", r#"{"timezone": "UTC"}"#),
        RealServer::new(
            "mcp-server-fetch (PyPI)",
            peers.python_tool("mcp-server-fetch"),
            "fetch: ",
        ),
        RealServer::new(
            "mcp-server-git (PyPI)",
            peers.python_tool("mcp-server-git"),
            "Repository status",
        )
        .call("git_status", path),
        RealServer::new(
            "mcp-server-sqlite (PyPI)",
            peers.python_tool("mcp-server-sqlite"),
            "\n[]\n",
        )
        .arguments([
            PathBuf::from("--db-path"),
            peers.folder("files").join("test.db"),
        ])
        .call("list_tables", "{}"),
        RealServer::new(
            "mcp-server-calculator (PyPI)",
            peers.python_tool("mcp-server-calculator"),
            "\n42\n",
        )
        .call("calculate", r#"{"expression": "6*7"}"#),
    ])
}

/// Servers that need a network or a browser for their tools: only their lists are read.
fn large_peers(peers: &Peers) -> Vec<RealServer> {
    vec![
        RealServer::new(
            "playwright (npm)",
            peers.package("@playwright/mcp", "cli.js"),
            "browser_close: ",
        ),
        RealServer::new(
            "context7 (npm)",
            peers.package("@upstash/context7-mcp", "dist/index.js"),
            "resolve-library-id: ",
        ),
        RealServer::new(
            "tavily (npm)",
            peers.package("tavily-mcp", "build/index.js"),
            "tavily_search: ",
        ),
    ]
}
