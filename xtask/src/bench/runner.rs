//! Running a load on its candidates in turns.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::measure::{Clock, Sample};
use super::scenario::{Candidate, LIMIT, Load, Scenario};
use super::table::Row;
use crate::process::{self, Server, free_port};
use crate::result::Result;
use crate::workspace::Workspace;

/// The cargo profile of all measured programs.
pub(crate) const PROFILE: &str = "release";

pub(super) const LOAD: &str = "bench-load";
const WARM_UP_SECONDS: &str = "0.2";
const START_LIMIT: Duration = Duration::from_secs(10);

/// The label of the server at another commit.
pub(super) const EARLIER: &str = "earlier";

/// Processors of the servers and of the load generators.
const SERVERS: &str = "0";
const LOADS: &str = "1";

/// Settings of a run, shared by all scenarios.
pub(crate) struct Bench<'a> {
    workspace: &'a Workspace,
    /// Folder of the programs that use rmcp.
    rmcp: Option<PathBuf>,
    /// Folder of the server at another commit.
    pub(super) earlier: Option<PathBuf>,
    rounds: usize,
    seconds: f64,
    /// Servers and load generators run on one processor each.
    pinned: bool,
    clock: Clock,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(
        workspace: &'a Workspace,
        rmcp: Option<PathBuf>,
        rounds: usize,
        seconds: f64,
    ) -> Result<Self> {
        let bench = Self {
            workspace,
            rmcp,
            earlier: None,
            rounds,
            seconds,
            pinned: std::thread::available_parallelism()?.get() > 1
                && process::available("taskset", &["-c", "0", "true"]),
            clock: Clock::find(),
        };
        fs::create_dir_all(bench.folder())?;
        Ok(bench)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.workspace.target().join("bench")
    }

    pub(crate) fn conditions(&self) -> String {
        let pins = if self.pinned {
            "server on CPU 0, generator on CPU 1"
        } else {
            "server and generator not pinned"
        };
        format!(
            "{} rounds of {} s, medians; {pins}",
            self.rounds, self.seconds
        )
    }

    /// The candidates of a scenario whose programs are built.
    pub(crate) fn candidates(&self, scenario: &Scenario) -> Vec<Candidate> {
        let here = |candidate: &&Candidate| !is_rmcp(candidate) || self.rmcp.is_some();
        scenario.candidates.iter().filter(here).copied().collect()
    }

    /// Runs one load on every candidate. Returns a row for each.
    pub(crate) fn timed(&self, scenario: &Scenario) -> Result<Vec<Row>> {
        let candidates = self.candidates(scenario);
        let samples = self.samples(scenario, &candidates)?;
        let limit = samples.first().map(Vec::as_slice).unwrap_or_default();
        let rows = candidates.iter().zip(&samples);
        let row = |(candidate, samples): (&Candidate, &Vec<Sample>)| {
            Row::new(scenario.label, candidate.label, samples, limit)
        };
        Ok(rows.map(row).collect())
    }

    /// Returns the samples of each candidate.
    pub(super) fn samples(
        &self,
        scenario: &Scenario,
        candidates: &[Candidate],
    ) -> Result<Vec<Vec<Sample>>> {
        let seconds = self.seconds.to_string();
        let minimal = match scenario.load {
            Load::Clients(_) => Some(self.start(&LIMIT, scenario)?),
            _ => None,
        };
        self.in_turns(candidates, |candidate| {
            let program = self.program(candidate);
            match (scenario.load, &minimal) {
                // A new server for each round: its memory layout affects the speed and does not change
                // while it runs.
                (Load::Http(arguments), _) => {
                    let server = self.start(candidate, scenario)?;
                    self.load(&server, arguments, WARM_UP_SECONDS)?;
                    self.load(&server, arguments, &seconds)
                }
                (Load::Pipe(arguments), _) => {
                    let mut load = self.generator();
                    load.arg("pipe").args(arguments.split(' '));
                    load.args(["--seconds", &seconds, "--"]);
                    let program = self.pinned(SERVERS, &program);
                    load.arg(program.get_program()).args(program.get_args());
                    self.sample(load.arg("stdio"), None)
                }
                (Load::Clients(tasks), Some(minimal)) => {
                    let mut client = self.pinned(LOADS, &program);
                    client.args([minimal.url(), tasks, &seconds]);
                    self.sample(client.args(candidate.flags), None)
                }
                _ => Err("this load measures memory".into()),
            }
        })
    }

    fn load(&self, server: &Server, arguments: &str, seconds: &str) -> Result<Sample> {
        let mut load = self.generator();
        load.arg(port(server.url())?.to_string())
            .args(arguments.split(' '))
            .args(["--seconds", seconds]);
        self.sample(&mut load, Some(server.id()))
    }

    /// Runs all rounds. Every second round has the reverse order.
    fn in_turns(
        &self,
        candidates: &[Candidate],
        run: impl Fn(&Candidate) -> Result<Sample>,
    ) -> Result<Vec<Vec<Sample>>> {
        let mut samples: Vec<Vec<Sample>> = candidates.iter().map(|_| Vec::new()).collect();
        let mut order: Vec<_> = (0..candidates.len()).collect();
        for _ in 0..self.rounds {
            for &index in &order {
                samples[index].push(run(&candidates[index])?);
            }
            order.reverse();
        }
        Ok(samples)
    }

    pub(crate) fn start(&self, candidate: &Candidate, scenario: &Scenario) -> Result<Server> {
        let mut command = match scenario.workers {
            "1" => self.pinned(SERVERS, &self.program(candidate)),
            _ => Command::new(self.program(candidate)),
        };
        command
            .args(["http", &free_port()?.to_string()])
            .args(candidate.flags)
            .env("NTOOLS", scenario.listed_tools)
            .env("WORKERS", scenario.workers);
        let name = format!("{}-stderr.log", candidate.label.replace(", ", "-"));
        Server::start(&mut command, &self.folder().join(name), START_LIMIT)
    }

    /// Runs a load generator. Adds the processor time that the loaded process used.
    fn sample(&self, command: &mut Command, loaded: Option<u32>) -> Result<Sample> {
        let used = || loaded.and_then(|process| self.clock.used(process));
        let before = used();
        let line = process::capture(command)?;
        let after = used();
        let mut sample: Sample = serde_json::from_str(&line)?;
        sample.cpu_us = before.zip(after).map(|(before, after)| {
            after.saturating_sub(before).as_secs_f64() * 1e6 / sample.requests as f64
        });
        Ok(sample)
    }

    /// Returns the load generator as a command without arguments.
    pub(crate) fn generator(&self) -> Command {
        self.pinned(LOADS, &self.workspace.binary(PROFILE, LOAD))
    }

    fn program(&self, candidate: &Candidate) -> PathBuf {
        let folder = match candidate.label {
            EARLIER => self.earlier.as_ref(),
            _ if is_rmcp(candidate) => self.rmcp.as_ref(),
            _ => None,
        };
        let name = candidate.program;
        let own = || self.workspace.binary(PROFILE, name);
        folder.map_or_else(own, |folder| folder.join(name))
    }

    fn pinned(&self, processor: &str, binary: &Path) -> Command {
        if !self.pinned {
            return Command::new(binary);
        }
        let mut command = Command::new("taskset");
        command.args(["-c", processor]).arg(binary);
        command
    }
}

/// Builds these optimized programs of the package, or all.
pub(super) fn build(workspace: &Workspace, programs: &[&str]) -> Result<()> {
    let mut cargo = workspace.cargo("build --release --package bench");
    if programs.is_empty() {
        cargo.arg("--bins");
    }
    process::run(cargo.args(programs.iter().flat_map(|program| ["--bin", program])))
}

fn is_rmcp(candidate: &Candidate) -> bool {
    candidate.program.starts_with("rmcp")
}

/// Returns the port of a server's address.
pub(crate) fn port(url: &str) -> Result<u16> {
    let authority = url.trim_start_matches("http://").split('/').next();
    let port = authority.and_then(|authority| authority.rsplit(':').next()?.parse().ok());
    port.ok_or_else(|| format!("no port in {url}").into())
}

#[cfg(test)]
mod tests {
    use super::port;

    #[test]
    fn port_is_read_from_address() {
        assert_eq!(port("http://127.0.0.1:8001/mcp").unwrap(), 8001);
        assert_eq!(port("http://[::1]:8001").unwrap(), 8001);
        assert!(port("http://localhost/mcp").is_err());
    }
}
