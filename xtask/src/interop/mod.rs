//! `cargo xtask interop`: this project's client against servers that nobody here wrote, and clients
//! that nobody here wrote against this project's server.
//!
//! | module | responsibility |
//! |---|---|
//! | [`peers`] | installing the others, and the programs that drive them |
//! | [`pipes`] | the rows over pipes |
//! | [`http`] | the rows over HTTP, feature by feature |

mod http;
mod peers;
mod pipes;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use peers::Peers;

use crate::Result;
use crate::flags::Flags;
use crate::process::{self, Guard};
use crate::workspace::Workspace;

/// Python and Node take their time to start on a busy machine.
const LIMIT: Duration = Duration::from_secs(90);
/// Rows that run at a time: they wait more than they compute.
const WORKERS: usize = 4;

/// One program that speaks with another.
struct Row {
    name: String,
    start: Start,
    expected: Expected,
}

/// How a row is begun.
enum Start {
    Run(Command),
    /// It cannot be run here, for this reason.
    Skip(String),
    /// What it speaks with is broken.
    Fail(String),
}

/// What a program prints when all is well.
#[derive(Debug, Clone, Copy)]
enum Expected {
    Text(&'static str),
    /// Every feature of a server, at this revision.
    Features(&'static str),
}

/// How a row has ended.
enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

/// The rows counted.
#[derive(Debug, Default)]
pub(crate) struct Total {
    passed: usize,
    failed: usize,
    skipped: usize,
}

/// The command; whether every row that could be run has passed, and there was one.
pub(crate) fn run(workspace: &Workspace, flags: Flags) -> Result<bool> {
    flags.finish()?;
    let total = count(workspace)?;
    Ok(total.is_good() && total.has_run())
}

/// Runs every row.
pub(crate) fn count(workspace: &Workspace) -> Result<Total> {
    let home = workspace.target().join("interop");
    let out = home.join("out");
    fs::create_dir_all(&out)?;
    let peers = Peers::install(workspace, &home)?;
    build(workspace)?;
    let (servers, mut rows) = http::rows(workspace, &peers, &out)?;
    rows.extend(pipes::rows(workspace, &peers));
    let total = run_all(rows, &out);
    drop(servers);
    println!("details in {}", out.display());
    println!(
        "{} passed, {} failed, {} skipped",
        total.passed, total.failed, total.skipped
    );
    Ok(total)
}

fn build(workspace: &Workspace) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package", "conformance", "--package", "examples"]);
    for program in [http::SERVER, http::CLIENT, pipes::CLIENT] {
        cargo.args(["--bin", program]);
    }
    process::run(&mut cargo)
}

/// Runs some rows at a time and prints each when it has ended.
fn run_all(rows: Vec<Row>, out: &Path) -> Total {
    let waiting = Mutex::new(rows.into_iter());
    let next = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.next()
    };
    let (ended, verdicts) = channel();
    let mut total = Total::default();
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            let ended = ended.clone();
            scope.spawn(move || {
                while let Some(row) = next() {
                    let verdict = run_row(row.start, row.expected, &log(out, &row.name));
                    if ended.send((row.name, verdict)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(ended);
        for (name, verdict) in verdicts {
            total.add(&name, &verdict);
        }
    });
    total
}

/// Where a program's output is kept.
fn log(out: &Path, name: &str) -> std::path::PathBuf {
    let words = name.split(|it: char| !it.is_alphanumeric() && it != '-');
    let words: Vec<&str> = words.filter(|it| !it.is_empty() && *it != "-").collect();
    out.join(format!("{}.log", words.join("-")))
}

fn run_row(start: Start, expected: Expected, log: &Path) -> Verdict {
    let command = match start {
        Start::Run(command) => command,
        Start::Skip(reason) => return Verdict::Skipped(reason),
        Start::Fail(reason) => return Verdict::Failed(reason),
    };
    let problem = match talk(command, log) {
        Ok(Ok(said)) => expected.problem(&said),
        Ok(Err(problem)) => Some(problem),
        Err(error) => Some(error.to_string()),
    };
    match problem {
        None => Verdict::Passed,
        Some(problem) => Verdict::Failed(format!("{problem}; see {}", log.display())),
    }
}

/// Runs a program to its end; what it said, or why it has not ended well.
fn talk(mut command: Command, log: &Path) -> Result<std::result::Result<String, String>> {
    let file = fs::File::create(log)?;
    process::clean_environment(&mut command)
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file);
    let exit = process::wait_with_deadline(Guard::spawn(&mut command)?, LIMIT)?;
    Ok(match exit {
        None => Err(format!("no end after {} s", LIMIT.as_secs())),
        Some(status) if !status.success() => Err(status.to_string()),
        Some(_) => Ok(String::from_utf8_lossy(&fs::read(log)?).into_owned()),
    })
}

impl Expected {
    /// What is wrong with what a program said.
    fn problem(self, said: &str) -> Option<String> {
        match self {
            Self::Text(expected) if said.contains(expected) => None,
            Self::Text(_) => Some("another answer than expected".to_owned()),
            Self::Features(revision) => http::problem(said, revision),
        }
    }
}

impl Total {
    /// No row has failed.
    pub(crate) fn is_good(&self) -> bool {
        self.failed == 0
    }

    /// There was a row that could be run.
    pub(crate) fn has_run(&self) -> bool {
        self.passed + self.failed > 0
    }

    fn add(&mut self, name: &str, verdict: &Verdict) {
        match verdict {
            Verdict::Passed => {
                self.passed += 1;
                println!("pass  {name}");
            }
            Verdict::Failed(problem) => {
                self.failed += 1;
                println!("FAIL  {name}: {problem}");
            }
            Verdict::Skipped(reason) => {
                self.skipped += 1;
                println!(
                    "skip  {name}: {}",
                    reason.lines().next().unwrap_or_default()
                );
            }
        }
    }
}
