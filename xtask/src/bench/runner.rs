//! Running a load on its candidates in turns.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::measure::{Clock, Sample};
use super::scenario::{Candidate, Load, Program, Scenario};
use super::table::Row;
use crate::Result;
use crate::process::{self, Server, free_port};
use crate::workspace::Workspace;

/// The cargo profile of all measured programs.
pub(crate) const PROFILE: &str = "release";

pub(super) const LOAD: &str = "bench-load";
const WARM_UP_SECONDS: &str = "0.2";
const START_LIMIT: Duration = Duration::from_secs(10);

/// Processors of the servers and of the load generators.
const SERVERS: &str = "0";
const LOADS: &str = "1";

/// Settings of a run, shared by all scenarios.
pub(crate) struct Bench<'a> {
    workspace: &'a Workspace,
    /// Folder of the programs that use rmcp.
    rmcp: Option<PathBuf>,
    /// Folder of the server at another commit.
    earlier: Option<PathBuf>,
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

    /// Sets the folder of the server at another commit.
    pub(super) fn with_earlier(mut self, folder: PathBuf) -> Self {
        self.earlier = Some(folder);
        self
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
    pub(crate) fn candidates(&self, scenario: &'static Scenario) -> Vec<&'static Candidate> {
        let here = |candidate: &&Candidate| !candidate.program.is_rmcp() || self.rmcp.is_some();
        scenario.candidates.iter().filter(here).collect()
    }

    /// Runs one load on every candidate. Returns a row for each, and none for loads that measure
    /// memory.
    pub(crate) fn timed(&self, scenario: &'static Scenario) -> Result<Vec<Row>> {
        let candidates = self.candidates(scenario);
        let samples = match scenario.load {
            Load::Sessions { .. } => return Ok(Vec::new()),
            Load::Http(arguments) => self.over_http(scenario, &candidates, arguments)?,
            Load::Pipe(arguments) => self.over_pipes(&candidates, arguments)?,
            Load::Clients { tasks } => self.of_clients(scenario, &candidates, tasks)?,
        };
        let limit = samples.first().map(Vec::as_slice).unwrap_or_default();
        let rows = candidates.iter().zip(&samples);
        let row = |(candidate, samples): (&&Candidate, &Vec<Sample>)| {
            Row::new(scenario.label, candidate.label, samples, limit)
        };
        Ok(rows.map(row).collect())
    }

    pub(super) fn over_http(
        &self,
        scenario: &Scenario,
        candidates: &[&Candidate],
        arguments: &[&str],
    ) -> Result<Vec<Vec<Sample>>> {
        self.in_turns(candidates, |&candidate| {
            // A new server for each round: its memory layout affects the speed and does not change
            // while it runs.
            let server = self.start(candidate, scenario)?;
            self.load(&server, arguments)
        })
    }

    /// Loads a server twice: to warm it up, and to measure it.
    pub(super) fn load(&self, server: &Server, arguments: &[&str]) -> Result<Sample> {
        let load = |seconds: &str| {
            let mut command = self.pinned(LOADS, &self.binary(LOAD));
            command
                .arg(port(server.url())?.to_string())
                .args(arguments)
                .args(["--seconds", seconds]);
            self.sample(&mut command, Some(server.id()))
        };
        load(WARM_UP_SECONDS)?;
        load(&self.seconds.to_string())
    }

    fn over_pipes(
        &self,
        candidates: &[&Candidate],
        arguments: &[&str],
    ) -> Result<Vec<Vec<Sample>>> {
        let seconds = self.seconds.to_string();
        self.in_turns(candidates, |&candidate| {
            let mut command = self.pinned(LOADS, &self.binary(LOAD));
            command
                .arg("pipe")
                .args(arguments)
                .args(["--seconds", &seconds, "--"]);
            let program = self.pinned(SERVERS, &self.program(candidate.program));
            command.arg(program.get_program()).args(program.get_args());
            command.arg("stdio");
            self.sample(&mut command, None)
        })
    }

    /// The candidates are clients. All of them call the minimal server.
    fn of_clients(
        &self,
        scenario: &Scenario,
        candidates: &[&Candidate],
        tasks: &str,
    ) -> Result<Vec<Vec<Sample>>> {
        let minimal = Candidate {
            label: "limit",
            program: Program::Limit,
            flags: &[],
        };
        let server = self.start(&minimal, scenario)?;
        let seconds = self.seconds.to_string();
        self.in_turns(candidates, |&candidate| {
            let mut command = self.pinned(LOADS, &self.program(candidate.program));
            command.args([server.url(), tasks, &seconds]);
            command.args(candidate.flags);
            self.sample(&mut command, None)
        })
    }

    /// Runs all rounds. Every second round has the reverse order.
    pub(super) fn in_turns<C>(
        &self,
        candidates: &[C],
        mut run: impl FnMut(&C) -> Result<Sample>,
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
            "1" => self.pinned(SERVERS, &self.program(candidate.program)),
            _ => Command::new(self.program(candidate.program)),
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
        self.pinned(LOADS, &self.binary(LOAD))
    }

    fn program(&self, program: Program) -> PathBuf {
        let folder = match program {
            Program::Earlier => self.earlier.as_ref(),
            program if program.is_rmcp() => self.rmcp.as_ref(),
            _ => None,
        };
        folder.map_or_else(
            || self.binary(program.binary()),
            |folder| folder.join(program.binary()),
        )
    }

    pub(super) fn binary(&self, name: &str) -> PathBuf {
        self.workspace.binary(PROFILE, name)
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

/// Returns the port of a server's address.
pub(crate) fn port(url: &str) -> Result<u16> {
    let authority = url
        .trim_start_matches("http://")
        .split('/')
        .next()
        .unwrap_or_default();
    let port = authority
        .rsplit(':')
        .next()
        .and_then(|port| port.parse().ok());
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
