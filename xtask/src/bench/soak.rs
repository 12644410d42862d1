//! `cargo xtask bench --soak [SECONDS]`: servers and a client under a mixed load with faults, while
//! their memory, open files, threads and tasks are sampled. A leak makes them grow.
//!
//! | process | load |
//! |---|---|
//! | `server` | both eras over HTTP: calls, streams, cancellation, slow readers, aborted bodies; one of a hundred actions is cut at a random point |
//! | `store fails` | the same, with session and event stores of which every 50th operation fails |
//! | `client` | the client of the SDK in both eras, over HTTP and with child processes that die |
//! | `pipe modern`, `pipe legacy` | calls over a pipe |
//! | `mcp gateway`, `gateway` | servers that misbehave and clients that vanish; see [`gateway`] |

mod gateway;
mod reading;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use reading::{ALLOCATOR, PRINTED, READINGS, RESOURCES, Reading, START_LIMIT, judge, sample};
use serde_json::{Value, json};

use super::measure::Sample;
use super::runner::{PROFILE, port};
use super::scenario::SERVER_PROGRAM;
use crate::process::{self, ChildGuard, Server, free_port};
use crate::result::Result;
use crate::workspace::Workspace;

/// Duration in continuous integration, in seconds.
pub(crate) const SHORT: f64 = 20.0;

/// Calls that are pending on a pipe.
const OUTSTANDING: &str = "4";
/// Time after the load until abandoned sessions and their files must be gone. Sessions of the server
/// expire after three seconds.
const QUIET: Duration = Duration::from_secs(15);
/// Makes the programs print their number of tasks.
const REPORT_TASKS: (&str, &str) = ("REPORT_TASKS", "1");
/// Additional open files and tasks after the load that are no leak.
const SPARE: u64 = 2;

/// Builds the programs and runs the soak. Returns true if nothing leaks and the servers still respond.
pub(crate) fn command(
    workspace: &Workspace,
    seconds: f64,
    release: bool,
    gateway_only: bool,
) -> Result<bool> {
    if !(5.0..=1e6).contains(&seconds) {
        return Err("--soak needs 5 to 1000000 seconds".into());
    }
    let profile = if release { PROFILE } else { "debug" };
    let mut cargo = workspace.cargo("build --package bench --package omnimcp-cli --bins");
    process::run(cargo.args(release.then_some("--release")))?;
    if gateway_only {
        gateway::run(workspace, seconds, profile)
    } else {
        run(workspace, seconds, profile)
    }
}

/// The programs and the folder of a soak.
struct Soak {
    folder: PathBuf,
    server: PathBuf,
    generator: PathBuf,
    client: PathBuf,
    seconds: f64,
    start: Instant,
}

/// A measured process, and the program that loads it.
struct Measured {
    name: &'static str,
    /// The process id; 0 without `/proc`.
    id: u32,
    /// Prints a [`Sample`] at its end.
    load: ChildGuard,
    /// The reading before the load, of a process that outlives it.
    before: Option<Reading>,
    readings: Vec<Reading>,
}

/// Runs the soak with the programs of a profile, which must be built. Returns true if nothing leaks
/// and the servers still respond.
pub(crate) fn run(workspace: &Workspace, seconds: f64, profile: &str) -> Result<bool> {
    std::thread::scope(|scope| {
        // An error cannot cross threads.
        let gateways =
            || gateway::run(workspace, seconds, profile).map_err(|error| error.to_string());
        let gateways = scope.spawn(gateways);
        let is_stable = run_servers(workspace, seconds, profile)?;
        let gateways = gateways
            .join()
            .map_err(|_| "the soak of gateways panicked")?;
        Ok(gateways? && is_stable)
    })
}

fn run_servers(workspace: &Workspace, seconds: f64, profile: &str) -> Result<bool> {
    let soak = Soak {
        folder: workspace.target().join("bench"),
        server: workspace.binary(profile, SERVER_PROGRAM),
        generator: workspace.binary(profile, "bench-load"),
        client: workspace.binary(profile, "bench-soak-client"),
        seconds,
        start: Instant::now(),
    };
    fs::create_dir_all(&soak.folder)?;
    let (mut server, faulty) = (
        soak.serve("server", None)?,
        soak.serve("store fails", Some("--faulty"))?,
    );
    let mut measured = vec![
        soak.over_http("server", &server, "16", None)?,
        soak.over_http("store fails", &faulty, "8", Some("--store-fails"))?,
        soak.client(&server)?,
        soak.over_pipe("pipe modern", "modern")?,
        soak.over_pipe("pipe legacy", "session")?,
    ];
    println!("{}", Reading::HEADING);
    soak.read(&mut measured)?;
    let mut faults = Vec::new();
    let mut report = Vec::new();
    for process in &mut measured {
        report.push(soak.finish(process, &mut faults)?);
    }
    // The server with the faulty store may fail these calls.
    let responds = soak.check_response(&mut server).err();
    faults.extend(responds.map(|error| error.to_string()));
    if measured.iter().all(|process| process.readings.is_empty()) {
        println!("this system has no /proc: only the responses were checked");
    }
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    let resources = RESOURCES.map(|(name, _)| name);
    let report = json!({
        "seconds": seconds, "resources": resources, "processes": report, "faults": faults,
    });
    let file = soak.folder.join("soak.json");
    fs::write(&file, format!("{report:#}\n"))?;
    println!("{seconds} s; written to {}", file.display());
    Ok(faults.is_empty())
}

impl Soak {
    fn log(&self, name: &str) -> PathBuf {
        let name = name.replace(' ', "-");
        self.folder.join(format!("soak-{name}.log"))
    }

    fn serve(&self, name: &str, flag: Option<&str>) -> Result<Server> {
        let mut server = Command::new(&self.server);
        server
            .args(["http", &free_port()?.to_string(), "--short"])
            .args(flag)
            .env("NTOOLS", "100")
            .envs([REPORT_TASKS])
            .envs(ALLOCATOR);
        Server::start(&mut server, &self.log(name), START_LIMIT)
    }

    /// Starts the load of a server, which outlives it.
    fn over_http(
        &self,
        name: &'static str,
        server: &Server,
        connections: &str,
        flag: Option<&str>,
    ) -> Result<Measured> {
        let mut load = Command::new(&self.generator);
        load.args([&port(server.url())?.to_string(), "soak"])
            .args(["--connections", connections, "--seconds"])
            .arg(self.seconds.to_string())
            .args(flag);
        let before = Reading::take(server.id(), &self.log(name), self.start);
        let measured = spawn(name, &mut load, Some(server.id()))?;
        Ok(Measured { before, ..measured })
    }

    /// Starts the client, which is its own load.
    fn client(&self, server: &Server) -> Result<Measured> {
        let mut client = Command::new(&self.client);
        client
            .args([server.url(), &self.seconds.to_string()])
            .arg(&self.server)
            .stderr(fs::File::create(self.log("client"))?)
            .envs(ALLOCATOR);
        spawn("client", &mut client, None)
    }

    /// Starts a load that starts its server.
    fn over_pipe(&self, name: &'static str, era: &str) -> Result<Measured> {
        let mut load = Command::new(&self.generator);
        load.args(["pipe", "--era", era, "--outstanding", OUTSTANDING])
            .args(["--seconds", &self.seconds.to_string(), "--"])
            .arg(&self.server)
            .arg("stdio")
            .stderr(fs::File::create(self.log(name))?)
            .envs([REPORT_TASKS])
            .envs(ALLOCATOR);
        let measured = spawn(name, &mut load, None)?;
        let id = child_of(measured.id).map_err(|error| format!("{name}: {error}"))?;
        Ok(Measured { id, ..measured })
    }

    /// Samples the processes until their loads have ended.
    fn read(&self, measured: &mut [Measured]) -> Result<()> {
        let every = Duration::from_secs_f64((self.seconds / READINGS).max(0.25));
        let limit = self.seconds + 60.0;
        for round in 0.. {
            std::thread::sleep(every);
            let mut is_running = false;
            for process in &mut *measured {
                is_running |= process.load.0.try_wait()?.is_none();
                // Readings after the end of the load are not part of the verdict.
                if let Some(reading) = self.reading(process)
                    && reading.seconds < self.seconds
                {
                    process.readings.push(reading);
                    if round % PRINTED == 0 {
                        println!("{reading}  {}", process.name);
                    }
                }
            }
            if !is_running || self.start.elapsed().as_secs_f64() > limit {
                break;
            }
        }
        Ok(())
    }

    fn reading(&self, process: &Measured) -> Option<Reading> {
        Reading::take(process.id, &self.log(process.name), self.start)
    }

    /// Adds the faults of a process: growth, wrong responses, and what is left after the load. Returns the
    /// report about it.
    fn finish(&self, process: &mut Measured, faults: &mut Vec<String>) -> Result<Value> {
        let name = process.name;
        let sample = sample(&mut process.load).map_err(|error| format!("{name}: {error}"))?;
        let Sample {
            requests, errors, ..
        } = sample;
        println!("{name}: {requests} responses and streams");
        let mut found = judge(&process.readings);
        if errors > 0 {
            let last = sample.last_error.unwrap_or_default();
            found.push(format!("{errors} wrong responses, the last one: {last}"));
        }
        if requests == 0 {
            found.push("no response".to_owned());
        }
        if let Some(before) = process.before {
            let [_, files, _, tasks, _] = before.values.map(|value| value + SPARE);
            match self.settle(process, files, tasks) {
                Some(after) => {
                    println!("{after}  {name} (the load has ended)");
                    let [_, now_files, _, now_tasks, _] = after.values;
                    if now_files > files || now_tasks > tasks {
                        found.push(format!(
                            "{now_files} files and {now_tasks} tasks after the load, at most {files} \
                             and {tasks} are expected"
                        ));
                    }
                }
                None => found.push("the process has ended".to_owned()),
            }
        }
        faults.extend(found.iter().map(|fault| format!("{name}: {fault}")));
        let readings = &process.readings;
        Ok(json!({"name": name, "requests": requests, "errors": errors, "readings": readings}))
    }

    /// Waits until at most `files` files are open and `tasks` tasks run. Returns the last reading.
    fn settle(&self, process: &Measured, files: u64, tasks: u64) -> Option<Reading> {
        let end = Instant::now() + QUIET;
        loop {
            let reading = self.reading(process)?;
            let [_, now_files, _, now_tasks, _] = reading.values;
            if (now_files <= files && now_tasks <= tasks) || Instant::now() > end {
                return Some(reading);
            }
            std::thread::sleep(Duration::from_millis(250));
        }
    }

    /// Checks that the server runs and responds correctly after the load.
    fn check_response(&self, server: &mut Server) -> Result<()> {
        if !server.is_running() {
            return Err("the server has ended".into());
        }
        let mut calls = Command::new(&self.generator);
        let port = port(server.url())?.to_string();
        calls.args([&port, "call", "--era", "session", "--seconds", "0.5"]);
        let sample: Sample = serde_json::from_str(&process::capture(&mut calls)?)?;
        match sample.last_error {
            None if sample.requests > 0 => Ok(()),
            error => {
                let error = error.unwrap_or("no response".to_owned());
                Err(format!("after the load: {error}").into())
            }
        }
    }
}

/// Starts a load. Without the id of a loaded process, the load itself is measured.
fn spawn(name: &'static str, load: &mut Command, id: Option<u32>) -> Result<Measured> {
    let load = ChildGuard::spawn(load.stdout(Stdio::piped()))?;
    Ok(Measured {
        name,
        id: id.unwrap_or(load.0.id()),
        load,
        before: None,
        readings: Vec::new(),
    })
}

/// Waits for the child process of a process. Returns its id, or 0 without `/proc`.
fn child_of(parent: u32) -> Result<u32> {
    let children = format!("/proc/{parent}/task/{parent}/children");
    if !Path::new(&children).exists() {
        return Ok(0);
    }
    let end = Instant::now() + Duration::from_secs(5);
    while Instant::now() < end {
        if let Some(id) = fs::read_to_string(&children)?.split_whitespace().next() {
            return Ok(id.parse()?);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err("no server was started".into())
}
