//! Cases: a client program that talks to a server, and the check of its output.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::peers::{Obstacle, Peers, Started};
use crate::process::{self, ChildGuard, Server};
use crate::result::Result;
use crate::workspace::Workspace;

/// Time limit of a case. Python and Node.js start slowly on a busy machine, and some cases start many servers.
const LIMIT: Duration = Duration::from_secs(240);
pub(super) const START_LIMIT: Duration = Duration::from_secs(60);
/// Cases that run at the same time. They wait more than they compute.
const WORKERS: usize = 4;

/// Our server with everything, the command `mcp`, and our client over pipes.
pub(super) const SERVER: &str = "everything-server";
pub(super) const MCP: &str = "mcp";
pub(super) const PIPE_CLIENT: &str = "stdio_client";

/// Checks the output of a client. Returns the problem, or `None` if the output is as expected.
type OutputCheck = Box<dyn Fn(&str) -> Option<String> + Send>;

/// One client with one server.
struct Case {
    name: String,
    start: Started<Command>,
    check: OutputCheck,
}

/// The number of cases with each result.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    skipped: usize,
}

/// The cases, and what they need: the peers, the servers that run until the cases have ended, and a folder
/// for the output of all programs.
pub(super) struct Cases<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) peers: Peers,
    pub(super) out: PathBuf,
    /// A text in the names of the cases that run.
    only: String,
    /// A server is before those that it uses, and ends before them.
    servers: Vec<Server>,
    list: Vec<Case>,
}

/// Adds arguments to a command.
pub(super) fn with(
    mut command: Command,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Command {
    command.args(arguments);
    command
}

impl<'a> Cases<'a> {
    pub(super) fn new(workspace: &'a Workspace, newest_only: bool, only: &str) -> Result<Self> {
        let peers = Peers::install(workspace, newest_only)?;
        let out = peers.folder("out");
        fs::create_dir_all(&out)?;
        Ok(Self {
            workspace,
            peers,
            out,
            only: only.to_owned(),
            servers: Vec::new(),
            list: Vec::new(),
        })
    }

    /// The path of one of our programs.
    pub(super) fn binary(&self, program: &str) -> PathBuf {
        self.workspace.binary("debug", program)
    }

    /// One of our programs as a command without arguments.
    pub(super) fn ours(&self, program: &str) -> Command {
        Command::new(self.binary(program))
    }

    /// Starts a server that prints its URL, and returns it.
    pub(super) fn serve(&mut self, name: &str, mut command: Command) -> Started<String> {
        process::clean_environment(&mut command).env("PORT", "0");
        let server = Server::start(&mut command, &log_file(&self.out, name), START_LIMIT)?;
        Ok(self.keep(server))
    }

    /// Starts our server.
    pub(super) fn serve_ours(&mut self, name: &str) -> Started<String> {
        self.serve(&format!("{name} server"), self.ours(SERVER))
    }

    /// Starts a peer's server.
    pub(super) fn serve_peer(
        &mut self,
        name: &str,
        program: &str,
        arguments: &[&str],
    ) -> Started<String> {
        let program = self.peers.command(program)?;
        self.serve(name, with(program, arguments))
    }

    /// Lets a server run until the cases have ended. Returns its URL.
    pub(super) fn keep(&mut self, server: Server) -> String {
        let url = server.url().to_owned();
        self.servers.insert(0, server);
        url
    }

    /// Adds a case with a check.
    pub(super) fn add_checked(
        &mut self,
        name: String,
        start: Started<Command>,
        check: impl Fn(&str) -> Option<String> + Send + 'static,
    ) {
        let check = Box::new(check);
        self.list.push(Case { name, start, check });
    }

    /// Adds a case that passes if the client prints `expected`.
    pub(super) fn add(
        &mut self,
        name: impl Into<String>,
        start: Started<Command>,
        expected: impl Into<String>,
    ) {
        let expected = expected.into();
        self.add_checked(name.into(), start, move |output| {
            let is_missing = !output.contains(&expected);
            is_missing.then(|| format!("the output does not contain {expected:?}"))
        });
    }

    /// Returns true if a case with this name runs. Cases that need a long preparation ask first.
    pub(super) fn selects(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    /// Runs the selected cases, several at a time, and prints the result of each.
    pub(super) fn run(self) -> Result<Summary> {
        let out = &self.out;
        let selected = self
            .list
            .into_iter()
            .filter(|case| case.name.contains(&self.only));
        let queue = Mutex::new(selected);
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
                summary.add(&name, result);
            }
        });
        println!("details in {}\n{summary}", out.display());
        Ok(summary)
    }
}

/// The file with the output of a program.
pub(super) fn log_file(out: &Path, name: &str) -> PathBuf {
    let words = name.split(|letter: char| !letter.is_alphanumeric() && letter != '-');
    let words: Vec<&str> = words
        .filter(|word| !word.is_empty() && *word != "-")
        .collect();
    out.join(format!("{}.log", words.join("-")))
}

fn run_case(start: Started<Command>, check: &OutputCheck, log: &Path) -> Started<()> {
    let output = run_client(start?, log);
    let problem = output.map_or_else(|error| Some(error.to_string()), |output| check(&output));
    problem.map_or(Ok(()), |problem| {
        Err(Obstacle::Failed(format!(
            "{problem}; see {}",
            log.display()
        )))
    })
}

/// Runs a client to its end. Returns its output.
fn run_client(mut command: Command, log: &Path) -> Result<String> {
    let file = fs::File::create(log)?;
    process::clean_environment(&mut command)
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file);
    match process::wait_with_deadline(ChildGuard::spawn(&mut command)?, LIMIT)? {
        None => Err(format!("stopped after {} s", LIMIT.as_secs()).into()),
        Some(status) if !status.success() => Err(status.to_string().into()),
        Some(_) => Ok(String::from_utf8_lossy(&fs::read(log)?).into_owned()),
    }
}

impl Summary {
    fn add(&mut self, name: &str, result: Started<()>) {
        match result {
            Ok(()) => {
                self.passed += 1;
                println!("pass  {name}");
            }
            Err(Obstacle::Failed(problem)) => {
                self.failed += 1;
                println!("FAIL  {name}: {problem}");
            }
            Err(Obstacle::NotInstalled(reason)) => {
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
