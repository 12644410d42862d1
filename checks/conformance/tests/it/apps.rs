//! Apps of `everything-server`, shown by `everything-client`.

use std::path::Path;
use std::time::Duration;

use conformance::cluster::Node;
use tokio::process::Command;
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test]
async fn apps_are_shown_in_both_eras() {
    let program = Path::new(env!("CARGO_BIN_EXE_everything-server"));
    let server = Node::start(program, None).await.unwrap();
    for revision in ["2026-07-28", "2025-11-25"] {
        let client = Command::new(env!("CARGO_BIN_EXE_everything-client"))
            .arg(format!("http://{}/mcp", server.address()))
            .env("MCP_CONFORMANCE_SCENARIO", "apps")
            .env("MCP_CONFORMANCE_PROTOCOL_VERSION", revision)
            .kill_on_drop(true)
            .output();
        let output = timeout(LIMIT, client).await.unwrap().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{revision}: {text}{errors}");
        for expected in [
            "script-src 'self' 'unsafe-inline' https://*.cdn.example.com;",
            "connect-src https://example.com;",
            "the view shows: counted, see the counter",
            "the view shows: shown in a hidden app",
            "counted for a view",
            "the tool is for the language model",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
}
