//! `cargo xtask bench --cluster`: calls through nodes on Redis, and `--cluster-soak [SECONDS]`: sessions
//! while nodes are killed and Redis restarts. The program `cluster-load` does both.

use std::process::Command;

use super::runner::PROFILE;
use crate::Result;
use crate::flags::Flags;
use crate::process;
use crate::workspace::Workspace;

/// Arguments in continuous integration: two nodes are killed.
pub(crate) const SHORT: [&str; 8] = [
    "--sessions",
    "20",
    "--seconds",
    "15",
    "--kill-every",
    "5",
    "--rate",
    "40",
];

/// Measures calls per second, latency and Redis commands per call.
pub(super) fn calls(workspace: &Workspace, flags: Flags) -> Result<bool> {
    flags.finish()?;
    build(workspace, true)?;
    run(workspace, PROFILE, "calls", &[])?;
    Ok(true)
}

/// Runs the soak for a time, 300 s by default. Returns true if nothing was lost.
pub(super) fn soak_command(workspace: &Workspace, seconds: &str, mut flags: Flags) -> Result<bool> {
    let sessions: Option<usize> = flags.value("--sessions")?;
    let is_release = flags.switch("--release");
    flags.finish()?;
    build(workspace, is_release)?;
    let mut arguments = Vec::new();
    if !seconds.is_empty() {
        arguments.extend(["--seconds".to_owned(), seconds.to_owned()]);
    }
    if let Some(sessions) = sessions {
        arguments.extend(["--sessions".to_owned(), sessions.to_string()]);
    }
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let profile = if is_release { PROFILE } else { "debug" };
    soak(workspace, profile, &arguments)
}

/// Runs the soak with the programs of a profile, which must be built. Returns true if nothing was lost.
pub(crate) fn soak(workspace: &Workspace, profile: &str, arguments: &[&str]) -> Result<bool> {
    run(workspace, profile, "soak", arguments)?;
    Ok(true)
}

fn build(workspace: &Workspace, is_release: bool) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package", "conformance", "--bins"]);
    process::run(cargo.args(is_release.then_some("--release")))
}

fn run(workspace: &Workspace, profile: &str, command: &str, arguments: &[&str]) -> Result<()> {
    let mut load = Command::new(workspace.binary(profile, "cluster-load"));
    process::run(load.arg(command).args(arguments))
}
