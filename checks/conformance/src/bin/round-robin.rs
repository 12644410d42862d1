//! A proxy that sends each request to the next node: `round-robin HOST:PORT...` prints its URL to standard
//! error.

#![allow(clippy::print_stderr, reason = "prints its URL")]

use conformance::cluster::Proxy;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let nodes = std::env::args().skip(1).collect();
    let (_proxy, url) = Proxy::start(nodes, true).await?;
    eprintln!("listening on {url}");
    std::future::pending().await
}
