//! `cargo xtask bench --scale`: one server with very many idle sessions, and one with very many open
//! GET streams. Both still answer calls. It prints the memory of each session and stream, the time
//! of calls meanwhile, and the time and memory until all is given back.

use std::fs;
use std::io::{BufRead, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::measure::{Sample, resident};
use super::runner::{PROFILE, port};
use crate::Result;
use crate::flags::Flags;
use crate::process::{self, ChildGuard, Server, free_port};
use crate::workspace::Workspace;

const SESSIONS: usize = 1_000_000;
const STREAMS: usize = 50_000;
/// Open files that a process needs besides its streams.
const SPARE_FILES: usize = 300;
/// Streams that one load generator holds. Each has a file there, too.
const STREAMS_PER_GENERATOR: usize = 10_000;
/// Connections of a load generator that open sessions at the same time.
const CONNECTIONS: &str = "8";
const START_LIMIT: Duration = Duration::from_secs(10);
/// Time in which a server must give everything back.
const QUIET: Duration = Duration::from_secs(120);
/// Seconds of calls for a measurement.
const CALL_SECONDS: &str = "3";
/// Returns freed memory to the system, so that the resident memory shows what the server holds.
const ALLOCATOR: (&str, &str) = ("MALLOC_TRIM_THRESHOLD_", "65536");

/// Parses the flags and runs both measurements. Returns true if every response was correct and
/// everything was given back.
pub(crate) fn run(workspace: &Workspace, mut flags: Flags) -> Result<bool> {
    let sessions = flags.value("--sessions")?.unwrap_or(SESSIONS);
    let wanted = flags.value("--streams")?.unwrap_or(STREAMS);
    flags.finish()?;
    let mut cargo = workspace.cargo();
    process::run(cargo.args(["build", "--release", "--package", "bench", "--bins"]))?;
    let scale = Scale {
        folder: workspace.target().join("bench"),
        server: workspace.binary(PROFILE, "bench-server"),
        generator: workspace.binary(PROFILE, "bench-load"),
        in_memory: workspace.binary(PROFILE, "bench-streams"),
    };
    fs::create_dir_all(&scale.folder)?;
    let limit = open_files()?;
    let streams = wanted.min(limit.saturating_sub(SPARE_FILES));
    if streams < wanted {
        println!(
            "{streams} streams instead of {wanted}: this system allows a process {limit} open files \
             (raise the hard limit, `ulimit -Hn`). The row `memory` has {wanted}, whose connections are in memory."
        );
    }
    println!("{}", ScaleOutcome::HEADING);
    let mut outcomes = Vec::new();
    for (what, count, each) in [
        ("session", sessions, sessions),
        ("stream", streams, STREAMS_PER_GENERATOR),
    ] {
        if count > 0 {
            let outcome = scale.measure(what, count, each)?;
            println!("{outcome}");
            outcomes.push(outcome);
        }
    }
    if streams < wanted {
        let outcome = scale.measure_in_memory(wanted)?;
        println!("{outcome}");
        outcomes.push(outcome);
    }
    let report: Vec<Value> = outcomes.iter().map(ScaleOutcome::to_json).collect();
    let file = scale.folder.join("scale.json");
    fs::write(&file, format!("{:#}\n", json!(report)))?;
    println!("written to {}", file.display());
    let faults: Vec<&String> = outcomes.iter().flat_map(|it| &it.faults).collect();
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    Ok(faults.is_empty())
}

/// Returns the number of files that a process may open at most.
fn open_files() -> Result<usize> {
    let limit = process::capture(Command::new("sh").args(["-c", "ulimit -Hn"]))?;
    match limit.trim() {
        "unlimited" => Ok(usize::MAX),
        number => Ok(number.parse()?),
    }
}

/// Returns a command that runs `program` with the highest limit of open files.
fn with_many_files(program: &std::path::Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n $(ulimit -Hn); exec \"$0\" \"$@\""]);
    command.arg(program);
    command
}

struct Scale {
    folder: PathBuf,
    server: PathBuf,
    generator: PathBuf,
    /// A server and its clients in one process, without sockets.
    in_memory: PathBuf,
}

/// A load generator that holds sessions or streams until its standard input is closed.
struct Holder {
    process: ChildGuard,
    output: BufReader<ChildStdout>,
}

impl Scale {
    /// Opens `count` sessions, or sessions with streams, of which each generator holds `each`.
    fn measure(&self, what: &'static str, count: usize, each: usize) -> Result<ScaleOutcome> {
        let mut command = with_many_files(&self.server);
        command.args(["http", &free_port()?.to_string(), "--many"]);
        command.env(ALLOCATOR.0, ALLOCATOR.1);
        let log = self.folder.join(format!("scale-{what}.log"));
        let mut server = Server::start(&mut command, &log, START_LIMIT)?;
        let port = port(server.url())?.to_string();
        self.calls(&port)?;
        let alone = self.calls(&port)?;
        let before = resident(server.id())?;
        let files_before = files(server.id())?;

        let start = Instant::now();
        let mut holders = Vec::new();
        let mut rest = count;
        while rest > 0 {
            let part = rest.min(each);
            holders.push(self.hold(&port, what, part)?);
            rest -= part;
        }
        let opened = start.elapsed();
        let held = resident(server.id())?;
        let meanwhile = self.calls(&port)?;

        let mut faults = Vec::new();
        let start = Instant::now();
        let mut held_count = 0;
        for holder in holders {
            let sample = holder.close()?;
            held_count += sample.requests;
            faults.extend(sample.last_error.map(|error| format!("{what}: {error}")));
        }
        while start.elapsed() < QUIET && files(server.id())? > files_before {
            std::thread::sleep(Duration::from_millis(50));
        }
        let given_back = start.elapsed();
        let after_calls = self.calls(&port)?;
        let after = resident(server.id())?;
        if held_count != count {
            faults.push(format!("{held_count} {what}s of {count} were opened"));
        }
        for calls in [&alone, &meanwhile, &after_calls] {
            let error = calls.last_error.as_ref();
            faults.extend(error.map(|error| format!("calls beside {what}s: {error}")));
        }
        if files(server.id())? > files_before || !server.is_running() {
            faults.push(format!("{what}s were not given back within {QUIET:?}"));
        }
        Ok(ScaleOutcome {
            what,
            count,
            opened,
            bytes_each: held.saturating_sub(before) as f64 / count as f64,
            p99_alone: alone.p99_us,
            p99_meanwhile: meanwhile.p99_us,
            given_back,
            left_bytes: after.saturating_sub(before),
            faults,
        })
    }

    /// Opens `count` streams in one process, whose connections are in memory.
    fn measure_in_memory(&self, count: usize) -> Result<ScaleOutcome> {
        let mut command = Command::new(&self.in_memory);
        command.arg(count.to_string()).env(ALLOCATOR.0, ALLOCATOR.1);
        let report: InMemoryReport = serde_json::from_str(&process::capture(&mut command)?)?;
        Ok(ScaleOutcome {
            what: "memory",
            count: report.count,
            opened: Duration::from_secs_f64(report.opened_s),
            bytes_each: report.bytes_each,
            p99_alone: Some(report.p99_alone_us),
            p99_meanwhile: Some(report.p99_meanwhile_us),
            given_back: Duration::from_secs_f64(report.given_back_s),
            left_bytes: report.left_bytes.try_into().unwrap_or_default(),
            faults: Vec::new(),
        })
    }

    fn hold(&self, port: &str, what: &str, count: usize) -> Result<Holder> {
        let mut command = with_many_files(&self.generator);
        command
            .args([port, "sessions", "--count", &count.to_string()])
            .args(["--connections", CONNECTIONS])
            .args((what == "stream").then_some("--streams"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = ChildGuard::spawn(&mut command)?;
        let mut output = BufReader::new(process.0.stdout.take().ok_or("no output")?);
        // The line `holding`.
        output.read_line(&mut String::new())?;
        Ok(Holder { process, output })
    }

    /// Measures calls of the modern era.
    fn calls(&self, port: &str) -> Result<Sample> {
        let mut command = Command::new(&self.generator);
        command.args([port, "call", "--seconds", CALL_SECONDS]);
        Ok(serde_json::from_str(&process::capture(&mut command)?)?)
    }
}

/// The output of `bench-streams`, which fails if a response is wrong or a stream is left.
#[derive(Deserialize)]
struct InMemoryReport {
    count: usize,
    opened_s: f64,
    bytes_each: f64,
    p99_alone_us: f64,
    p99_meanwhile_us: f64,
    given_back_s: f64,
    /// Bytes of the heap. Negative if more was freed than the streams had taken.
    left_bytes: i64,
}

impl Holder {
    fn close(mut self) -> Result<Sample> {
        drop(self.process.0.stdin.take());
        let mut text = String::new();
        self.output.read_to_string(&mut text)?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// Returns the number of open files of a process.
fn files(process: u32) -> Result<usize> {
    Ok(fs::read_dir(format!("/proc/{process}/fd"))?.count())
}

/// The result of a measurement.
struct ScaleOutcome {
    what: &'static str,
    count: usize,
    opened: Duration,
    bytes_each: f64,
    p99_alone: Option<f64>,
    p99_meanwhile: Option<f64>,
    given_back: Duration,
    left_bytes: u64,
    faults: Vec<String>,
}

impl ScaleOutcome {
    const HEADING: &'static str = "             count   opened in  bytes each  p99 alone  p99 meanwhile  given back in     left";

    fn to_json(&self) -> Value {
        json!({
            "what": self.what,
            "count": self.count,
            "opened_s": self.opened.as_secs_f64(),
            "bytes_each": self.bytes_each,
            "p99_alone_us": self.p99_alone,
            "p99_meanwhile_us": self.p99_meanwhile,
            "given_back_s": self.given_back.as_secs_f64(),
            "left_bytes": self.left_bytes,
            "faults": self.faults,
        })
    }
}

impl std::fmt::Display for ScaleOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:8} {:9} {:9.1} s {:11.0} {:7.0} us {:11.0} us {:12.1} s {:5} kB",
            self.what,
            self.count,
            self.opened.as_secs_f64(),
            self.bytes_each,
            self.p99_alone.unwrap_or(f64::NAN),
            self.p99_meanwhile.unwrap_or(f64::NAN),
            self.given_back.as_secs_f64(),
            self.left_bytes / 1024,
        )
    }
}
