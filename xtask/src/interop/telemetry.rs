//! Telemetry: a receiver of OTLP in Python, and a real Prometheus that scrapes our server.

use std::path::PathBuf;

use super::cases::Case;
use super::http::SERVER;
use super::peers::Peers;
use super::pipes::case;
use crate::process;
use crate::workspace::Workspace;

const PROMETHEUS: &str = "prometheus";

/// The page whose PromQL queries Prometheus answers.
const GUIDE: &str = "mcp/src/docs/telemetry.md";

/// Returns the cases.
pub(super) fn cases(workspace: &Workspace, peers: &Peers) -> Vec<Case> {
    let script = |arguments: &[PathBuf]| {
        peers
            .python("python-telemetry", "telemetry.py")
            .map(|script| {
                let mut command = script.command();
                command.arg(workspace.binary("debug", SERVER));
                command.args(arguments);
                command
            })
    };
    let prometheus = if process::available(PROMETHEUS, &["--version"]) {
        script(&[PROMETHEUS.into(), workspace.root().join(GUIDE)])
    } else {
        Err("Prometheus is not installed".to_owned())
    };
    let to_receiver = "our server -> OTLP receiver in Python".to_owned();
    vec![
        case(to_receiver, script(&[]), "otlp: ok"),
        case(
            "Prometheus -> our server".to_owned(),
            prometheus,
            "prometheus: ok",
        ),
    ]
}
