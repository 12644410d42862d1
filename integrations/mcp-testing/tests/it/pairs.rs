//! Pairs: golden transcripts of every revision, and transport faults.

use std::time::Duration;

use expect_test::expect_file;
use mcp::prelude::*;
use mcp_testing::{Pair, WireFault};
use serde_json::json;
use tokio::time::Instant;

struct Shop;

/// Sells bread.
#[mcp::server(name = "shop", version = "1.0.0")]
impl Shop {
    /// Bake some bread.
    #[tool]
    async fn bake(&self, loaves: u32, progress: Progress) -> String {
        for loaf in 1..=loaves {
            progress
                .report(f64::from(loaf), f64::from(loaves), "in the oven")
                .await;
        }
        format!("{loaves} loaves")
    }

    /// Takes its time.
    #[tool]
    async fn wait(&self, seconds: u64) -> &'static str {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        "done"
    }

    #[resource(
        "shop://hours",
        mime_type = "text/plain",
        description = "When we are open"
    )]
    fn hours(&self) -> &'static str {
        "6 to 12"
    }
}

#[tokio::test]
async fn scopes_are_checked() {
    let server = || {
        let delete = Tool::new("delete").handler(|| "deleted").scopes(["write"]);
        let read = Tool::new("read").handler(|| "text");
        Server::new("files", "1.0.0").tool(delete).tool(read)
    };
    let error = mcp_testing::connect(server())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("\"delete\"") && error.contains("write"),
        "{error}"
    );
    assert!(mcp_testing::connect_as(server(), 7).await.is_err());
    let pairs = || {
        [
            Pair::http(server()),
            Pair::stdio(server()),
            Pair::messages(server()),
        ]
    };
    for pair in pairs() {
        let error = pair.connect().await.unwrap_err().to_string();
        assert!(
            error.contains("\"delete\"") && error.contains("write"),
            "{error}"
        );
    }
    for (scopes, is_granted) in [
        (vec![], false),
        (vec!["read"], false),
        (vec!["write"], true),
    ] {
        let ada = mcp::Principal::new("https://issuer.example", "ada").scopes(scopes);
        let mut clients = vec![
            mcp_testing::connect_as(server(), ada.clone())
                .await
                .unwrap(),
        ];
        let mut connected = Vec::new();
        for pair in pairs() {
            let pair = pair.principal(ada.clone()).connect().await.unwrap();
            clients.push(pair.client.clone());
            connected.push(pair);
        }
        for client in clients {
            let deleted = client.call("delete", json!({})).await;
            assert_eq!(deleted.is_ok(), is_granted, "{deleted:?}");
            assert_eq!(client.call("read", json!({})).await.unwrap().text(), "text");
        }
    }
}

fn client() -> mcp::client::ClientBuilder {
    Client::builder()
        .identity("tester", "1.0.0")
        .timeout(Duration::from_secs(30))
}

/// Runs the same calls over a transport and returns the transcript.
async fn script(pair: Pair, version: ProtocolVersion) -> mcp::Result<String> {
    let pair = pair.client(client()).revision(version).connect().await?;
    let client = &pair.client;
    assert_eq!(client.list_tools().await?.len(), 2);
    let mut reports = Vec::new();
    let call = client.call("bake", json!({ "loaves": 2 }));
    let call = call.on_progress(|report| reports.push(report.progress));
    assert_eq!(call.await?.text(), "2 loaves");
    assert_eq!(reports, [1.0, 2.0]);
    client.read_resource("shop://hours").await?;
    assert!(client.call("sell", json!({})).await.is_err());
    let transcript = pair.transcript().to_string();
    pair.close().await?;
    Ok(transcript)
}

#[tokio::test(start_paused = true)]
async fn transcript_over_pipe_matches_golden_file() -> mcp::Result<()> {
    for version in ProtocolVersion::ALL {
        let transcript = script(Pair::stdio(Shop), version).await?;
        expect_file![format!("./transcripts/stdio-{version}.txt")].assert_eq(&transcript);
    }
    Ok(())
}

// The messages are the same as on a pipe.
#[tokio::test(start_paused = true)]
async fn transcript_over_messages_matches_golden_file() -> mcp::Result<()> {
    for version in ProtocolVersion::ALL {
        let transcript = script(Pair::messages(Shop), version).await?;
        expect_file![format!("./transcripts/stdio-{version}.txt")].assert_eq(&transcript);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn transcript_over_http_matches_golden_file() -> mcp::Result<()> {
    for version in ProtocolVersion::ALL {
        let transcript = script(Pair::http(Shop), version).await?;
        expect_file![format!("./transcripts/http-{version}.txt")].assert_eq(&transcript);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn messages_split_into_bytes_are_read() -> mcp::Result<()> {
    for version in ProtocolVersion::ALL {
        for pair in [Pair::stdio(Shop), Pair::http(Shop)] {
            let pair = pair.fault(WireFault::Split).request_fault(WireFault::Split);
            script(pair, version).await?;
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn slow_transport_delays_messages() -> mcp::Result<()> {
    for pair in [Pair::stdio(Shop), Pair::messages(Shop), Pair::http(Shop)] {
        let start = Instant::now();
        let slow = WireFault::Slow(100, Duration::from_millis(100));
        script(pair.fault(slow), ProtocolVersion::LATEST).await?;
        let took = start.elapsed();
        assert!(
            took > Duration::from_secs(1) && took < Duration::from_secs(10),
            "{took:?}"
        );
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn revision_before_client_holds() -> mcp::Result<()> {
    let version = ProtocolVersion::V2025_06_18;
    let pair = Pair::http(Shop)
        .revision(version)
        .client(client())
        .connect()
        .await?;
    assert_eq!(pair.client.protocol_version(), version);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn lost_connection_fails_every_call() -> mcp::Result<()> {
    let faults = [WireFault::CutAfter(2), WireFault::HalfCloseAfter(2)];
    let pairs = faults.into_iter().flat_map(|fault| {
        [Pair::stdio, Pair::messages].map(|pair| pair(Shop).fault(fault.clone()))
    });
    for pair in pairs {
        let pair = pair.client(client()).connect().await?;
        let calls = (0..3).map(|_| pair.client.call("bake", json!({ "loaves": 1 })));
        let (mut answered, mut lost) = (0, 0);
        for call in calls {
            match call.await {
                Ok(_) => answered += 1,
                Err(error) => {
                    assert!(error.is_closed(), "{error}");
                    lost += 1;
                }
            }
        }
        // The first response was that to `server/discover`.
        assert_eq!((answered, lost), (1, 2));
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn lost_stream_fails_only_its_call() -> mcp::Result<()> {
    let pair = Pair::http(Shop)
        .client(client())
        .fault(WireFault::CutAfter(1));
    let pair = pair.revision(ProtocolVersion::LATEST).connect().await?;
    let call = pair.client.call("bake", json!({ "loaves": 5 }));
    assert!(call.on_progress(|_| ()).await.is_err());
    assert_eq!(
        pair.client
            .call("bake", json!({ "loaves": 1 }))
            .await?
            .text(),
        "1 loaves"
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn garbled_response_is_malformed_answer() -> mcp::Result<()> {
    for pair in [Pair::stdio(Shop), Pair::messages(Shop)] {
        let pair = pair.client(client()).fault(WireFault::Garble(2));
        let pair = pair.connect().await?;
        let error = pair
            .client
            .call("bake", json!({ "loaves": 1 }))
            .await
            .unwrap_err();
        assert!(error.to_string().contains("malformed answer"), "{error}");
        // The connection still works.
        let answer = pair.client.call("wait", json!({ "seconds": 1 })).await?;
        assert_eq!(answer.text(), "done");
    }
    Ok(())
}

#[tokio::test]
async fn snapshot_matches_snapshot() -> mcp::Result<()> {
    let client = mcp_testing::connect(Shop).await?;
    mcp_testing::snapshot!("shop", client);
    Ok(())
}
