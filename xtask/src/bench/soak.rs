//! `cargo xtask bench --soak [SECONDS]`: one server under a mixed load, while its memory, open files
//! and threads are sampled. A leak makes them grow.

mod verdict;

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use verdict::{Reading, judge};

use super::measure::Sample;
use super::runner::{PROFILE, port};
use crate::Result;
use crate::flags::Flags;
use crate::process::{self, ChildGuard, Server, free_port};
use crate::workspace::Workspace;

const SECONDS: f64 = 600.0;
/// Duration in continuous integration, in seconds.
pub(crate) const SHORT: f64 = 20.0;

const CONNECTIONS: &str = "16";
/// Number of readings in the table.
const READINGS: f64 = 60.0;
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
/// Additional open files after the load that are no leak.
const SPARE_FILES: usize = 2;

/// Parses the flags and runs the soak. Returns true if nothing leaks and the server still responds.
pub(crate) fn command(workspace: &Workspace, seconds: &str, mut flags: Flags) -> Result<bool> {
    let release = flags.switch("--release");
    flags.finish()?;
    let seconds = match seconds {
        "" => SECONDS,
        text => text
            .parse()
            .map_err(|error| format!("--soak {text}: {error}"))?,
    };
    if !(5.0..=1e6).contains(&seconds) {
        return Err("--soak needs 5 to 1000000 seconds".into());
    }
    build_and_run(workspace, seconds, release)
}

/// Builds the programs and runs the soak.
fn build_and_run(workspace: &Workspace, seconds: f64, release: bool) -> Result<bool> {
    let profile = if release { PROFILE } else { "debug" };
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package", "bench", "--bins"]);
    process::run(cargo.args(release.then_some("--release")))?;
    run(workspace, seconds, profile)
}

/// Runs the soak with the programs of a profile, which must be built. Returns true if nothing leaks
/// and the server still responds.
pub(crate) fn run(workspace: &Workspace, seconds: f64, profile: &str) -> Result<bool> {
    let folder = workspace.target().join("bench");
    fs::create_dir_all(&folder)?;
    let mut command = std::process::Command::new(workspace.binary(profile, "bench-server"));
    command
        .args(["http", &free_port()?.to_string(), "--short"])
        .env("NTOOLS", "100")
        .envs(ALLOCATOR);
    let mut server = Server::start(&mut command, &folder.join("soak-stderr.log"), START_LIMIT)?;
    let port = port(server.url())?.to_string();
    let generator = workspace.binary(profile, "bench-load");

    println!("{}", Reading::HEADING);
    let start = Instant::now();
    let before = Reading::take(server.id(), start);
    let mut load = std::process::Command::new(&generator);
    load.args([&port, "soak", "--connections", CONNECTIONS])
        .args(["--seconds", &seconds.to_string()])
        .stdout(Stdio::piped());
    let mut load = ChildGuard::spawn(&mut load)?;
    let every = Duration::from_secs_f64((seconds / READINGS).max(0.25));
    let mut readings = Vec::new();
    while load.0.try_wait()?.is_none() && start.elapsed().as_secs_f64() < seconds + 60.0 {
        std::thread::sleep(every);
        // Readings after the end of the load are not part of the verdict.
        if let Some(reading) = Reading::take(server.id(), start)
            && reading.seconds < seconds
        {
            println!("{reading}");
            readings.push(reading);
        }
    }
    let done = summary(&mut load)?;
    let quiet = before.and_then(|before| settle(server.id(), start, before.files + SPARE_FILES));

    let mut faults = judge(&readings);
    if done.errors > 0 {
        let last = done.last_error.unwrap_or_default();
        faults.push(format!(
            "{} wrong responses, the last one: {last}",
            done.errors
        ));
    }
    if let (Some(before), Some(quiet)) = (before, quiet) {
        println!("{quiet}   (the load has ended)");
        if quiet.files > before.files + SPARE_FILES {
            let (now, then) = (quiet.files, before.files);
            faults.push(format!(
                "{now} files are open after the load, {then} before it"
            ));
        }
    }
    faults.extend(
        check_response(&generator, &port, &mut server)
            .err()
            .map(|error| error.to_string()),
    );
    if readings.is_empty() {
        println!("this system has no /proc: only the responses were checked");
    }
    println!("{} responses and streams in {seconds} s", done.requests);
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    let report = json!({
        "seconds": seconds,
        "requests": done.requests,
        "errors": done.errors,
        "readings": readings.iter().copied().map(Reading::to_json).collect::<Vec<_>>(),
        "faults": faults,
    });
    let file = folder.join("soak.json");
    fs::write(&file, format!("{report:#}\n"))?;
    println!("written to {}", file.display());
    Ok(faults.is_empty())
}

/// Parses the output of the load generator.
fn summary(load: &mut ChildGuard) -> Result<Sample> {
    let output = load.0.stdout.take().ok_or("no output")?;
    if load.0.try_wait()?.is_none() {
        return Err("the load generator did not end".into());
    }
    Ok(serde_json::from_reader(output)?)
}

/// Waits until at most `files` files are open, for up to [`QUIET`]. Returns the last reading.
fn settle(server: u32, start: Instant, files: usize) -> Option<Reading> {
    let end = Instant::now() + QUIET;
    loop {
        let reading = Reading::take(server, start)?;
        if reading.files <= files || Instant::now() > end {
            return Some(reading);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Checks that the server runs and responds correctly after the load.
fn check_response(generator: &std::path::Path, port: &str, server: &mut Server) -> Result<()> {
    if !server.is_running() {
        return Err("the server has ended".into());
    }
    let mut calls = std::process::Command::new(generator);
    calls.args([port, "call", "--era", "session", "--seconds", "0.5"]);
    let sample: Sample = serde_json::from_str(&process::capture(&mut calls)?)?;
    match sample.last_error {
        None if sample.requests > 0 => Ok(()),
        error => Err(format!(
            "after the load: {}",
            error.unwrap_or("no response".to_owned())
        )
        .into()),
    }
}
