//! Cases over pipes: one tool call for each pair. The features are tested over HTTP; over pipes only
//! the start of the connection differs.

use std::process::Command;

use super::cases::Case;
use super::http::SERVER;
use super::peers::{InstalledProgram, Peers};
use crate::workspace::Workspace;

/// Our client: it starts a server and calls a tool.
pub(super) const CLIENT: &str = "stdio_client";
/// The command `mcp`.
pub(super) const COMMAND: &str = "mcp";
/// The newest FastMCP.
const FASTMCP: &str = "Python fastmcp";
/// The result of the tool that clients call.
const SIMPLE_TEXT: &str = "tools: This is a simple text response for testing.";

/// Returns all cases.
pub(super) fn cases(workspace: &Workspace, peers: &Peers) -> Vec<Case> {
    let server = workspace.binary("debug", SERVER);
    let client = workspace.binary("debug", CLIENT);
    let mut cases: Vec<Case> = clients(peers)
        .into_iter()
        .map(|(name, program, mode)| {
            let start = program.map(|program| {
                let mut command = program.command();
                command.args(mode).arg(&server).arg("--stdio");
                command
            });
            case(format!("{name} -> our server"), start, SIMPLE_TEXT)
        })
        .collect();
    cases.extend(servers(peers).into_iter().map(|(name, program)| {
        let start = program.map(|program| {
            let mut command = Command::new(&client);
            command.args(program.words());
            command.args(["--", "add", r#"{"a": 1, "b": 2}"#]);
            command
        });
        case(format!("our client -> {name}"), start, "\n3\n")
    }));
    cases
}

/// Returns the cases of peers that [`http::newest_cases`](super::http::newest_cases) does not have.
pub(super) fn newest_cases(workspace: &Workspace, peers: &Peers) -> Vec<Case> {
    let mut cases = cases(workspace, peers);
    cases.retain(|case| case.name.contains(FASTMCP));
    cases
}

/// Returns the cases of clients whose server is `mcp proxy` in front of our server at `url`.
pub(super) fn proxied(workspace: &Workspace, peers: &Peers, url: &str) -> Vec<Case> {
    let proxy = workspace.binary("debug", COMMAND);
    let case = |(name, program, mode): (_, InstalledProgram, _)| {
        let start = program.map(|program| {
            let mut command = program.command();
            command.args(mode).arg(&proxy).args(["proxy", url]);
            command
        });
        case(
            format!("{name} -> mcp proxy -> our server"),
            start,
            SIMPLE_TEXT,
        )
    };
    clients(peers).into_iter().map(case).collect()
}

/// A case that passes if the client prints `expected`.
pub(super) fn case(
    pair: String,
    start: Result<Command, String>,
    expected: impl Into<String>,
) -> Case {
    let expected = expected.into();
    let check = move |output: &str| {
        (!output.contains(&expected)).then(|| format!("the output does not contain {expected:?}"))
    };
    Case {
        name: format!("{pair}, pipe"),
        start: start.into(),
        check: Box::new(check),
    }
}

/// Servers of an SDK with the tool `add`. Further ones are in [`servers`](super::servers).
fn servers(peers: &Peers) -> [(&'static str, InstalledProgram); 4] {
    [
        ("Python server 1", peers.python("python-1", "server_v1.py")),
        (FASTMCP, peers.python("python-2", "server_fastmcp.py")),
        (
            "FastMCP 3",
            peers.python("python-fastmcp-3", "server_fastmcp.py"),
        ),
        // It ends at the request that probes for the modern era, and is started again.
        (
            "Python server 1.2",
            peers.python("python-oldest", "server_v1.py"),
        ),
    ]
}

/// Clients with their mode of version negotiation, if they have several.
fn clients(peers: &Peers) -> [(&'static str, InstalledProgram, Option<&'static str>); 7] {
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
        (
            "Python client 2",
            peers.python("python-2", "client.py"),
            None,
        ),
        (
            "Python client 1",
            peers.python("python-1", "client_v1.py"),
            None,
        ),
        (
            "TypeScript client 1.0",
            peers.node("client_oldest.mjs"),
            None,
        ),
        (
            "Python client 1.2",
            peers.python("python-oldest", "client_v1.py"),
            None,
        ),
    ]
}
