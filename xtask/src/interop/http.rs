//! Cases over HTTP: every feature, at every revision that the peer supports.
//!
//! All servers have the fixtures of the everything server, and all clients use them in the same way.
//! A client prints `revision R`, then `ok FEATURE` or `no FEATURE: PROBLEM` for each feature.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::cases::{Case, Start, log_file};
use super::peers::{InstalledProgram, Peers};
use crate::Result;
use crate::process::{self, Server};
use crate::workspace::Workspace;

/// Our server and our client.
pub(super) const SERVER: &str = "everything-server";
pub(super) const CLIENT: &str = "interop-client";
/// Our gateway, in front of one server.
pub(super) const GATEWAY: &str = "everything-gateway";

const START_LIMIT: Duration = Duration::from_secs(60);

/// The features that a case exercises. It passes if all of them work.
pub(super) const FEATURES: [&str; 8] = [
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
const NEWEST: &str = "2026-07-28";
const ALL: [&str; 3] = ["2025-06-18", "2025-11-25", NEWEST];

/// A program of another SDK, and the revisions that it supports.
struct Peer {
    name: &'static str,
    program: InstalledProgram,
    revisions: &'static [&'static str],
}

impl Peer {
    fn new(
        name: &'static str,
        program: InstalledProgram,
        revisions: &'static [&'static str],
    ) -> Self {
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
        Peer::new("rmcp server", peers.rmcp("interop-rmcp-server"), &ALL),
    ]
}

fn clients(peers: &Peers) -> [Peer; 5] {
    [
        Peer::new("TypeScript client 2", peers.node("client_http.mjs"), &ALL),
        // It always requests the newest revision that it supports.
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
        Peer::new("rmcp client", peers.rmcp("interop-rmcp-client"), &ALL),
    ]
}

/// Returns all cases, and the servers that must run until the cases have ended.
pub(super) fn cases(
    workspace: &Workspace,
    peers: &Peers,
    out: &Path,
) -> Result<(Vec<Server>, Vec<Case>)> {
    let client = workspace.binary("debug", CLIENT);
    let server = workspace.binary("debug", SERVER);
    let mut running = Vec::new();
    let mut cases = Vec::new();
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
                    // Every case has its own server: change notifications go to all clients.
                    let label = format!("{name} {revision} server");
                    let ours = start(Command::new(&server).env("PORT", "0"), &label, out)?;
                    let mut command = program.command();
                    command.args([ours.url(), revision]);
                    running.push(ours);
                    Start::Run(command)
                }
                Err(reason) => Start::Skip(reason.clone()),
            };
            cases.push(case(&name, revision, &FEATURES, start));
            let name = name.replace("our server", "our gateway -> our server");
            let start = match &program {
                Ok(program) => {
                    let label = format!("{name} {revision}");
                    let mut behind = Command::new(&server);
                    let behind =
                        self::start(behind.env("PORT", "0"), &format!("{label} server"), out)?;
                    // The gateway has to translate between the eras.
                    let back = if *revision == NEWEST {
                        "legacy"
                    } else {
                        "modern"
                    };
                    let gateway = start_gateway(workspace, back, &behind, &label, out)?;
                    let mut command = program.command();
                    command.args([gateway.url(), revision]);
                    running.extend([gateway, behind]);
                    Start::Run(command)
                }
                Err(reason) => Start::Skip(reason.clone()),
            };
            cases.push(case(&name, revision, &FEATURES, start));
        }
    }
    for Peer {
        name,
        program,
        revisions,
    } in servers(peers)
    {
        let server = program.map(|program| start(&mut program.command(), name, out));
        cases.extend(revisions.iter().map(|revision| {
            let start = match &server {
                Ok(Ok(server)) => {
                    let mut command = Command::new(&client);
                    command.args([server.url(), revision]);
                    Start::Run(command)
                }
                Ok(Err(error)) => Start::Fail(error.to_string()),
                Err(reason) => Start::Skip(reason.clone()),
            };
            case(&format!("our client -> {name}"), revision, &FEATURES, start)
        }));
        for revision in [NEWEST, SESSIONS[1]] {
            let start = match &server {
                Ok(Ok(server)) => {
                    let label = format!("{name} {revision}");
                    let gateway = start_gateway(workspace, "auto", server, &label, out)?;
                    let mut command = Command::new(&client);
                    command.args([gateway.url(), revision]);
                    running.push(gateway);
                    Start::Run(command)
                }
                Ok(Err(error)) => Start::Fail(error.to_string()),
                Err(reason) => Start::Skip(reason.clone()),
            };
            let name = format!("our client -> our gateway -> {name}");
            cases.push(case(&name, revision, &FEATURES, start));
        }
        if let Ok(Ok(server)) = server {
            running.push(server);
        }
    }
    Ok((running, cases))
}

/// Starts a gateway in front of a server, which it calls in the era `back`.
fn start_gateway(
    workspace: &Workspace,
    back: &str,
    server: &Server,
    label: &str,
    out: &Path,
) -> Result<Server> {
    let mut gateway = Command::new(workspace.binary("debug", GATEWAY));
    gateway.args([back, server.url()]).env("PORT", "0");
    start(&mut gateway, &format!("{label} gateway"), out)
}

pub(super) fn start(command: &mut Command, name: &str, out: &Path) -> Result<Server> {
    process::clean_environment(command);
    Server::start(command, &log_file(out, name), START_LIMIT)
}

/// A case that passes if the client prints `ok` for each of these features.
pub(super) fn case(
    pair: &str,
    revision: &'static str,
    features: &'static [&'static str],
    start: Start,
) -> Case {
    Case {
        name: format!("{pair}, HTTP, {revision}"),
        start,
        check: Box::new(move |output| problem(output, revision, features)),
    }
}

/// Returns the features that did not work or were not exercised, and a wrong revision.
fn problem(output: &str, revision: &str, features: &[&str]) -> Option<String> {
    let has_line = |wanted: &str| output.lines().any(|line| line.trim_end() == wanted);
    let mut problems = Vec::new();
    if !has_line(&format!("revision {revision}")) {
        problems.push("the client used another revision".to_owned());
    }
    for feature in features {
        let no = format!("no {feature}: ");
        match output.lines().find(|line| line.starts_with(&no)) {
            Some(line) => problems.push(line.to_owned()),
            None if has_line(&format!("ok {feature}")) => {}
            None => problems.push(format!("{feature} was not exercised")),
        }
    }
    (!problems.is_empty()).then(|| problems.join("; "))
}

#[cfg(test)]
mod tests {
    use super::{FEATURES, problem};

    #[test]
    fn output_with_every_feature_passes() {
        let oks = FEATURES.map(|feature| format!("ok {feature}\n")).concat();
        let all = format!("a warning\nrevision 2025-11-25\n{oks}");
        assert_eq!(problem(&all, "2025-11-25", &FEATURES), None);
        for (output, expected) in [
            (
                String::new(),
                "the client used another revision; tools was not",
            ),
            (oks.clone(), "the client used another revision"),
            (
                all.replace("11-25", "06-18"),
                "the client used another revision",
            ),
            (all.replace("ok prompts\n", ""), "prompts was not exercised"),
            (
                all.replace("ok prompts", "no prompts: late"),
                "no prompts: late",
            ),
            (format!("{all}no tools: twice"), "no tools: twice"),
        ] {
            let found = problem(&output, "2025-11-25", &FEATURES).unwrap_or_default();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
