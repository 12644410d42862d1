//! One trace from a client to a tool, and metrics, exported by OTLP.
//!
//! `cargo run -p examples --bin telemetry`
//!
//! A collector receives them at `http://localhost:4318`, or at `OTEL_EXPORTER_OTLP_ENDPOINT`. Without a
//! collector, the log lines on standard error show the trace ids.

#![allow(clippy::print_stdout, reason = "a command line program")]

use mcp::Client;
use mcp::http::Serve;
use mcp::prelude::*;
use mcp::telemetry::{self, Telemetry};
use serde_json::json;
use tokio::net::TcpListener;
use tracing::Instrument;

struct Shop;

#[mcp::server]
impl Shop {
    /// Returns the price of an article in euros.
    #[tool]
    async fn price(&self, article: String) -> Result<f64, ToolError> {
        // The line has the call's trace id.
        tracing::info!(article, "a price was asked for");
        match &*article {
            "milk" => Ok(1.2),
            _ => Err(ToolError::new(format!("no article {article:?}"))),
        }
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let _guard = telemetry::init("shop").map_err(std::io::Error::other)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let endpoint = StreamableHttp::new(Server::of(Shop).layer(Telemetry::server()));
    let watched = endpoint.clone();
    telemetry::watch_endpoint(move || watched.metrics());
    let serving = tokio::spawn(Serve::service(endpoint).run(listener));

    // The program's span is the trace's root.
    let work = async {
        let client = Client::builder().layer(Telemetry::client());
        let client = client.connect(&*url).await?;
        let price = client.call("price", json!({ "article": "milk" })).await?;
        println!("milk: {}", price.text());
        let missing = client.call("price", json!({ "article": "gold" })).await?;
        println!("gold: {}", missing.text());
        Ok::<(), mcp::Error>(())
    };
    work.instrument(tracing::info_span!("shopping")).await?;
    serving.abort();
    Ok(())
}
