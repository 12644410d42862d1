//! Over pipes: one call each way, since what differs from HTTP is how the two find each other.

use std::process::Command;

use super::http::SERVER;
use super::peers::{Peers, Program};
use super::{Expected, Row};
use crate::workspace::Workspace;

/// Our client: calls a tool of the server that it starts.
pub(super) const CLIENT: &str = "stdio_client";

/// All rows.
pub(super) fn rows(workspace: &Workspace, peers: &Peers) -> Vec<Row> {
    let server = workspace.binary("debug", SERVER);
    let client = workspace.binary("debug", CLIENT);
    let mut rows: Vec<Row> = clients(peers)
        .into_iter()
        .map(|(name, program, mode)| {
            let start = program.map(|program| {
                let mut command = program.command();
                command.args(mode).arg(&server).arg("--stdio");
                command
            });
            let expected = "tools: This is a simple text response for testing.";
            row(format!("{name} -> our server"), start, expected)
        })
        .collect();
    rows.extend(servers(peers).map(|(name, program, tool, expected)| {
        let start = program.map(|program| {
            let mut command = Command::new(&client);
            command.args(program.words()).arg("--").args(tool);
            command
        });
        row(format!("our client -> {name}"), start, expected)
    }));
    rows
}

fn row(pair: String, start: Result<Command, String>, expected: &'static str) -> Row {
    Row {
        name: format!("{pair}, pipe"),
        start: start.into(),
        expected: Expected::Text(expected),
    }
}

/// Servers, with a tool and its arguments, and what our client prints of its answer.
fn servers(
    peers: &Peers,
) -> impl Iterator<Item = (&'static str, Program, [&'static str; 2], &'static str)> {
    let add = ["add", r#"{"a": 1, "b": 2}"#];
    let echo = ["echo", r#"{"message": "hi"}"#];
    [
        (
            "server-everything (npm)",
            peers.everything(),
            echo,
            "Echo: hi",
        ),
        ("Python server 2", peers.python("server.py"), add, "\n3\n"),
        (
            "Python server 1",
            peers.python_1("server_v1.py"),
            add,
            "\n3\n",
        ),
        (
            "Python fastmcp",
            peers.python("server_fastmcp.py"),
            add,
            "\n3\n",
        ),
    ]
    .into_iter()
}

/// Clients, with how they settle the revision, where that can be said.
fn clients(peers: &Peers) -> [(&'static str, Program, Option<&'static str>); 5] {
    let typescript = peers.node("client.mjs");
    [
        (
            "TypeScript client 2, either era",
            typescript.clone(),
            Some("auto"),
        ),
        (
            "TypeScript client 2, legacy era",
            typescript,
            Some("legacy"),
        ),
        ("TypeScript client 1", peers.node("client_v1.mjs"), None),
        ("Python client 2", peers.python("client.py"), None),
        ("Python client 1", peers.python_1("client_v1.py"), None),
    ]
}
