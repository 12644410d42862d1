//! The client of rmcp under load: `rmcp-client URL TASKS SECONDS [--modern] [--pooled]` calls `echo`
//! from concurrent tasks and prints the same JSON line as `bench-load`.

use std::time::{Duration, Instant};

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

type Error = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, tasks, seconds, flags @ ..] = &arguments[..] else {
        return Err("usage: rmcp-client URL TASKS SECONDS [--modern] [--pooled]".into());
    };
    let has = |flag: &str| flags.iter().any(|argument| argument == flag);
    let (tasks, seconds): (usize, f64) = (tasks.parse()?, seconds.parse()?);
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    let lifecycle = if has("--modern") {
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
    } else {
        ClientLifecycleMode::Initialize
    };
    let service = if has("--pooled") {
        let http = reqwest::Client::builder().tcp_nodelay(true).build()?;
        let transport = StreamableHttpClientTransport::with_client(http, config);
        ().serve_with_lifecycle(transport, lifecycle).await?
    } else {
        let transport = StreamableHttpClientTransport::from_config(config);
        ().serve_with_lifecycle(transport, lifecycle).await?
    };
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(seconds);
    let mut workers = Vec::new();
    for _ in 0..tasks {
        let peer = service.peer().clone();
        workers.push(tokio::spawn(async move {
            let arguments = serde_json::json!({"message": "the quick brown fox"});
            let mut done = 0u64;
            let mut errors = 0u64;
            while Instant::now() < end {
                let call = CallToolRequestParams::new("echo")
                    .with_arguments(arguments.as_object().cloned().unwrap_or_default());
                match peer.call_tool(call).await {
                    Ok(_) => done += 1,
                    Err(_) => errors += 1,
                }
            }
            (done, errors)
        }));
    }
    let (mut done, mut errors) = (0, 0);
    for worker in workers {
        let (calls, failed) = worker.await?;
        done += calls;
        errors += failed;
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = done as f64 / seconds;
    println!(
        r#"{{"requests":{done},"bytes":0,"seconds":{seconds},"req_per_s":{rate},"p50_us":null,"p99_us":null,"errors":{errors},"last_error":null}}"#
    );
    Ok(())
}
