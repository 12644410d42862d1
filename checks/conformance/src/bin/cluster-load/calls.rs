//! Calls per second, latency, and Redis commands per call.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use conformance::cluster::{Node, Proxy, RedisServer};
use mcp::ConnectMode;
use mcp::prelude::*;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::options::{Failure, Options, server};

/// Clients that call at the same time.
const CLIENTS: usize = 16;
/// Commands that no call causes.
const OTHERS: [&str; 8] = [
    "client",
    "command",
    "hello",
    "info",
    "ping",
    "quit",
    "script",
    "subscribe",
];

/// Measures each configuration.
///
/// # Errors
///
/// Returns an error if a process cannot be started or a call fails.
pub(crate) async fn run(options: &Options) -> Result<(), Failure> {
    let length = options.seconds("--seconds", 5.0)?;
    let Some(redis) = RedisServer::start().await? else {
        println!("{}", json!({ "skipped": "redis-server is not installed" }));
        return Ok(());
    };
    let mut rows = Vec::new();
    for nodes in [0, 1, 2, 3] {
        for mode in [ConnectMode::Legacy, ConnectMode::Auto] {
            let row = measure(&redis, nodes, mode, length).await?;
            eprintln!("{row}");
            rows.push(row);
        }
    }
    println!("{:#}", json!({ "clients": CLIENTS, "rows": rows }));
    Ok(())
}

/// Measures calls of one era. Without nodes on Redis, one node has its sessions in memory.
async fn measure(
    redis: &RedisServer,
    nodes: usize,
    mode: ConnectMode,
    length: Duration,
) -> Result<Value, Failure> {
    let (program, url) = (server()?, redis.url());
    let mut started = Vec::new();
    for _ in 0..nodes.max(1) {
        let redis = (nodes > 0).then_some(url.as_str());
        started.push(Node::start(&program, redis).await?);
    }
    let addresses = started.iter().map(|node| node.address().to_owned());
    let (_proxy, url) = Proxy::start(addresses.collect(), true).await?;
    let era = format!("{mode:?}");
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let client = Client::builder()
            .mode(mode.clone())
            .connect(url.as_str())
            .await?;
        // Each node has the session.
        for _ in 0..nodes {
            client.call("test_simple_text", json!({})).await?;
        }
        clients.push(client);
    }
    // The sessions of earlier clients have ended.
    sleep(Duration::from_millis(500)).await;
    let before = commands(redis).await?;
    let start = Instant::now();
    let workers = clients
        .into_iter()
        .map(|client| tokio::spawn(async move { call_until(&client, start + length).await }));
    let mut times = Vec::new();
    for worker in workers.collect::<Vec<_>>() {
        times.extend(worker.await??);
    }
    let seconds = start.elapsed().as_secs_f64();
    let after = commands(redis).await?;
    times.sort();
    let percentile = |part: f64| {
        let index = (times.len() as f64 * part) as usize;
        times.get(index).map(|time| time.as_micros())
    };
    let sent: BTreeMap<_, _> = after
        .into_iter()
        .map(|(name, count)| {
            let count = count - before.get(&name).copied().unwrap_or(0);
            (name, count as f64 / times.len() as f64)
        })
        .filter(|(_, per_call)| *per_call > 0.0)
        .collect();
    let total = sent.values().fold(0.0, |total, per_call| total + per_call);
    Ok(json!({
        "nodes_on_redis": nodes,
        "era": era,
        "calls_per_second": (times.len() as f64 / seconds).round(),
        "p50_us": percentile(0.5),
        "p99_us": percentile(0.99),
        "redis_commands_per_call": (total * 1e4).round() / 1e4,
        "commands": sent,
    }))
}

async fn call_until(client: &Client, end: Instant) -> Result<Vec<Duration>, Failure> {
    let mut times = Vec::new();
    while Instant::now() < end {
        let start = Instant::now();
        let result = client.call("test_simple_text", json!({})).await?;
        times.push(start.elapsed());
        if !result.text().contains("simple text response") {
            return Err(format!("wrong answer: {}", result.text()).into());
        }
    }
    Ok(times)
}

/// Returns the number of commands that Redis has run for calls, by name.
async fn commands(redis: &RedisServer) -> Result<BTreeMap<String, u64>, Failure> {
    let info = redis.info("commandstats").await?;
    let parse = |line: &str| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let name = name.split('|').next()?.to_owned();
        let count = rest.split(',').next()?.parse().ok()?;
        (!OTHERS.contains(&name.as_str())).then_some((name, count))
    };
    Ok(info.lines().filter_map(parse).collect())
}
