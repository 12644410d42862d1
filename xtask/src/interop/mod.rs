//! `cargo xtask interop`: this project's client against servers that nobody here wrote, and clients
//! that nobody here wrote against this project's server, over pipes.
//!
//! | module | responsibility |
//! |---|---|
//! | [`peers`] | installing the others, and the programs that drive them |

mod peers;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use peers::Peers;

use crate::Result;
use crate::flags::Flags;
use crate::process::{self, Guard};
use crate::workspace::Workspace;

/// Python and Node take their time to start on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// One program that speaks with another.
struct Pair {
    name: &'static str,
    /// The command, or why it cannot be run here.
    command: std::result::Result<Command, String>,
    /// What it prints when all is well.
    expected: &'static str,
}

#[derive(Debug, Default)]
struct Total {
    passed: usize,
    failed: usize,
    skipped: usize,
}

/// The command; whether every pair that could be run has passed.
pub(crate) fn run(workspace: &Workspace, flags: Flags) -> Result<bool> {
    flags.finish()?;
    let mut cargo = workspace.cargo();
    cargo.args([
        "build",
        "--package",
        "conformance",
        "--bin",
        "everything-server",
    ]);
    process::run(cargo.args(["--package", "examples", "--bin", "stdio_client"]))?;
    let home = workspace.target().join("interop");
    let peers = Peers::install(&home)?;
    let out = home.join("out");
    fs::create_dir_all(&out)?;

    let mut total = Total::default();
    for pair in pairs(workspace, &peers) {
        total.add(pair, &out)?;
    }
    println!("details in {}", out.display());
    println!(
        "{} passed, {} failed, {} skipped",
        total.passed, total.failed, total.skipped
    );
    Ok(total.failed == 0)
}

fn pairs(workspace: &Workspace, peers: &Peers) -> Vec<Pair> {
    let client = workspace.binary("debug", "stdio_client");
    let server = workspace.binary("debug", "everything-server");
    let calls =
        |name, program: &std::result::Result<Vec<PathBuf>, String>, tool: [&str; 2], expected| {
            let command = program.as_ref().map_err(String::clone).map(|program| {
                let mut command = Command::new(&client);
                command.args(program).arg("--").args(tool);
                command
            });
            Pair {
                name,
                command,
                expected,
            }
        };
    let is_called = |name,
                     program: &std::result::Result<Vec<PathBuf>, String>,
                     mode: Option<&str>| {
        let command = program.as_ref().map_err(String::clone).map(|program| {
            let mut command = Command::new(program.first().map_or(Path::new(""), PathBuf::as_path));
            command.args(program.iter().skip(1)).args(mode);
            command.arg(&server).arg("--stdio");
            command
        });
        Pair {
            name,
            command,
            expected: "tools: This is a simple text response for testing.",
        }
    };
    let add = ["add", r#"{"a": 1, "b": 2}"#];
    let echo = ["echo", r#"{"message": "hi"}"#];
    vec![
        calls(
            "our client -> server-everything (npm)",
            &peers.everything,
            echo,
            "Echo: hi",
        ),
        calls(
            "our client -> Python mcp 2",
            &peers.python_server,
            add,
            "\n3\n",
        ),
        calls(
            "our client -> Python mcp 1",
            &peers.python_1_server,
            add,
            "\n3\n",
        ),
        calls(
            "our client -> Python fastmcp",
            &peers.fastmcp_server,
            add,
            "\n3\n",
        ),
        is_called(
            "TypeScript client 2, either era -> our server",
            &peers.client,
            Some("auto"),
        ),
        is_called(
            "TypeScript client 2, legacy era -> our server",
            &peers.client,
            Some("legacy"),
        ),
        is_called("TypeScript client 1 -> our server", &peers.client_1, None),
        is_called("Python client 2 -> our server", &peers.python_client, None),
        is_called(
            "Python client 1 -> our server",
            &peers.python_1_client,
            None,
        ),
    ]
}

impl Total {
    fn add(&mut self, pair: Pair, out: &Path) -> Result<()> {
        let name = pair.name;
        let command = match pair.command {
            Ok(command) => command,
            Err(reason) => {
                self.skipped += 1;
                println!(
                    "skip  {name}: {}",
                    reason.lines().next().unwrap_or_default()
                );
                return Ok(());
            }
        };
        let log = out.join(format!(
            "{}.log",
            name.replace([' ', '>', '(', ')', ','], "")
        ));
        match talk(command, pair.expected, &log)? {
            None => {
                self.passed += 1;
                println!("pass  {name}");
            }
            Some(problem) => {
                self.failed += 1;
                println!("FAIL  {name}: {problem}, see {}", log.display());
            }
        }
        Ok(())
    }
}

/// Runs a pair; what is wrong, if anything is.
fn talk(mut command: Command, expected: &str, log: &Path) -> Result<Option<String>> {
    let file = fs::File::create(log)?;
    command
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file);
    let exit = process::wait_with_deadline(Guard::spawn(&mut command)?, LIMIT)?;
    let said = fs::read_to_string(log)?;
    Ok(match exit {
        None => Some(format!("no end after {} s", LIMIT.as_secs())),
        Some(status) if !status.success() => Some(status.to_string()),
        Some(_) if !said.contains(expected) => Some("another answer than expected".to_owned()),
        Some(_) => None,
    })
}
