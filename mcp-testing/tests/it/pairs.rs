//! Pairs on a wire: what they say in every revision, and what becomes of it when the wire fails.

use std::time::Duration;

use expect_test::expect_file;
use mcp::prelude::*;
use mcp_testing::{HasCatalogue as _, Pair, WireFault};
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

    /// When we are open
    #[resource("shop://hours", mime = "text/plain")]
    fn hours(&self) -> &'static str {
        "6 to 12"
    }
}

fn client() -> mcp::client::ClientBuilder {
    Client::builder()
        .identity("tester", "1.0.0")
        .timeout(Duration::from_secs(30))
}

/// The same script over a wire: what was said.
async fn script(pair: Pair, version: ProtocolVersion) -> mcp::Result<String> {
    let pair = pair.client(client()).revision(version).start().await?;
    let client = &pair.client;
    assert_eq!(client.list_all_tools().await?.len(), 2);
    let mut reports = Vec::new();
    let call = client.call("bake", json!({ "loaves": 2 }));
    let call = call.on_progress(|report| reports.push(report.progress));
    assert_eq!(call.await?.text(), "2 loaves");
    assert_eq!(reports, [1.0, 2.0]);
    client.read_resource("shop://hours").await?;
    assert!(client.call("sell", json!({})).await.is_err());
    let said = pair.transcript().to_string();
    pair.close().await?;
    Ok(said)
}

#[tokio::test(start_paused = true)]
async fn every_revision_over_a_pipe() -> mcp::Result<()> {
    for version in ProtocolVersion::ALL {
        let said = script(Pair::stdio(Shop), version).await?;
        expect_file![format!("./transcripts/stdio-{version}.txt")].assert_eq(&said);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn every_revision_over_http() -> mcp::Result<()> {
    for version in ProtocolVersion::ALL {
        let said = script(Pair::http(Shop), version).await?;
        expect_file![format!("./transcripts/http-{version}.txt")].assert_eq(&said);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn wherever_the_messages_are_cut() -> mcp::Result<()> {
    for version in ProtocolVersion::ALL {
        for pair in [Pair::stdio(Shop), Pair::http(Shop)] {
            let pair = pair
                .fault(WireFault::split())
                .fault_of_client(WireFault::split());
            script(pair, version).await?;
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_slow_wire_takes_its_time() -> mcp::Result<()> {
    for pair in [Pair::stdio(Shop), Pair::http(Shop)] {
        let start = Instant::now();
        let slow = WireFault::slow(100, Duration::from_millis(100));
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
async fn a_lost_connection_ends_every_call() -> mcp::Result<()> {
    for fault in [
        WireFault::cut_stream_after(2),
        WireFault::half_close_after(2),
    ] {
        let pair = Pair::stdio(Shop)
            .client(client())
            .fault(fault)
            .start()
            .await?;
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
        // The answer to the first question was that of the probe.
        assert_eq!((answered, lost), (1, 2));
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_lost_stream_is_the_error_of_its_call() -> mcp::Result<()> {
    let pair = Pair::http(Shop)
        .client(client())
        .fault(WireFault::cut_stream_after(1));
    let pair = pair.revision(ProtocolVersion::LATEST).start().await?;
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
async fn a_garbled_answer_is_no_answer() -> mcp::Result<()> {
    let pair = Pair::stdio(Shop)
        .client(client())
        .fault(WireFault::garble(2))
        .start()
        .await?;
    let error = pair
        .client
        .call("bake", json!({ "loaves": 1 }))
        .await
        .unwrap_err();
    assert!(error.is_timeout(), "{error}");
    // The pipe goes on.
    let answer = pair.client.call("wait", json!({ "seconds": 1 })).await?;
    assert_eq!(answer.text(), "done");
    Ok(())
}

#[tokio::test]
async fn the_catalogue_is_as_it_was() -> mcp::Result<()> {
    let client = mcp_testing::connect(Shop).await?;
    mcp_testing::snapshot!("shop", client.catalogue());
    Ok(())
}
