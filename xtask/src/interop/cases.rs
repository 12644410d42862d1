//! Cases: a client program that talks to a server, and the check of its output.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::Result;
use crate::process::{self, ChildGuard};

/// Time limit of a case. Python and Node.js start slowly on a busy machine.
const LIMIT: Duration = Duration::from_secs(90);
/// Cases that run at the same time. They wait more than they compute.
const WORKERS: usize = 4;

/// Checks a client's output. Returns the problem, or `None` if the output is as expected.
pub(super) type OutputCheck = Box<dyn Fn(&str) -> Option<String> + Send>;

/// One client with one server.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) start: Start,
    pub(super) check: OutputCheck,
}

/// The way to start the client of a case.
pub(super) enum Start {
    Run(Command),
    /// The peer cannot be installed here, for this reason.
    Skip(String),
    /// The server of the case did not start, for this reason.
    Fail(String),
}

impl From<std::result::Result<Command, String>> for Start {
    fn from(command: std::result::Result<Command, String>) -> Self {
        command.map_or_else(Self::Skip, Self::Run)
    }
}

/// The result of a case.
enum CaseResult {
    Passed,
    Failed(String),
    Skipped(String),
}

/// The number of cases with each result.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    passed: usize,
    failed: usize,
    skipped: usize,
}

/// Runs all cases, several at a time, and prints the result of each.
pub(super) fn run_all(cases: Vec<Case>, out: &Path) -> Summary {
    let queue = Mutex::new(cases.into_iter());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let (sender, results) = channel();
    let mut summary = Summary::default();
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            let sender = sender.clone();
            scope.spawn(move || {
                while let Some(case) = next() {
                    let log = log_file(out, &case.name);
                    let result = run_case(case.start, &case.check, &log);
                    if sender.send((case.name, result)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (name, result) in results {
            summary.add(&name, &result);
        }
    });
    summary
}

/// The file with the output of a program.
pub(super) fn log_file(out: &Path, name: &str) -> PathBuf {
    let words = name.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
    let words: Vec<&str> = words
        .filter(|word| !word.is_empty() && *word != "-")
        .collect();
    out.join(format!("{}.log", words.join("-")))
}

fn run_case(start: Start, check: &OutputCheck, log: &Path) -> CaseResult {
    let command = match start {
        Start::Run(command) => command,
        Start::Skip(reason) => return CaseResult::Skipped(reason),
        Start::Fail(reason) => return CaseResult::Failed(reason),
    };
    let problem = match run_client(command, log) {
        Ok(Ok(output)) => check(&output),
        Ok(Err(problem)) => Some(problem),
        Err(error) => Some(error.to_string()),
    };
    match problem {
        None => CaseResult::Passed,
        Some(problem) => CaseResult::Failed(format!("{problem}; see {}", log.display())),
    }
}

/// Runs a client to its end. Returns its output, or the reason why it failed.
fn run_client(mut command: Command, log: &Path) -> Result<std::result::Result<String, String>> {
    let file = fs::File::create(log)?;
    process::clean_environment(&mut command)
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file);
    let exit = process::wait_with_deadline(ChildGuard::spawn(&mut command)?, LIMIT)?;
    Ok(match exit {
        None => Err(format!("stopped after {} s", LIMIT.as_secs())),
        Some(status) if !status.success() => Err(status.to_string()),
        Some(_) => Ok(String::from_utf8_lossy(&fs::read(log)?).into_owned()),
    })
}

impl Summary {
    /// Returns true if no case failed.
    pub(crate) fn has_no_failure(&self) -> bool {
        self.failed == 0
    }

    /// Returns true if at least one case was not skipped.
    pub(crate) fn has_run(&self) -> bool {
        self.passed + self.failed > 0
    }

    fn add(&mut self, name: &str, result: &CaseResult) {
        match result {
            CaseResult::Passed => {
                self.passed += 1;
                println!("pass  {name}");
            }
            CaseResult::Failed(problem) => {
                self.failed += 1;
                println!("FAIL  {name}: {problem}");
            }
            CaseResult::Skipped(reason) => {
                self.skipped += 1;
                println!(
                    "skip  {name}: {}",
                    reason.lines().next().unwrap_or_default()
                );
            }
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}
