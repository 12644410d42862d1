//! `cargo xtask bench`: the SDK's server against one on bare hyper, which does only what no server
//! can leave out. They run in turns, so that what else the machine does meets both, and every
//! figure is the median of several rounds.

mod measure;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use measure::{Clock, Sample, median};

use crate::Result;
use crate::flags::Flags;
use crate::process::{self, Server, free_port};
use crate::workspace::Workspace;

const LIMIT: &str = "bench-limit";
const SDK: &str = "bench-server";
const LOAD: &str = "bench-load";
const PROFILE: &str = "release";

const WARM_UP_SECONDS: &str = "0.2";
const START_LIMIT: Duration = Duration::from_secs(10);

/// Tools listed beside the three that every server has.
const LISTED: &str = "1000";

/// One load on every server.
#[derive(Debug)]
struct Scenario {
    label: &'static str,
    load: &'static [&'static str],
    listed_tools: &'static str,
    /// Whether the limit runs a second time with its coalescing stream.
    streams: bool,
}

const fn call(label: &'static str, load: &'static [&'static str]) -> Scenario {
    Scenario {
        label,
        load,
        listed_tools: "0",
        streams: false,
    }
}

const SCENARIOS: [Scenario; 6] = [
    call("call, 1 connection", &["call", "--connections", "1"]),
    call("call, 16 connections", &["call", "--connections", "16"]),
    call("call, 64 connections", &["call", "--connections", "64"]),
    Scenario {
        streams: true,
        ..call("progress, 1000 events", &["progress", "--connections", "2"])
    },
    Scenario {
        listed_tools: LISTED,
        ..call(
            "list, 1003 tools",
            &["list", "--connections", "4", "--tools", "1003"],
        )
    },
    call("big, 1 MiB echo", &["big", "--connections", "2"]),
];

/// A server that takes part.
#[derive(Debug)]
struct Candidate {
    label: &'static str,
    binary: &'static str,
    flags: &'static [&'static str],
}

const BARE: Candidate = Candidate {
    label: "limit",
    binary: LIMIT,
    flags: &[],
};
const COALESCED: Candidate = Candidate {
    label: "limit, coalesced",
    binary: LIMIT,
    flags: &["--coalesce"],
};
const MEASURED: Candidate = Candidate {
    label: "mcp",
    binary: SDK,
    flags: &[],
};

/// The command; whether every answer was right.
pub(crate) fn run(workspace: &Workspace, mut flags: Flags) -> Result<bool> {
    let rounds: usize = flags.value("--rounds")?.unwrap_or(5);
    let seconds: f64 = flags.value("--seconds")?.unwrap_or(1.0);
    flags.finish()?;
    if rounds == 0 || !seconds.is_finite() || seconds <= 0.0 {
        return Err("--rounds and --seconds must be more than nothing".into());
    }
    let mut cargo = workspace.cargo();
    process::run(cargo.args(["build", "--release", "--package", "bench", "--bins"]))?;

    let bench = Bench::new(workspace, rounds, seconds)?;
    println!("{}", bench.conditions());
    if !bench.has_sdk {
        println!("{SDK} is not there (package bench has no such binary yet): the limit alone");
    }
    println!("{}", Row::HEADING);
    let mut errors = 0;
    for scenario in &SCENARIOS {
        for row in bench.scenario(scenario)? {
            errors += row.errors;
            println!("{row}");
        }
    }
    Ok(errors == 0)
}

/// What all scenarios share.
struct Bench<'a> {
    workspace: &'a Workspace,
    rounds: usize,
    seconds: f64,
    /// Whether server and generator have a processor each.
    pinned: bool,
    has_sdk: bool,
    clock: Clock,
}

impl<'a> Bench<'a> {
    fn new(workspace: &'a Workspace, rounds: usize, seconds: f64) -> Result<Self> {
        let processors = std::thread::available_parallelism()?.get();
        Ok(Self {
            workspace,
            rounds,
            seconds,
            pinned: processors > 1 && process::available("taskset", &["-c", "0", "true"]),
            has_sdk: workspace.binary(PROFILE, SDK).is_file(),
            clock: Clock::find(),
        })
    }

    fn conditions(&self) -> String {
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

    /// Runs one load on every candidate in turns; a row for each.
    fn scenario(&self, scenario: &Scenario) -> Result<Vec<Row>> {
        let mut candidates = vec![&BARE];
        candidates.extend(scenario.streams.then_some(&COALESCED));
        candidates.extend(self.has_sdk.then_some(&MEASURED));
        let mut running = Vec::new();
        for candidate in candidates {
            let server = self.start(candidate, scenario)?;
            self.load(&server, scenario, WARM_UP_SECONDS)?;
            running.push((candidate, server, Vec::new()));
        }
        for _ in 0..self.rounds {
            for (_, server, samples) in &mut running {
                samples.push(self.load(server, scenario, &self.seconds.to_string())?);
            }
        }
        let mut rows = Vec::new();
        let mut limit = None;
        for (candidate, _, samples) in running {
            let row = Row::of(scenario.label, candidate.label, &samples, limit);
            limit = limit.or(Some(row.rate));
            rows.push(row);
        }
        Ok(rows)
    }

    fn start(&self, candidate: &Candidate, scenario: &Scenario) -> Result<Server> {
        let mut command = self.pinned(0, &self.workspace.binary(PROFILE, candidate.binary));
        command
            .args(["http", &free_port()?.to_string()])
            .args(candidate.flags);
        command.env("NTOOLS", scenario.listed_tools);
        let folder = self.workspace.target().join("bench");
        fs::create_dir_all(&folder)?;
        let log = folder.join(format!("{}-stderr.log", candidate.label.replace(", ", "-")));
        Server::start(&mut command, &log, START_LIMIT)
    }

    /// Loads a server for some time and looks at what its process has used.
    fn load(&self, server: &Server, scenario: &Scenario, seconds: &str) -> Result<Sample> {
        let port = port(server.url())?;
        let mut command = self.pinned(1, &self.workspace.binary(PROFILE, LOAD));
        command
            .arg(port.to_string())
            .args(scenario.load)
            .args(["--seconds", seconds]);
        let before = self.clock.used(server.id());
        let line = process::capture(&mut command)?;
        let after = self.clock.used(server.id());
        let mut sample: Sample = serde_json::from_str(&line)?;
        sample.cpu_us = before.zip(after).map(|(before, after)| {
            (after.saturating_sub(before)).as_secs_f64() * 1e6 / sample.requests as f64
        });
        Ok(sample)
    }

    fn pinned(&self, processor: u8, binary: &Path) -> Command {
        if !self.pinned {
            return Command::new(binary);
        }
        let mut command = Command::new("taskset");
        command.arg("-c").arg(processor.to_string()).arg(binary);
        command
    }
}

fn port(url: &str) -> Result<u16> {
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

/// A line of the table.
#[derive(Debug)]
struct Row {
    scenario: &'static str,
    server: &'static str,
    rate: f64,
    of_limit: f64,
    p50: Option<f64>,
    p99: Option<f64>,
    cpu: Option<f64>,
    /// The size of an answer: rows compare only where their answers do.
    bytes: Option<f64>,
    errors: usize,
    last_error: Option<String>,
}

impl Row {
    const HEADING: &'static str = "\
scenario               server               req/s  of limit    p50 us    p99 us  CPU us/req    bytes  errors";

    fn of(
        scenario: &'static str,
        server: &'static str,
        all: &[Sample],
        limit: Option<f64>,
    ) -> Self {
        let middle =
            |part: fn(&Sample) -> Option<f64>| median(all.iter().filter_map(part).collect());
        let rate = middle(|sample| Some(sample.req_per_s)).unwrap_or(0.0);
        Self {
            scenario,
            server,
            rate,
            of_limit: rate / limit.unwrap_or(rate),
            p50: middle(|sample| sample.p50_us),
            p99: middle(|sample| sample.p99_us),
            cpu: middle(|sample| sample.cpu_us),
            bytes: middle(|sample| Some(sample.bytes as f64 / sample.requests as f64)),
            errors: all.iter().map(|sample| sample.errors).sum(),
            last_error: all
                .iter()
                .rev()
                .find_map(|sample| sample.last_error.clone()),
        }
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.1}"));
        write!(
            f,
            "{:22} {:16} {:9.0} {:9.2} {:>9} {:>9} {:>11} {:>8} {:>7}",
            self.scenario,
            self.server,
            self.rate,
            self.of_limit,
            number(self.p50),
            number(self.p99),
            number(self.cpu),
            self.bytes
                .map_or("-".to_owned(), |bytes| format!("{bytes:.0}")),
            self.errors,
        )?;
        match &self.last_error {
            Some(error) => write!(f, "\n    {error}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, Sample, port};

    #[test]
    fn reads_the_port_of_an_address() {
        assert_eq!(port("http://127.0.0.1:8001/mcp").unwrap(), 8001);
        assert_eq!(port("http://[::1]:8001").unwrap(), 8001);
        assert!(port("http://localhost/mcp").is_err());
    }

    fn sample(json: &str) -> Sample {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_row_has_medians_and_every_error() {
        let good = |rate: u32| {
            sample(&format!(
                r#"{{"requests":10,"bytes":2000,"seconds":1,"req_per_s":{rate},"p50_us":5,"p99_us":9,"errors":0,"last_error":null}}"#
            ))
        };
        let bad = r#"{"requests":0,"bytes":0,"seconds":1,"req_per_s":0,"p50_us":null,"p99_us":null,"errors":3,"last_error":"refused"}"#;
        let row = Row::of(
            "call",
            "mcp",
            &[good(30), good(10), good(20), sample(bad)],
            Some(40.0),
        );
        assert_eq!((row.rate, row.of_limit, row.errors), (15.0, 0.375, 3));
        assert_eq!(
            (row.p50, row.bytes, row.cpu),
            (Some(5.0), Some(200.0), None)
        );
        assert!(row.to_string().contains("refused"));
        assert_eq!(Row::of("call", "limit", &[good(30)], None).of_limit, 1.0);
    }
}
