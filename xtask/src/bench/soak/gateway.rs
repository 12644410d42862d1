//! Gateways in front of servers that misbehave: their lists change all the time, they die, never answer, send garbage, ask
//! questions that nobody answers. Clients of both eras vanish in the middle of calls, streams and questions. What the gateways
//! hold must not grow, and no process may be left when they have ended.
//!
//! | gateway | settings |
//! |---|---|
//! | `mcp gateway` | the command with search, pins, stored lists and an audit log; a session that its client abandons lives 30 minutes |
//! | `gateway` | the library; such a session lives three seconds, and its tasks are counted |

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::reading::{
    ALLOCATOR, PRINTED, READINGS, RESOURCES, Reading, START_LIMIT, judge, sample,
};
use crate::process::{ChildGuard, Server};
use crate::result::Result;
use crate::workspace::Workspace;

/// The program with the servers, the clients, and a gateway.
const PROGRAM: &str = "bench-soak-gateway";
/// The kinds of servers.
const SERVERS: &str = "healthy changing dying silent mute garbage asking roots slow modern";
/// From this duration on, growth is a fault: gateways keep idle sessions of servers for five minutes.
const STRICT: f64 = 1500.0;
/// Seconds of load before the first pause in a strict run, and the length of each pause.
const REST: (f64, f64) = (120.0, 340.0);
/// Times of a short run.
const SHORT_REST: (f64, f64) = (3.0, 3.0);
/// Most resources that a gateway may ever use here, for short runs: 300 MB, 1,000 open files, and so on.
const MOST: [u64; 5] = [300_000_000, 1000, 100, 3000, 500];
/// Additional memory, files, threads, tasks and processes in the second pause that are no leak.
const SPARE: [u64; 5] = [4_000_000, 8, 8, 16, 8];
/// Largest size of lists and pins.
const MOST_STORED: u64 = 64 << 20;
/// Time after the end of a gateway until its servers must have ended.
const END: Duration = Duration::from_secs(10);

/// A measured gateway.
struct Gateway {
    name: &'static str,
    server: Server,
    folder: PathBuf,
    log: PathBuf,
    is_search: bool,
    readings: Vec<Reading>,
}

/// Runs both gateways. Returns true if they are stable.
pub(super) fn run(workspace: &Workspace, seconds: f64, profile: &str) -> Result<bool> {
    let start = Instant::now();
    let folder = workspace.target().join("bench/gateways");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let program = workspace.binary(profile, PROGRAM);
    let mcp = workspace.binary(profile, "mcp");
    let mut gateways = [
        command(&mcp, &program, &folder.join("command"))?,
        library(&program, &folder.join("library"))?,
    ];
    let (warm_up, pause) = if seconds < STRICT { SHORT_REST } else { REST };
    let mut faults = Vec::new();
    let mut report = Vec::new();
    println!("{}", Reading::HEADING);
    load(&program, &mut gateways, warm_up, start, &mut faults)?;
    let before = rest(&gateways, pause, start);
    for gateway in &mut gateways {
        gateway.readings.clear();
    }
    let requests = load(&program, &mut gateways, seconds, start, &mut faults)?;
    let after = rest(&gateways, pause, start);
    for (index, gateway) in gateways.into_iter().enumerate() {
        let found = gateway.judge(before[index], after[index], seconds >= STRICT);
        let name = gateway.name;
        report.push(json!({
            "name": name, "requests": requests[index], "before": before[index], "after": after[index],
            "stored": stored(&gateway.folder), "readings": gateway.readings,
        }));
        faults.extend(found.iter().map(|fault| format!("{name}: {fault}")));
        faults.extend(gateway.end().map(|fault| format!("{name}: {fault}")));
    }
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    write_report(&folder, seconds, &report, &faults)?;
    Ok(faults.is_empty())
}

fn write_report(folder: &Path, seconds: f64, report: &[Value], faults: &[String]) -> Result<()> {
    let resources = RESOURCES.map(|(name, _)| name);
    let report = json!({
        "seconds": seconds, "resources": resources, "gateways": report, "faults": faults,
    });
    let file = folder.join("soak.json");
    fs::write(&file, format!("{report:#}\n"))?;
    println!("gateways: {seconds} s; written to {}", file.display());
    Ok(())
}

/// The command `mcp gateway`.
fn command(mcp: &Path, program: &Path, folder: &Path) -> Result<Gateway> {
    fs::create_dir_all(folder)?;
    let file = folder.join("gateway.toml");
    let tools = "[tools]\nmode = 'search'\npin = 'mcp.lock'\n";
    fs::write(&file, settings(program, folder, tools)?)?;
    let mut gateway = Command::new(mcp);
    gateway
        .args(["gateway", "--listen", "127.0.0.1:0", "--audit"])
        .arg(folder.join("audit.jsonl"))
        .arg(&file)
        .env("XDG_CACHE_HOME", folder.join("cache"));
    Gateway::start("mcp gateway", gateway, folder, true)
}

/// The gateway of the library.
fn library(program: &Path, folder: &Path) -> Result<Gateway> {
    fs::create_dir_all(folder)?;
    let file = folder.join("gateway.toml");
    fs::write(&file, settings(program, folder, "")?)?;
    let mut gateway = Command::new(program);
    gateway.arg("serve").arg(&file);
    Gateway::start("gateway", gateway, folder, false)
}

/// The settings of a gateway. Each server has the folder as a further argument, to recognize its process.
fn settings(program: &Path, folder: &Path, tools: &str) -> Result<String> {
    let mut settings = format!("manifests = 'lists'\n{tools}");
    for kind in SERVERS.split(' ') {
        let (program, folder) = (program.display(), folder.display());
        write!(
            settings,
            "[servers.{kind}]\ncommand = '{program}'\nargs = ['server', '{kind}', '{folder}']\n\
             timeout_seconds = 5\n"
        )?;
    }
    Ok(settings)
}

/// Runs the clients of all gateways for some seconds. Returns the number of their checked answers.
fn load(
    program: &Path,
    gateways: &mut [Gateway],
    seconds: f64,
    start: Instant,
    faults: &mut Vec<String>,
) -> Result<Vec<usize>> {
    let mut loads = Vec::new();
    for gateway in &*gateways {
        let mut load = Command::new(program);
        load.args(["load", gateway.server.url(), &seconds.to_string()])
            .args(gateway.is_search.then_some("--search"))
            .stderr(fs::File::create(gateway.folder.join("load.log"))?)
            .stdout(Stdio::piped());
        loads.push(ChildGuard::spawn(&mut load)?);
    }
    let every = Duration::from_secs_f64((seconds / READINGS).max(0.25));
    let limit = Instant::now() + Duration::from_secs_f64(seconds + 120.0);
    for round in 0.. {
        std::thread::sleep(every);
        for gateway in &mut *gateways {
            let Some(reading) = gateway.reading(start) else {
                continue;
            };
            if round % PRINTED == 0 {
                println!("{reading}  {}", gateway.name);
            }
            gateway.readings.push(reading);
        }
        let mut is_running = false;
        for load in &mut loads {
            is_running |= load.0.try_wait()?.is_none();
        }
        if !is_running || Instant::now() > limit {
            break;
        }
    }
    let mut requests = Vec::new();
    for (load, gateway) in loads.iter_mut().zip(gateways) {
        let name = gateway.name;
        let sample = sample(load).map_err(|error| format!("{name}: {error}"))?;
        println!("{name}: {} checked responses", sample.requests);
        requests.push(sample.requests);
        if sample.errors > 0 {
            let last = sample.last_error.unwrap_or_default();
            faults.push(format!(
                "{name}: {} errors, the last one: {last}",
                sample.errors
            ));
        }
        if sample.requests == 0 {
            faults.push(format!("{name}: no response"));
        }
    }
    Ok(requests)
}

/// Waits without load. Returns a reading of each gateway.
fn rest(gateways: &[Gateway], seconds: f64, start: Instant) -> Vec<Option<Reading>> {
    std::thread::sleep(Duration::from_secs_f64(seconds));
    let read = |gateway: &Gateway| {
        let reading = gateway.reading(start)?;
        println!("{reading}  {} (no load)", gateway.name);
        Some(reading)
    };
    gateways.iter().map(read).collect()
}

/// The size of the lists and pins of a gateway, in bytes.
fn stored(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return stored(&path);
        }
        // Logs have a line for each call.
        let is_log = path
            .extension()
            .is_some_and(|kind| kind == "log" || kind == "jsonl");
        if is_log {
            0
        } else {
            fs::metadata(path).map_or(0, |file| file.len())
        }
    });
    files.sum()
}

impl Gateway {
    fn start(
        name: &'static str,
        mut command: Command,
        folder: &Path,
        is_search: bool,
    ) -> Result<Self> {
        let log = folder.join("gateway.log");
        let server = Server::start(command.envs(ALLOCATOR), &log, START_LIMIT)?;
        Ok(Self {
            name,
            server,
            folder: folder.to_owned(),
            log,
            is_search,
            readings: Vec::new(),
        })
    }

    fn reading(&self, start: Instant) -> Option<Reading> {
        Reading::take(self.server.id(), &self.log, start)
    }

    /// Returns what has grown.
    fn judge(
        &self,
        before: Option<Reading>,
        after: Option<Reading>,
        is_strict: bool,
    ) -> Vec<String> {
        let mut faults = Vec::new();
        let bytes = stored(&self.folder);
        if bytes > MOST_STORED {
            faults.push(format!("{bytes} bytes of lists and pins"));
        }
        if is_strict {
            faults.extend(judge(&self.readings));
        }
        for (index, (resource, _)) in RESOURCES.into_iter().enumerate() {
            let values = self.readings.iter().map(|reading| reading.values[index]);
            let most = values.max().unwrap_or(0);
            if most > MOST[index] {
                faults.push(format!(
                    "{most} {resource}, at most {} are expected",
                    MOST[index]
                ));
            }
            let (Some(before), Some(after)) = (before, after) else {
                continue;
            };
            let (before, after) = (before.values[index], after.values[index]);
            if is_strict && after > before + before / 20 + SPARE[index] {
                faults.push(format!(
                    "{resource} after the load: {after}, before it: {before}"
                ));
            }
        }
        faults
    }

    /// Ends the gateway: by a signal if it can be sent, without a chance to clean up otherwise. Returns a fault if
    /// servers are left.
    fn end(self) -> Option<String> {
        let Self {
            server,
            folder,
            is_search,
            ..
        } = self;
        if is_search {
            let id = server.id().to_string();
            let mut kill = Command::new("kill");
            if kill.args(["-INT", &id]).status().is_ok() {
                std::thread::sleep(END / 5);
            }
        }
        drop(server);
        let end = Instant::now() + END;
        loop {
            let left = processes(&folder);
            if left.is_empty() {
                return None;
            }
            if Instant::now() > end {
                return Some(format!("these processes are left: {left:?}"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// The command lines of the processes with the folder as an argument.
fn processes(folder: &Path) -> Vec<String> {
    let folder = folder.to_string_lossy();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&*folder))
        .collect()
}
