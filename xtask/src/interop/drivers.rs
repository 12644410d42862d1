//! Cases that a script drives: pages and views in Chromium, a receiver of webhooks that verifies signatures
//! with `standardwebhooks`, a receiver of OTLP in Python, and a real Prometheus that scrapes our server.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use super::browser::find_chromium;
use super::cases::{Cases, MCP, SERVER, with};
use super::peers::{Started, installed};
use crate::result::Result;

/// If this variable is set, the guide's screenshots are made again.
const UPDATE: &str = "UPDATE_SCREENSHOTS";

/// Tests that the page has copied, as files: they are compiled with their crate.
const COPIES: &str = "integrations/mcp-testing/tests/it/copied";

/// The page whose PromQL queries Prometheus answers.
const TELEMETRY: &str = "mcp/src/docs/telemetry.md";

/// The tests of `inspector.mjs` on the page of `mcp inspect`, with their names here.
const INSPECTOR: [(&str, &str); 14] = [
    ("features", "every view"),
    ("exact", "what was sent"),
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

/// Adds all cases.
pub(super) fn add(cases: &mut Cases<'_>) -> Result<()> {
    let screenshots = screenshots(cases)?;
    for (test, name) in INSPECTOR {
        let name = format!("Chromium -> mcp inspect, {name}");
        cases.add(name, inspector(cases, test, screenshots.as_ref()), "ok\n");
    }
    cases.add(
        "Chromium -> admin page of mcp gateway",
        admin(cases),
        "ok\n",
    );
    for (name, host, driver) in [
        (
            "our host -> view of ext-apps (npm)",
            "interop-host view",
            "view_apps.mjs",
        ),
        (
            "our webhooks -> standardwebhooks (npm)",
            "interop-host webhook",
            "webhook_receiver.mjs",
        ),
    ] {
        let peer = cases.peers.program(&format!("node {driver}"));
        let start = cases.peers.command(&format!("ours {host}"));
        let start = start.and_then(|host| Ok(with(host, peer?)));
        cases.add(name, start, "ok\n");
    }
    let driver = cases.peers.program("node browser_view.mjs");
    let start = driver.and_then(|driver| {
        let host = with(cases.ours("browser-host"), driver);
        Ok(with(host, [find_chromium()?]))
    });
    cases.add(
        "our host -> view in Chromium with its policy",
        start,
        "ok\n",
    );
    let receiver = telemetry(cases, &[]);
    cases.add(
        "our server -> OTLP receiver in Python",
        receiver,
        "otlp: ok",
    );
    let guide = cases.workspace.root().join(TELEMETRY);
    let prometheus = installed("prometheus", "--version")
        .and_then(|_| telemetry(cases, &["prometheus".into(), guide]));
    cases.add("Prometheus -> our server", prometheus, "prometheus: ok");
    Ok(())
}

/// A test of the page of `mcp inspect`: with our server, a server of npm, and a server that tries to run
/// scripts in the page.
fn inspector(cases: &Cases<'_>, test: &str, screenshots: Option<&PathBuf>) -> Started<Command> {
    let peers = &cases.peers;
    let driver = with(peers.command("node inspector.mjs")?, [test]);
    let driver = with(
        driver,
        [find_chromium()?, cases.binary(MCP), cases.binary(SERVER)],
    );
    // The driver starts them with its own Node.js.
    let hostile = peers.program("node server_hostile.mjs")?;
    let everything = "npm @modelcontextprotocol/server-everything dist/index.js";
    let everything = peers.program(everything)?;
    let mut driver = with(
        driver,
        hostile.iter().skip(1).chain(everything.iter().skip(1)),
    );
    driver.args(screenshots);
    driver.env("COPIES", cases.workspace.root().join(COPIES));
    Ok(driver)
}

/// Returns the screenshot folder, if screenshots are wanted.
fn screenshots(cases: &Cases<'_>) -> Result<Option<PathBuf>> {
    if env::var_os(UPDATE).is_none() {
        return Ok(None);
    }
    let folder = cases.workspace.root().join("docs/inspector");
    fs::create_dir_all(&folder)?;
    Ok(Some(folder))
}

/// The admin page of `mcp gateway`, with servers from npm and PyPI and one that does not start.
fn admin(cases: &Cases<'_>) -> Started<Command> {
    let driver = cases.peers.command("node admin.mjs")?;
    let driver = with(
        driver,
        [find_chromium()?, cases.binary(MCP), cases.binary(SERVER)],
    );
    let driver = with(driver, cases.peers.program("python-tools mcp-server-time")?);
    // The driver starts it with its own Node.js.
    let hostile = cases.peers.program("node server_hostile.mjs")?;
    Ok(with(driver, hostile.iter().skip(1)))
}

fn telemetry(cases: &Cases<'_>, arguments: &[PathBuf]) -> Started<Command> {
    let script = cases.peers.command("python-telemetry telemetry.py")?;
    Ok(with(with(script, [cases.binary(SERVER)]), arguments))
}
