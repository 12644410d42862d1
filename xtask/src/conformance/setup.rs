//! The programs under test: one server, a client, several nodes on Redis, or a gateway in front of a server.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::claims::{Claim, Leg};
use crate::process::{self, Server, free_port};
use crate::result::Result;
use crate::workspace::Workspace;

const SERVER: &str = "everything-server";
const NODES: usize = 3;
const START_LIMIT: Duration = Duration::from_secs(30);

/// The programs under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setup {
    Server,
    Client,
    /// Three nodes on one Redis server, behind a proxy without stickiness.
    Cluster,
    /// A gateway, by its connection to the server behind it.
    LegacyHttp,
    ModernHttp,
    LegacyPipe,
    ModernPipe,
}

/// The beginnings of scenarios that a gateway cannot pass, and the reasons.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("tasks-", "a gateway waits for tasks of its servers itself"),
    ("sep-2640-skills-", "methods of extensions do not pass yet"),
    (
        "server-sse-polling",
        "the server closes its own stream, not that of the gateway",
    ),
];

/// Further scenarios that a gateway in front of a legacy server cannot pass.
const LEGACY_EXCEPTIONS: [(&str, &str); 3] = [
    ("input-required-result-basic-elicitation", NO_KEYS),
    (
        "input-required-result-multiple-input-requests",
        "a legacy server asks one question after the other",
    ),
    ("input-required-result-ignore-extra-params", NO_KEYS),
];
const NO_KEYS: &str = "a legacy server gives its questions no keys";

/// The open checks of `server-stateless` in front of a legacy server, which has no error for missing
/// capabilities, and the remaining successes.
const STATELESS: (&str, usize, &[&str]) = (
    "server-stateless",
    28,
    &[
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
    ],
);

impl Setup {
    pub(super) const GATEWAYS: [Self; 4] = [
        Self::LegacyHttp,
        Self::ModernHttp,
        Self::LegacyPipe,
        Self::ModernPipe,
    ];

    pub(super) fn leg(self) -> Leg {
        if self == Self::Client {
            Leg::Client
        } else {
            Leg::Server
        }
    }

    fn is_legacy(self) -> bool {
        matches!(self, Self::LegacyHttp | Self::LegacyPipe)
    }

    /// Returns the claim for these programs, or the reason why they cannot pass the scenario.
    pub(super) fn claim(self, claim: &Claim) -> std::result::Result<Claim, &'static str> {
        let mut claim = claim.clone();
        let legacy = LEGACY_EXCEPTIONS.iter().filter(|_| self.is_legacy());
        let gateway = EXCEPTIONS.iter().filter(|_| Self::GATEWAYS.contains(&self));
        let mut exceptions = gateway.chain(legacy);
        if let Some((_, reason)) = exceptions.find(|(name, _)| claim.scenario.starts_with(name)) {
            return Err(*reason);
        }
        if self.is_legacy() && claim.scenario == STATELESS.0 {
            (_, claim.successes, claim.open) = STATELESS;
        }
        Ok(claim)
    }

    /// Starts the servers, with their logs in a folder. Returns the target for the suite, and the processes,
    /// which end in this order.
    ///
    /// # Errors
    ///
    /// Returns an error if a program is not installed or does not start.
    pub(super) fn start(
        self,
        workspace: &Workspace,
        profile: &str,
        logs: &Path,
    ) -> Result<(String, Vec<Server>)> {
        let program = |name| workspace.binary(profile, name);
        let start = |command: &mut Command, name: &str| {
            process::clean_environment(command).env("PORT", "0");
            Server::start(
                command,
                &logs.join(format!("{self:?}-{name}.log")),
                START_LIMIT,
            )
        };
        let mut server = Command::new(program(SERVER));
        let mut gateway = Command::new(program("everything-gateway"));
        gateway.arg(if self.is_legacy() { "legacy" } else { "modern" });
        let servers = match self {
            // The suite passes the command to a shell.
            Self::Client => {
                let command = format!("\"{}\"", program("everything-client").display());
                return Ok((command, Vec::new()));
            }
            Self::Server => vec![start(&mut server, "server")?],
            Self::LegacyHttp | Self::ModernHttp => {
                let server = start(&mut server, "server")?;
                vec![start(gateway.arg(server.url()), "gateway")?, server]
            }
            Self::LegacyPipe | Self::ModernPipe => {
                gateway.arg("--").arg(program(SERVER)).arg("--stdio");
                vec![start(&mut gateway, "gateway")?]
            }
            Self::Cluster => {
                let redis = redis(logs)?;
                let mut nodes = Vec::new();
                let mut proxy = Command::new(program("round-robin"));
                for number in 0..NODES {
                    let mut node = Command::new(program(SERVER));
                    node.args(["--redis", redis.url(), "--prefix", "conformance"]);
                    let node = start(&mut node, &format!("node-{number}"))?;
                    let address = node.url().trim_start_matches("http://");
                    proxy.arg(address.trim_end_matches("/mcp"));
                    nodes.push(node);
                }
                let mut servers = vec![start(&mut proxy, "proxy")?];
                servers.append(&mut nodes);
                servers.push(redis);
                servers
            }
        };
        let target = servers.first().map(|server| server.url().to_owned());
        Ok((target.unwrap_or_default(), servers))
    }
}

fn redis(logs: &Path) -> Result<Server> {
    let folder = logs.join("redis");
    fs::create_dir_all(&folder)?;
    let port = free_port()?;
    let mut redis = Command::new("redis-server");
    redis.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
    redis.args(["--save", "", "--dir"]).arg(&folder);
    let url = format!("redis://127.0.0.1:{port}");
    Server::start_at(&mut redis, &url, port, &logs.join("redis.log"), START_LIMIT)
}
