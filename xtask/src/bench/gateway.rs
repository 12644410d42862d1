//! `cargo xtask bench --gateway`: calls of a server directly, through our gateway, and through proxies in Python, on
//! one processor. The server behind the gateway runs on the other one, with the load generator.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::measure::Sample;
use super::runner::{Bench, PROFILE};
use super::table::Row;
use crate::Result;
use crate::flags::Flags;
use crate::interop::Proxies;
use crate::process::{self, Server, free_port};
use crate::workspace::Workspace;

/// Python programs import for seconds.
const START_LIMIT: Duration = Duration::from_secs(60);

const MODERN: &[&str] = &["call", "--connections", "16"];
const SESSION: &[&str] = &["call", "--era", "session", "--connections", "16"];
const BIG: &[&str] = &["big", "--connections", "4"];

/// The measured program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Front {
    /// The server itself.
    Direct,
    /// Our gateway, before a server over HTTP.
    Gateway,
    /// Our gateway, before a server on a pipe.
    GatewayOfPipe,
    /// FastMCP's proxy, before a server over HTTP.
    FastMcp,
    /// mcp-proxy, before a server on a pipe.
    McpProxy,
}

/// One load, and the programs that are compared. The others are compared with the first one.
struct Comparison {
    label: &'static str,
    arguments: &'static [&'static str],
    fronts: &'static [Front],
}

const COMPARISONS: [Comparison; 4] = [
    Comparison {
        label: "call, 16 conn.",
        arguments: MODERN,
        fronts: &[Front::Direct, Front::Gateway, Front::GatewayOfPipe],
    },
    Comparison {
        label: "session, 16",
        arguments: SESSION,
        fronts: &[Front::Direct, Front::Gateway, Front::FastMcp],
    },
    Comparison {
        label: "1 MiB, 4 conn.",
        arguments: BIG,
        fronts: &[Front::Direct, Front::Gateway, Front::GatewayOfPipe],
    },
    Comparison {
        label: "session, pipe behind",
        arguments: SESSION,
        fronts: &[Front::Direct, Front::GatewayOfPipe, Front::McpProxy],
    },
];

/// Prints the table. Returns true if every response was correct.
pub(super) fn run(workspace: &Workspace, mut flags: Flags) -> Result<bool> {
    let rounds: usize = flags.value("--rounds")?.unwrap_or(5);
    let seconds: f64 = flags.value("--seconds")?.unwrap_or(1.0);
    flags.finish()?;
    let mut cargo = workspace.cargo();
    process::run(cargo.args(["build", "--release", "--package", "bench", "--bins"]))?;
    let programs = Programs {
        bench: Bench::new(workspace, None, rounds, seconds)?,
        server: workspace.binary(PROFILE, "bench-server"),
        proxies: Proxies::install(workspace)?,
    };
    println!("{}\n{}", programs.bench.conditions(), Row::HEADING);
    let mut rows = Vec::new();
    for comparison in &COMPARISONS {
        for row in programs.rows(comparison)? {
            println!("{row}");
            rows.push(row);
        }
    }
    let report: Vec<_> = rows.iter().map(Row::to_json).collect();
    let file = programs.bench.folder().join("gateway.json");
    fs::write(&file, format!("{:#}\n", serde_json::Value::from(report)))?;
    println!("written to {}", file.display());
    Ok(rows.iter().all(|row| row.errors == 0))
}

struct Programs<'a> {
    bench: Bench<'a>,
    server: std::path::PathBuf,
    proxies: Proxies,
}

impl Programs<'_> {
    fn rows(&self, comparison: &Comparison) -> Result<Vec<Row>> {
        let is_installed = |front: &&Front| match self.missing(**front) {
            Some(reason) => {
                println!("{} is left out: {reason}", front.label());
                false
            }
            None => true,
        };
        let fronts: Vec<_> = comparison.fronts.iter().filter(is_installed).collect();
        let samples = self
            .bench
            .in_turns(&fronts, |front| self.sample(**front, comparison.arguments))?;
        let direct = samples.first().map(Vec::as_slice).unwrap_or_default();
        let rows = fronts.iter().zip(&samples);
        let rows =
            rows.map(|(front, samples)| Row::new(comparison.label, front.label(), samples, direct));
        Ok(rows.collect())
    }

    /// Returns why a program cannot be programs.
    fn missing(&self, front: Front) -> Option<&str> {
        let program = match front {
            Front::FastMcp => &self.proxies.fastmcp,
            Front::McpProxy => &self.proxies.mcp_proxy,
            _ => return None,
        };
        program.as_ref().err().map(String::as_str)
    }

    /// Measures one program. The processor time is that of the front alone.
    fn sample(&self, front: Front, arguments: &[&str]) -> Result<Sample> {
        let behind = self.start_behind(front)?;
        let url = behind.as_ref().map_or("", Server::url);
        let server = self.start(front, url)?;
        self.bench.load(&server, arguments)
    }

    /// Starts the server behind a front that needs one over HTTP.
    fn start_behind(&self, front: Front) -> Result<Option<Server>> {
        if !matches!(front, Front::Gateway | Front::FastMcp) {
            return Ok(None);
        }
        let mut command = Command::new(&self.server);
        command.args(["http", &free_port()?.to_string()]);
        Server::start(&mut command, &self.log("behind"), START_LIMIT).map(Some)
    }

    fn start(&self, front: Front, behind: &str) -> Result<Server> {
        let port = free_port()?.to_string();
        let gateway = || self.bench.server(&self.bench.binary("bench-gateway"));
        let mut command = match front {
            Front::Direct => {
                let mut command = self.bench.server(&self.server);
                command.args(["http", &port]);
                command
            }
            Front::Gateway => {
                let mut command = gateway();
                command.args([&*port, behind]);
                command
            }
            Front::GatewayOfPipe => {
                let mut command = gateway();
                command.args([&*port, "--"]).arg(&self.server).arg("stdio");
                command
            }
            Front::FastMcp => {
                let proxy = self.proxies.fastmcp.as_ref().map_err(String::as_str)?;
                let mut command = self.pinned(&proxy.command());
                command.args([behind, &port]);
                return self.start_at(&mut command, front, &port);
            }
            Front::McpProxy => {
                let proxy = self.proxies.mcp_proxy.as_ref().map_err(String::as_str)?;
                let mut command = self.pinned(&proxy.command());
                command.args(["--port", &port, "--"]);
                command.arg(&self.server).arg("stdio");
                return self.start_at(&mut command, front, &port);
            }
        };
        Server::start(&mut command, &self.log(front.label()), START_LIMIT)
    }

    /// Starts a program that prints no address.
    fn start_at(&self, command: &mut Command, front: Front, port: &str) -> Result<Server> {
        process::clean_environment(command);
        let url = format!("http://127.0.0.1:{port}/mcp");
        let log = self.log(front.label());
        Server::start_at(command, &url, port.parse()?, &log, START_LIMIT)
    }

    fn pinned(&self, command: &Command) -> Command {
        let mut pinned = self.bench.server(Path::new(command.get_program()));
        pinned.args(command.get_args());
        pinned
    }

    fn log(&self, name: &str) -> std::path::PathBuf {
        let name = format!("gateway-{}-stderr.log", name.replace(' ', "-"));
        self.bench.folder().join(name)
    }
}

impl Front {
    fn label(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Gateway => "mcp gateway",
            Self::GatewayOfPipe => "mcp gateway, pipe",
            Self::FastMcp => "FastMCP proxy",
            Self::McpProxy => "mcp-proxy",
        }
    }
}
