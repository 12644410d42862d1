//! The page of `mcp inspect` in Chromium: with our server, a server of npm, and a server that tries to run scripts in it.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use super::browser::find_chromium;
use super::cases::Case;
use super::http::SERVER;
use super::peers::Peers;
use super::pipes::{COMMAND, case};
use crate::Result;
use crate::workspace::Workspace;

/// If this variable is set, the screenshots of the guide are made again.
const UPDATE: &str = "UPDATE_SCREENSHOTS";

/// Tests that the page has copied, as files: they are compiled with their crate.
const COPIES: &str = "mcp-testing/tests/it/copied";

/// The tests of `inspector.mjs`, with their names here.
const TESTS: [(&str, &str); 13] = [
    ("features", "every view"),
    ("look", "400 pixels and dark colours"),
    ("many", "10,000 messages"),
    ("attacks", "a hostile server"),
    ("openers", "a page that opens the window"),
    ("messages", "heads, copies and violations"),
    ("extensions", "tasks, skills and changes"),
    ("apps", "a view of a hostile server"),
    ("login", "the steps of a login"),
    ("everything", "server-everything of npm"),
    ("paint", "first paint"),
    ("schemas", "no violations in any revision"),
    ("copies", "copied tests"),
];

/// Returns the cases.
pub(super) fn cases(workspace: &Workspace, peers: &Peers) -> Result<Vec<Case>> {
    let screenshots = screenshots(workspace)?;
    let start = |test: &str| {
        let driver = peers.node("inspector.mjs")?;
        let chromium = find_chromium()?;
        let hostile = peers.node("server_hostile.mjs")?;
        let everything = peers.everything()?;
        let mut command = driver.command();
        command.arg(test).arg(chromium);
        command.arg(workspace.binary("debug", COMMAND));
        command.arg(workspace.binary("debug", SERVER));
        // The driver starts them with its own Node.js.
        command.args(hostile.words().skip(1));
        command.args(everything.words().skip(1));
        command.args(&screenshots);
        command.env("COPIES", workspace.root().join(COPIES));
        Ok::<Command, String>(command)
    };
    let case = |(test, name)| {
        let name = format!("Chromium -> mcp inspect, {name}");
        case(name, start(test), "ok\n")
    };
    Ok(TESTS.into_iter().map(case).collect())
}

/// The folder of the screenshots, if they are wanted.
fn screenshots(workspace: &Workspace) -> Result<Option<PathBuf>> {
    if env::var_os(UPDATE).is_none() {
        return Ok(None);
    }
    let folder = workspace.root().join("docs/inspector");
    fs::create_dir_all(&folder)?;
    Ok(Some(folder))
}
