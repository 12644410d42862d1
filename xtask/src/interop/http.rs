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

pub(super) const START_LIMIT: Duration = Duration::from_secs(60);

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
        Peer::new(
            "Python server 2",
            peers.python("python-2", "server_http.py"),
            &ALL,
        ),
        Peer::new(
            "Python server 1",
            peers.python("python-1", "server_http_v1.py"),
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
        Peer::new(
            "Python client 2",
            peers.python("python-2", "client_http.py"),
            &ALL,
        ),
        Peer::new(
            "Python client 1",
            peers.python("python-1", "client_http_v1.py"),
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
    let mut pairs = Pairs::new(workspace, out);
    let newest = |peer: &Peer| peer.revisions.contains(&NEWEST);
    for peer in clients(peers).into_iter().filter(newest) {
        pairs.client(&peer, NEWEST, None)?;
    }
    for peer in servers(peers).into_iter().filter(newest) {
        let server = pairs.start_peer(&peer);
        pairs.server(peer.name, &server, NEWEST, None)?;
        pairs.running.extend(server.ok());
    }
    Ok((pairs.running, pairs.cases))
}

/// Returns all cases, and the servers that must run until the cases have ended.
pub(super) fn cases(
    workspace: &Workspace,
    peers: &Peers,
    out: &Path,
) -> Result<(Vec<Server>, Vec<Case>)> {
    let mut pairs = Pairs::new(workspace, out);
    for peer in clients(peers) {
        for revision in peer.revisions {
            // The gateway has to translate between the eras.
            let back = if *revision == NEWEST {
                "legacy"
            } else {
                "modern"
            };
            pairs.client(&peer, revision, None)?;
            pairs.client(&peer, revision, Some(back))?;
        }
    }
    for peer in servers(peers) {
        let server = pairs.start_peer(&peer);
        for revision in peer.revisions {
            pairs.server(peer.name, &server, revision, None)?;
        }
        for revision in [NEWEST, SESSIONS[1]] {
            pairs.server(peer.name, &server, revision, Some("auto"))?;
        }
        pairs.running.extend(server.ok());
    }
    Ok((pairs.running, pairs.cases))
}

/// A server of a peer, or the start of cases without it and the reason.
type PeerServer = std::result::Result<Server, (fn(String) -> Start, String)>;

/// The cases, and their servers.
struct Pairs<'a> {
    workspace: &'a Workspace,
    out: &'a Path,
    running: Vec<Server>,
    cases: Vec<Case>,
}

impl<'a> Pairs<'a> {
    fn new(workspace: &'a Workspace, out: &'a Path) -> Self {
        Self {
            workspace,
            out,
            running: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// Starts the server of a peer.
    fn start_peer(&self, peer: &Peer) -> PeerServer {
        let skip: fn(String) -> Start = Start::Skip;
        let program = peer.program.clone().map_err(|reason| (skip, reason))?;
        start(&mut program.command(), peer.name, self.out)
            .map_err(|error| (Start::Fail as fn(String) -> Start, error.to_string()))
    }

    /// The client of a peer with our server, and our gateway before it that calls it in the era `back`.
    fn client(&mut self, peer: &Peer, revision: &'static str, back: Option<&str>) -> Result<()> {
        let name = format!("{} -> {}our server", peer.name, hop(back));
        let start = match &peer.program {
            Ok(program) => {
                // Every case has its own server: change notifications go to all clients.
                let label = format!("{name} {revision}");
                let mut server = Command::new(self.workspace.binary("debug", SERVER));
                let server = start(
                    server.env("PORT", "0"),
                    &format!("{label} server"),
                    self.out,
                )?;
                let url = server.url().to_owned();
                self.running.push(server);
                let url = self.behind_gateway(url, back, &label)?;
                let mut command = program.command();
                command.args([&*url, revision]);
                Start::Run(command)
            }
            Err(reason) => Start::Skip(reason.clone()),
        };
        self.cases.push(case(&name, revision, &FEATURES, start));
        Ok(())
    }

    /// Our client with the server of a peer, and our gateway before it.
    fn server(
        &mut self,
        name: &str,
        server: &PeerServer,
        revision: &'static str,
        back: Option<&str>,
    ) -> Result<()> {
        let start = match server {
            Ok(server) => {
                let label = format!("{name} {revision}");
                let url = self.behind_gateway(server.url().to_owned(), back, &label)?;
                let mut command = Command::new(self.workspace.binary("debug", CLIENT));
                command.args([&*url, revision]);
                Start::Run(command)
            }
            Err((start, reason)) => start(reason.clone()),
        };
        let name = format!("our client -> {}{name}", hop(back));
        self.cases.push(case(&name, revision, &FEATURES, start));
        Ok(())
    }

    /// Starts a gateway before `url` if `back` has an era. Returns the URL for clients.
    fn behind_gateway(&mut self, url: String, back: Option<&str>, label: &str) -> Result<String> {
        let Some(back) = back else {
            return Ok(url);
        };
        let mut gateway = Command::new(self.workspace.binary("debug", GATEWAY));
        gateway.args([back, &url]).env("PORT", "0");
        let gateway = start(&mut gateway, &format!("{label} gateway"), self.out)?;
        let url = gateway.url().to_owned();
        // A gateway ends before its server.
        self.running.insert(0, gateway);
        Ok(url)
    }
}

/// The part of a case's name for the gateway.
fn hop(back: Option<&str>) -> &'static str {
    back.map_or("", |_| "our gateway -> ")
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
        check: Box::new(move |output| {
            let is_other = !output
                .lines()
                .any(|line| line.trim_end() == format!("revision {revision}"));
            let other = is_other.then(|| "the client used another revision".to_owned());
            let problems: Vec<_> = other.into_iter().chain(problem(output, features)).collect();
            (!problems.is_empty()).then(|| problems.join("; "))
        }),
    }
}

/// Returns the features that did not work or were not exercised.
pub(super) fn problem(output: &str, features: &[&str]) -> Option<String> {
    let has_line = |wanted: &str| output.lines().any(|line| line.trim_end() == wanted);
    let mut problems = Vec::new();
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
    use super::{FEATURES, Start, case};

    #[test]
    fn output_with_every_feature_passes() {
        let case = case(
            "a -> b",
            "2025-11-25",
            &FEATURES,
            Start::Skip(String::new()),
        );
        let oks = FEATURES.map(|feature| format!("ok {feature}\n")).concat();
        let all = format!("a warning\nrevision 2025-11-25\n{oks}");
        assert_eq!((case.check)(&all), None);
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
            let found = (case.check)(&output).unwrap_or_default();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
