//! Cases of extensions: our host with a view of `@modelcontextprotocol/ext-apps`, also in Chromium, and our
//! server with a receiver of webhooks that verifies signatures with `standardwebhooks`.

use std::process::Command;

use super::browser::find_chromium;
use super::cases::Case;
use super::peers::Peers;
use super::pipes::case;
use crate::workspace::Workspace;

/// Our program: it starts the peer, checks it, and prints `ok`.
pub(super) const HOST: &str = "interop-host";
/// Our program: it serves a page with a view, starts the browser, and prints `ok`.
pub(super) const BROWSER_HOST: &str = "browser-host";

/// Returns all cases.
pub(super) fn cases(workspace: &Workspace, peers: &Peers) -> Vec<Case> {
    let host = workspace.binary("debug", HOST);
    let start = |mode: &str, script: &str| {
        peers.node(script).map(|peer| {
            let mut command = Command::new(&host);
            command.arg(mode).args(peer.words());
            command
        })
    };
    let view = start("view", "view_apps.mjs");
    let receiver = start("webhook", "webhook_receiver.mjs");
    let in_browser = peers.node("browser_view.mjs").and_then(|driver| {
        let chromium = find_chromium()?;
        let mut command = Command::new(workspace.binary("debug", BROWSER_HOST));
        command.args(driver.words()).arg(chromium);
        Ok(command)
    });
    vec![
        case(
            "our host -> view of ext-apps (npm)".to_owned(),
            view,
            "ok\n",
        ),
        case(
            "our host -> view in Chromium with its policy".to_owned(),
            in_browser,
            "ok\n",
        ),
        case(
            "our webhooks -> standardwebhooks (npm)".to_owned(),
            receiver,
            "ok\n",
        ),
    ]
}
