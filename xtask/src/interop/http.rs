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

/// Returns a case of the newest revision with each SDK as client and as server, and the servers that
/// must run until the cases have ended.
pub(super) fn newest_cases(
    workspace: &Workspace,
    peers: &Peers,
    out: &Path,
) -> Result<(Vec<Server>, Vec<Case>)> {
    let newest = |peer: &Peer| peer.revisions.contains(&NEWEST);
    let mut running = Vec::new();
    let mut cases = Vec::new();
    for peer in clients(peers).into_iter().filter(newest) {
        let (server, case) = client_case(workspace, &peer, NEWEST, out)?;
        running.extend(server);
        cases.push(case);
    }
    for peer in servers(peers).into_iter().filter(newest) {
        let server = start_peer(&peer, out);
        cases.push(server_case(workspace, peer.name, &server, NEWEST));
        running.extend(server.ok().and_then(Result::ok));
    }
    Ok((running, cases))
}

/// A server of a peer, or the error of its start; or the reason why the peer is not installed.
type PeerServer = std::result::Result<Result<Server>, String>;

fn start_peer(peer: &Peer, out: &Path) -> PeerServer {
    let program = peer.program.clone()?;
    Ok(start(&mut program.command(), peer.name, out))
}

/// The client of a peer with our server. Returns the server, too.
fn client_case(
    workspace: &Workspace,
    peer: &Peer,
    revision: &'static str,
    out: &Path,
) -> Result<(Option<Server>, Case)> {
    let name = format!("{} -> our server", peer.name);
    let (server, start) = match &peer.program {
        Ok(program) => {
            // Every case has its own server: change notifications go to all clients.
            let label = format!("{name} {revision} server");
            let mut server = Command::new(workspace.binary("debug", SERVER));
            let server = start(server.env("PORT", "0"), &label, out)?;
            let mut command = program.command();
            command.args([server.url(), revision]);
            (Some(server), Start::Run(command))
        }
        Err(reason) => (None, Start::Skip(reason.clone())),
    };
    Ok((server, case(&name, revision, &FEATURES, start)))
}

/// Our client with the server of a peer.
fn server_case(
    workspace: &Workspace,
    name: &str,
    server: &PeerServer,
    revision: &'static str,
) -> Case {
    let start = match server {
        Ok(Ok(server)) => {
            let mut command = Command::new(workspace.binary("debug", CLIENT));
            command.args([server.url(), revision]);
            Start::Run(command)
        }
        Ok(Err(error)) => Start::Fail(error.to_string()),
        Err(reason) => Start::Skip(reason.clone()),
    };
    case(&format!("our client -> {name}"), revision, &FEATURES, start)
}

/// Returns all cases, and the servers that must run until the cases have ended.
pub(super) fn cases(
    workspace: &Workspace,
    peers: &Peers,
    out: &Path,
) -> Result<(Vec<Server>, Vec<Case>)> {
    let mut running = Vec::new();
    let mut cases = Vec::new();
    for peer in clients(peers) {
        for revision in peer.revisions {
            let (server, case) = client_case(workspace, &peer, revision, out)?;
            running.extend(server);
            cases.push(case);
            let (behind, case) = client_behind_gateway(workspace, &peer, revision, out)?;
            running.extend(behind);
            cases.push(case);
        }
    }
    for peer in servers(peers) {
        let server = start_peer(&peer, out);
        let name = peer.name;
        let direct = |revision: &&'static str| server_case(workspace, name, &server, revision);
        cases.extend(peer.revisions.iter().map(direct));
        for revision in [NEWEST, SESSIONS[1]] {
            let (gateway, case) = server_behind_gateway(workspace, name, &server, revision, out)?;
            running.extend(gateway);
            cases.push(case);
        }
        running.extend(server.ok().and_then(Result::ok));
    }
    Ok((running, cases))
}

/// The client of a peer with our gateway in front of our server. Returns both.
fn client_behind_gateway(
    workspace: &Workspace,
    peer: &Peer,
    revision: &'static str,
    out: &Path,
) -> Result<(Vec<Server>, Case)> {
    let name = format!("{} -> our gateway -> our server", peer.name);
    let (running, start) = match &peer.program {
        Ok(program) => {
            let label = format!("{name} {revision}");
            let mut server = Command::new(workspace.binary("debug", SERVER));
            let server = start(server.env("PORT", "0"), &format!("{label} server"), out)?;
            // The gateway has to translate between the eras.
            let back = if revision == NEWEST {
                "legacy"
            } else {
                "modern"
            };
            let gateway = start_gateway(workspace, back, &server, &label, out)?;
            let mut command = program.command();
            command.args([gateway.url(), revision]);
            (vec![gateway, server], Start::Run(command))
        }
        Err(reason) => (Vec::new(), Start::Skip(reason.clone())),
    };
    Ok((running, case(&name, revision, &FEATURES, start)))
}

/// Our client with our gateway in front of the server of a peer. Returns the gateway, too.
fn server_behind_gateway(
    workspace: &Workspace,
    name: &str,
    server: &PeerServer,
    revision: &'static str,
    out: &Path,
) -> Result<(Option<Server>, Case)> {
    let (gateway, start) = match server {
        Ok(Ok(server)) => {
            let label = format!("{name} {revision}");
            let gateway = start_gateway(workspace, "auto", server, &label, out)?;
            let mut command = Command::new(workspace.binary("debug", CLIENT));
            command.args([gateway.url(), revision]);
            (Some(gateway), Start::Run(command))
        }
        Ok(Err(error)) => (None, Start::Fail(error.to_string())),
        Err(reason) => (None, Start::Skip(reason.clone())),
    };
    let name = format!("our client -> our gateway -> {name}");
    Ok((gateway, case(&name, revision, &FEATURES, start)))
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
