//! Telemetry: a receiver of OTLP in Python, and a real Prometheus that scrapes our server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cases::{Case, Start};
use super::http::SERVER;
use super::peers::Peers;
use crate::process;
use crate::workspace::Workspace;

const PROMETHEUS: &str = "prometheus";

/// The page whose PromQL queries Prometheus answers.
const GUIDE: &str = "mcp/src/docs/telemetry.md";

/// Returns the cases.
pub(super) fn cases(workspace: &Workspace, peers: &Peers, home: &Path) -> Vec<Case> {
    let script = |arguments: &[PathBuf]| {
        peers.telemetry("telemetry.py").map(|script| {
            let mut command = script.command();
            command.arg(workspace.binary("debug", SERVER));
            command.args(arguments);
            command
        })
    };
    let prometheus = install_prometheus(home)
        .and_then(|program| script(&[program, workspace.root().join(GUIDE)]));
    vec![
        case(
            "our server -> OTLP receiver in Python",
            script(&[]),
            "otlp: ok",
        ),
        case("Prometheus -> our server", prometheus, "prometheus: ok"),
    ]
}

fn case(name: &str, start: Result<Command, String>, expected: &'static str) -> Case {
    let missing = move |output: &str| format!("no {expected:?} in {output:?}");
    Case {
        name: name.to_owned(),
        start: Start::from(start),
        check: Box::new(move |output| (!output.contains(expected)).then(|| missing(output))),
    }
}

/// Returns the program of Prometheus: the installed one, or that of the Debian package, which is
/// unpacked below the target folder.
fn install_prometheus(home: &Path) -> Result<PathBuf, String> {
    if process::available(PROMETHEUS, &["--version"]) {
        return Ok(PROMETHEUS.into());
    }
    let folder = home.join(PROMETHEUS);
    let program = folder.join("usr/bin").join(PROMETHEUS);
    if program.is_file() {
        return Ok(program);
    }
    let failed = |error: &dyn std::fmt::Display| format!("Prometheus is not installed: {error}");
    fs::create_dir_all(&folder).map_err(|error| failed(&error))?;
    let mut download = Command::new("apt-get");
    download.args(["download", PROMETHEUS]).current_dir(&folder);
    process::capture(&mut download).map_err(|error| failed(&error))?;
    let files = fs::read_dir(&folder).map_err(|error| failed(&error))?;
    let package = files
        .filter_map(|file| Some(file.ok()?.path()))
        .find(|path| path.extension().is_some_and(|it| it == "deb"))
        .ok_or_else(|| failed(&"no package was downloaded"))?;
    let mut unpack = Command::new("dpkg-deb");
    unpack.arg("--extract").arg(&package).arg(&folder);
    process::capture(&mut unpack).map_err(|error| failed(&error))?;
    Ok(program)
}
