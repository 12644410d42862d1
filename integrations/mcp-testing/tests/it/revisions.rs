//! Servers that offer only some revisions, over every transport.

use mcp::client::Error;
use mcp::prelude::*;
use mcp::types::ProtocolVersion::{V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use mcp_testing::{Connected, Pair};

const PAIRS: [fn(Server) -> Pair; 3] = [Pair::http, Pair::stdio, Pair::messages];

fn server() -> Server {
    Server::new("clock", "1.0.0").tool(Tool::new("now").handler(|| "half past"))
}

async fn connect(pair: Pair, mode: ConnectMode) -> Result<Connected, Error> {
    let client = Client::builder().mode(mode);
    pair.client(client).connect().await
}

#[tokio::test(start_paused = true)]
async fn legacy_server_is_found_and_refuses_modern_requests() -> mcp::Result<()> {
    let legacy = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
    for start in PAIRS {
        let server = || server().revisions(..=V2025_11_25);
        let pair = connect(start(server()), ConnectMode::Auto).await?;
        assert_eq!(pair.client.protocol_version(), V2025_11_25);
        assert_eq!(pair.client.call("now", ()).await?.text(), "half past");
        // The answer to `server/discover` lists what the server offers.
        let transcript = pair.transcript().to_string();
        let refusal = transcript
            .lines()
            .find(|line| line.contains(r#""supported""#));
        let refusal = refusal.unwrap_or_else(|| panic!("{transcript}"));
        assert!(refusal.contains("-32022"), "{refusal}");
        for version in legacy {
            assert!(refusal.contains(version), "{refusal}");
        }
        assert!(!refusal.contains(r#"["2026"#), "{refusal}");
        pair.close().await?;

        // A client that insists on the modern era learns why it cannot have it.
        let pair = connect(start(server()), ConnectMode::Pin(V2026_07_28)).await?;
        let error = pair.client.call("now", ()).await.unwrap_err();
        assert_eq!(error.supported_versions().unwrap(), legacy);
        assert!(!error.may_have_run());
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn modern_server_refuses_sessions() -> mcp::Result<()> {
    for start in PAIRS {
        let server = || server().revisions(V2026_07_28..);
        let pair = connect(start(server()), ConnectMode::Auto).await?;
        assert_eq!(pair.client.protocol_version(), V2026_07_28);
        assert_eq!(pair.client.call("now", ()).await?.text(), "half past");
        let discovered = pair.client.discover().await?;
        assert_eq!(discovered.supported_versions, ["2026-07-28"]);
        let error = connect(start(server()), ConnectMode::Legacy)
            .await
            .unwrap_err();
        assert_eq!(error.supported_versions().unwrap(), ["2026-07-28"]);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn session_has_the_newest_offered_revision() -> mcp::Result<()> {
    for start in PAIRS {
        let server = || server().revisions(V2025_03_26..=V2025_06_18);
        let pair = connect(start(server()), ConnectMode::Legacy).await?;
        assert_eq!(pair.client.protocol_version(), V2025_06_18);
        let pair = connect(start(server()), ConnectMode::Pin(V2025_03_26)).await?;
        assert_eq!(pair.client.protocol_version(), V2025_03_26);
        let error = connect(start(server()), ConnectMode::Pin(V2025_11_25))
            .await
            .unwrap_err();
        assert_eq!(error.supported_versions().unwrap(), ["2025-06-18"]);
    }
    Ok(())
}

#[test]
fn empty_range_is_a_mistake() {
    let error = server()
        .revisions(V2025_06_18..V2025_06_18)
        .check()
        .unwrap_err();
    assert!(error.to_string().contains("empty range"), "{error}");
}
