//! `cargo xtask bench --soak [SECONDS]`: servers and a client under a mixed load with faults, while
//! their memory, open files, threads and tasks are sampled. A leak makes them grow.
//!
//! | process | load |
//! |---|---|
//! | `server` | both eras over HTTP: calls, streams, cancellation, slow readers, aborted bodies; one of a hundred actions is cut at a random point |
//! | `store fails` | the same, with session and event stores of which every 50th operation fails |
//! | `client` | the client of the SDK in both eras, over HTTP and with child processes that die |
//! | `pipe modern`, `pipe legacy` | calls over a pipe |

mod process;
mod verdict;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use process::{LoadProcess, Measured};
use serde_json::json;
use verdict::Reading;

use super::measure::Sample;
use super::runner::{PROFILE, port};
use crate::Result;
use crate::process::{self as child, ChildGuard, Server, free_port};
use crate::workspace::Workspace;

/// Duration in continuous integration, in seconds.
pub(crate) const SHORT: f64 = 20.0;

/// Connections of the load on each server.
const CONNECTIONS: [&str; 2] = ["16", "8"];
/// Calls that are pending on a pipe.
const OUTSTANDING: &str = "4";
/// Readings that are taken from each process.
const READINGS: f64 = 60.0;
/// One of so many readings is printed.
const PRINTED: usize = 10;
const START_LIMIT: Duration = Duration::from_secs(10);
/// Time after the load until abandoned sessions and their files must be gone. Sessions of the server
/// expire after three seconds.
const QUIET: Duration = Duration::from_secs(15);
/// glibc settings that return freed memory at once. By default it raises its thresholds after the
/// first large messages and keeps freed memory, which would hide the memory of the server.
const ALLOCATOR: [(&str, &str); 2] = [
    ("MALLOC_MMAP_THRESHOLD_", "65536"),
    ("MALLOC_TRIM_THRESHOLD_", "65536"),
];
/// Makes the programs print their number of tasks.
const REPORT_TASKS: (&str, &str) = ("REPORT_TASKS", "1");
/// Additional open files and tasks after the load that are no leak.
const SPARE: usize = 2;

/// Builds the programs and runs the soak. Returns true if nothing leaks and the servers still respond.
pub(crate) fn command(workspace: &Workspace, seconds: f64, release: bool) -> Result<bool> {
    if !(5.0..=1e6).contains(&seconds) {
        return Err("--soak needs 5 to 1000000 seconds".into());
    }
    let profile = if release { PROFILE } else { "debug" };
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package", "bench", "--bins"]);
    child::run(cargo.args(release.then_some("--release")))?;
    run(workspace, seconds, profile)
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

/// Runs the soak with the programs of a profile, which must be built. Returns true if nothing leaks
/// and the servers still respond.
pub(crate) fn run(workspace: &Workspace, seconds: f64, profile: &str) -> Result<bool> {
    let soak = Soak {
        folder: workspace.target().join("bench"),
        server: workspace.binary(profile, "bench-server"),
        generator: workspace.binary(profile, "bench-load"),
        client: workspace.binary(profile, "bench-soak-client"),
        seconds,
        start: Instant::now(),
    };
    fs::create_dir_all(&soak.folder)?;
    let mut servers = [
        soak.serve("server", &[])?,
        soak.serve("store fails", &["--faulty"])?,
    ];
    let mut measured = Vec::new();
    for ((name, server), connections) in servers.iter().zip(CONNECTIONS) {
        let load = soak.http_load(server, connections, *name == "store fails")?;
        measured.push(Measured::server(
            name,
            server.id(),
            soak.log(name),
            load,
            soak.start,
        ));
    }
    let load = soak.client_load(&servers[0].1)?;
    measured.push(Measured::client("client", soak.log("client"), load));
    for (name, era) in [("pipe modern", "modern"), ("pipe legacy", "session")] {
        let load = soak.pipe_load(name, era)?;
        measured.push(Measured::child_of(
            "pipe server",
            name,
            soak.log(name),
            load,
        )?);
    }

    println!("{}", Reading::HEADING);
    soak.read(&mut measured)?;
    let mut faults = Vec::new();
    let mut report = Vec::new();
    for process in &mut measured {
        let sample = process.finish(soak.start, QUIET, SPARE, &mut faults)?;
        println!(
            "{}: {} responses and streams",
            process.name, sample.requests
        );
        report.push(process.to_json(&sample));
    }
    // The server with the faulty store may fail these calls.
    let (_, server) = &mut servers[0];
    let responds = soak.check_response(server).err();
    faults.extend(responds.map(|error| error.to_string()));
    if measured.iter().all(Measured::has_no_reading) {
        println!("this system has no /proc: only the responses were checked");
    }
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    let report = json!({"seconds": seconds, "processes": report, "faults": faults});
    let file = soak.folder.join("soak.json");
    fs::write(&file, format!("{report:#}\n"))?;
    println!("{seconds} s; written to {}", file.display());
    Ok(faults.is_empty())
}

impl Soak {
    fn log(&self, name: &str) -> PathBuf {
        self.folder
            .join(format!("soak-{}.log", name.replace(' ', "-")))
    }

    fn serve(&self, name: &'static str, flags: &[&str]) -> Result<(&'static str, Server)> {
        let mut command = Command::new(&self.server);
        command
            .args(["http", &free_port()?.to_string(), "--short"])
            .args(flags)
            .env("NTOOLS", "100")
            .envs([REPORT_TASKS])
            .envs(ALLOCATOR);
        Ok((
            name,
            Server::start(&mut command, &self.log(name), START_LIMIT)?,
        ))
    }

    fn http_load(
        &self,
        server: &Server,
        connections: &str,
        store_fails: bool,
    ) -> Result<LoadProcess> {
        let mut load = Command::new(&self.generator);
        load.args([&port(server.url())?.to_string(), "soak"])
            .args(["--connections", connections])
            .args(["--seconds", &self.seconds.to_string()])
            .args(store_fails.then_some("--store-fails"));
        spawn(load)
    }

    fn client_load(&self, server: &Server) -> Result<LoadProcess> {
        let mut load = Command::new(&self.client);
        load.args([server.url(), &self.seconds.to_string()])
            .arg(&self.server)
            .stderr(fs::File::create(self.log("client"))?)
            .envs(ALLOCATOR);
        spawn(load)
    }

    fn pipe_load(&self, name: &str, era: &str) -> Result<LoadProcess> {
        let mut load = Command::new(&self.generator);
        load.args(["pipe", "--era", era, "--outstanding", OUTSTANDING])
            .args(["--seconds", &self.seconds.to_string(), "--"])
            .arg(&self.server)
            .arg("stdio")
            .stderr(fs::File::create(self.log(name))?)
            .envs([REPORT_TASKS])
            .envs(ALLOCATOR);
        spawn(load)
    }

    /// Samples the processes until their loads have ended.
    fn read(&self, measured: &mut [Measured]) -> Result<()> {
        let every = Duration::from_secs_f64((self.seconds / READINGS).max(0.25));
        let limit = self.seconds + 60.0;
        for round in 0.. {
            std::thread::sleep(every);
            let mut is_running = false;
            for process in &mut *measured {
                is_running |= process.is_loaded()?;
                // Readings after the end of the load are not part of the verdict.
                if let Some(reading) = process.read(self.start)
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

    /// Checks that the server runs and responds correctly after the load.
    fn check_response(&self, server: &mut Server) -> Result<()> {
        if !server.is_running() {
            return Err("the server has ended".into());
        }
        let mut calls = Command::new(&self.generator);
        let port = port(server.url())?.to_string();
        calls.args([&port, "call", "--era", "session", "--seconds", "0.5"]);
        let sample: Sample = serde_json::from_str(&child::capture(&mut calls)?)?;
        match sample.last_error {
            None if sample.requests > 0 => Ok(()),
            error => Err(format!(
                "after the load: {}",
                error.unwrap_or("no response".to_owned())
            )
            .into()),
        }
    }
}

fn spawn(mut load: Command) -> Result<LoadProcess> {
    Ok(LoadProcess(ChildGuard::spawn(load.stdout(Stdio::piped()))?))
}
