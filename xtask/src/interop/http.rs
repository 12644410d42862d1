//! Over HTTP: every feature, at every revision that the other side can be brought to.
//!
//! All servers have the fixtures of the everything server, and all clients do the same with them:
//! each prints `revision R`, then `ok FEATURE` or `no FEATURE: what was wrong`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::peers::{Peers, Program};
use super::{Expected, Row, Start};
use crate::Result;
use crate::process::{self, Server};
use crate::workspace::Workspace;

/// Our server, and our client.
pub(super) const SERVER: &str = "everything-server";
pub(super) const CLIENT: &str = "interop-client";

const START_LIMIT: Duration = Duration::from_secs(60);

/// What a row exercises: all of it, or it has not passed.
const FEATURES: [&str; 8] = [
    "tools",
    "resources",
    "prompts",
    "progress",
    "elicitation",
    "sampling",
    "cancellation",
    "list_changed",
];

const SESSIONS: [&str; 2] = ["2025-06-18", "2025-11-25"];
const ALL: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

/// A program of somebody else, and the revisions that it speaks.
struct Peer {
    name: &'static str,
    program: Program,
    revisions: &'static [&'static str],
}

impl Peer {
    fn new(name: &'static str, program: Program, revisions: &'static [&'static str]) -> Self {
        Self {
            name,
            program,
            revisions,
        }
    }
}

fn servers(peers: &Peers) -> [Peer; 5] {
    [
        Peer::new("TypeScript server 2", peers.node("server_http.mjs"), &ALL),
        Peer::new(
            "TypeScript server 1",
            peers.node("server_http_v1.mjs"),
            &SESSIONS,
        ),
        Peer::new("Python server 2", peers.python("server_http.py"), &ALL),
        Peer::new(
            "Python server 1",
            peers.python_1("server_http_v1.py"),
            &SESSIONS,
        ),
        Peer::new("rmcp server", peers.rmcp("server"), &ALL),
    ]
}

fn clients(peers: &Peers) -> [Peer; 5] {
    [
        Peer::new("TypeScript client 2", peers.node("client_http.mjs"), &ALL),
        // It asks for the newest revision that it knows, and for no other.
        Peer::new(
            "TypeScript client 1",
            peers.node("client_http_v1.mjs"),
            &SESSIONS[1..],
        ),
        Peer::new("Python client 2", peers.python("client_http.py"), &ALL),
        Peer::new(
            "Python client 1",
            peers.python_1("client_http_v1.py"),
            &SESSIONS,
        ),
        Peer::new("rmcp client", peers.rmcp("client"), &ALL),
    ]
}

/// All rows, and the servers that have to run as long as they do.
pub(super) fn rows(
    workspace: &Workspace,
    peers: &Peers,
    out: &Path,
) -> Result<(Vec<Server>, Vec<Row>)> {
    let client = workspace.binary("debug", CLIENT);
    let server = workspace.binary("debug", SERVER);
    let mut running = Vec::new();
    let mut rows = Vec::new();
    for Peer {
        name,
        program,
        revisions,
    } in clients(peers)
    {
        for revision in revisions {
            let name = format!("{name} -> our server");
            let start = match &program {
                Ok(program) => {
                    // One for each row: a change is told to everybody.
                    let label = format!("{name} {revision} server");
                    let ours = start(Command::new(&server).env("PORT", "0"), &label, out)?;
                    let mut command = program.command();
                    command.args([ours.url(), revision]);
                    running.push(ours);
                    Start::Run(command)
                }
                Err(reason) => Start::Skip(reason.clone()),
            };
            rows.push(row(&name, revision, start));
        }
    }
    for Peer {
        name,
        program,
        revisions,
    } in servers(peers)
    {
        let server = program.map(|program| start(&mut program.command(), name, out));
        rows.extend(revisions.iter().map(|revision| {
            let start = match &server {
                Ok(Ok(server)) => {
                    let mut command = Command::new(&client);
                    command.args([server.url(), revision]);
                    Start::Run(command)
                }
                Ok(Err(error)) => Start::Fail(error.to_string()),
                Err(reason) => Start::Skip(reason.clone()),
            };
            row(&format!("our client -> {name}"), revision, start)
        }));
        if let Ok(Ok(server)) = server {
            running.push(server);
        }
    }
    Ok((running, rows))
}

fn start(command: &mut Command, name: &str, out: &Path) -> Result<Server> {
    process::clean_environment(command);
    Server::start(command, &super::log(out, name), START_LIMIT)
}

fn row(pair: &str, revision: &'static str, start: Start) -> Row {
    Row {
        name: format!("{pair}, HTTP, {revision}"),
        start,
        expected: Expected::Features(revision),
    }
}

/// What a client says that is not well, or does not say at all.
pub(super) fn problem(said: &str, revision: &str) -> Option<String> {
    let says = |wanted: &str| said.lines().any(|line| line.trim_end() == wanted);
    let mut problems = Vec::new();
    if !says(&format!("revision {revision}")) {
        problems.push("another revision is spoken".to_owned());
    }
    for feature in FEATURES {
        let no = format!("no {feature}: ");
        match said.lines().find(|line| line.starts_with(&no)) {
            Some(line) => problems.push(line.to_owned()),
            None if says(&format!("ok {feature}")) => {}
            None => problems.push(format!("{feature} was not exercised")),
        }
    }
    (!problems.is_empty()).then(|| problems.join("; "))
}

#[cfg(test)]
mod tests {
    use super::{FEATURES, problem};

    #[test]
    fn a_row_passes_when_every_feature_was_exercised() {
        let oks = FEATURES.map(|feature| format!("ok {feature}\n")).concat();
        let all = format!("a warning\nrevision 2025-11-25\n{oks}");
        assert_eq!(problem(&all, "2025-11-25"), None);
        for (said, wrong) in [
            (String::new(), "another revision is spoken; tools was not"),
            (oks.clone(), "another revision is spoken"),
            (all.replace("11-25", "06-18"), "another revision is spoken"),
            (all.replace("ok prompts\n", ""), "prompts was not exercised"),
            (
                all.replace("ok prompts", "no prompts: late"),
                "no prompts: late",
            ),
            (format!("{all}no tools: twice"), "no tools: twice"),
        ] {
            let found = problem(&said, "2025-11-25").unwrap_or_default();
            assert!(found.starts_with(wrong), "{found}");
        }
    }
}
