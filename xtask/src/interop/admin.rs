//! The admin page of `mcp gateway` in Chromium, with servers from npm and PyPI and one that does not start.

use std::process::Command;

use super::browser::find_chromium;
use super::cases::Case;
use super::http::SERVER;
use super::peers::Peers;
use super::pipes::{self, COMMAND};
use crate::workspace::Workspace;

/// Returns the case.
pub(super) fn case(workspace: &Workspace, peers: &Peers) -> Case {
    let start = || {
        let driver = peers.node("admin.mjs")?;
        let chromium = find_chromium()?;
        let time = peers.python_program("python-tools", "mcp-server-time")?;
        let hostile = peers.node("server_hostile.mjs")?;
        let mut command = driver.command();
        command.arg(chromium);
        command.arg(workspace.binary("debug", COMMAND));
        command.arg(workspace.binary("debug", SERVER));
        command.args(time.words());
        // The driver starts it with its own Node.js.
        command.args(hostile.words().skip(1));
        Ok::<Command, String>(command)
    };
    pipes::case(
        "Chromium -> admin page of mcp gateway".to_owned(),
        start(),
        "ok\n",
    )
}
