//! `bench-streams COUNT`: a server with `COUNT` open GET streams, each with a connection in memory instead of a socket, so
//! that the limit of open files does not count. It prints what `checks/bench/programs/scale.py` reports, as JSON.

#![allow(clippy::print_stdout, reason = "prints its result")]

use std::time::{Duration, Instant};

use bench::Failure;
use bench::era::{self, Era};
use bench::request::{never, open_session, parse, send};
use bench::scenario::Scenario;
use http_body_util::BodyExt as _;
use hyper::Method;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use mcp::http::server::Sessions;
use mcp::prelude::*;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::task::{JoinSet, yield_now};
use tower_service::Service;

/// Longer than any measurement.
const NEVER: Duration = Duration::from_secs(24 * 3600);
/// Calls of one measurement.
const CALLS: usize = 20_000;
/// Bytes that a connection holds in each direction.
const CONNECTION_BYTES: usize = 4096;

fn main() -> Result<(), Failure> {
    let count = std::env::args()
        .nth(1)
        .ok_or("usage: bench-streams COUNT")?;
    let count = count.parse()?;
    // One thread, because the benchmarks measure one core.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let sessions = Sessions::in_memory().max(count + 1).idle_timeout(NEVER);
    let endpoint = StreamableHttp::new(bench::server(0)).sessions(sessions);
    let mut streams = Streams::new(endpoint);
    runtime.block_on(streams.p99_of_calls())?;
    let p99_alone = runtime.block_on(streams.p99_of_calls())?;

    let start = Instant::now();
    let held = heap(|| runtime.block_on(streams.open_all(count)))?;
    let opened = start.elapsed();
    let p99_meanwhile = runtime.block_on(streams.p99_of_calls())?;

    let start = Instant::now();
    let given = heap(|| runtime.block_on(streams.close_all()))?;
    let given_back = start.elapsed();
    runtime.block_on(streams.p99_of_calls())?;
    let report = json!({
        "count": count,
        "opened_s": opened.as_secs_f64(),
        "bytes_each": held as f64 / count as f64,
        "p99_alone_us": p99_alone,
        "p99_meanwhile_us": p99_meanwhile,
        "given_back_s": given_back.as_secs_f64(),
        "left_bytes": held + given,
    });
    println!("{report}");
    Ok(())
}

/// Returns the bytes that `work` has allocated and not freed. Negative: it has freed more. The resident memory does not show
/// this: the allocator keeps freed memory.
fn heap(work: impl FnOnce() -> Result<(), Failure>) -> Result<i64, Failure> {
    let mut outcome = Ok(());
    let allocated = allocation_counter::measure(|| outcome = work());
    outcome.map(|()| allocated.bytes_current)
}

/// A server, and the clients' ends of its streams.
struct Streams {
    endpoint: StreamableHttp,
    sessions: Vec<String>,
    clients: Vec<DuplexStream>,
    connections: JoinSet<()>,
}

impl Streams {
    fn new(endpoint: StreamableHttp) -> Self {
        Self {
            endpoint,
            sessions: Vec::new(),
            clients: Vec::new(),
            connections: JoinSet::new(),
        }
    }

    async fn open_all(&mut self, count: usize) -> Result<(), Failure> {
        for _ in 0..count {
            self.open().await?;
        }
        let open = self.endpoint.metrics().streams;
        if usize::try_from(open)? == count {
            Ok(())
        } else {
            Err(format!("{open} streams of {count} are open").into())
        }
    }

    /// Opens a session and its GET stream.
    async fn open(&mut self) -> Result<(), Failure> {
        let session = open_session(&mut self.endpoint).await?;
        let headers = era::session_headers(&session);
        let (mut client, server) = tokio::io::duplex(CONNECTION_BYTES);
        let service = TowerToHyperService::new(self.endpoint.clone());
        let connection = http1::Builder::new().serve_connection(TokioIo::new(server), service);
        self.connections.spawn(async {
            // The client ends the connection.
            let _ = connection.await;
        });
        let path = bench::PATH;
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n{headers}\r\n"
        );
        client.write_all(head.as_bytes()).await?;
        let mut answer = [0; 12];
        client.read_exact(&mut answer).await?;
        if &answer != b"HTTP/1.1 200" {
            return Err(String::from_utf8_lossy(&answer).into());
        }
        self.sessions.push(session);
        self.clients.push(client);
        Ok(())
    }

    /// Ends all streams and sessions.
    async fn close_all(&mut self) -> Result<(), Failure> {
        self.clients = Vec::new();
        while self.connections.join_next().await.is_some() {}
        for session in std::mem::take(&mut self.sessions) {
            let headers = era::session_headers(&session);
            let mut request = parse(&era::post(80, &headers, ""))?;
            *request.method_mut() = Method::DELETE;
            self.endpoint.call(request).await.map_err(never)?;
        }
        yield_now().await;
        let metrics = self.endpoint.metrics();
        match (metrics.streams, metrics.sessions) {
            (0, 0) => Ok(()),
            _ => Err(format!("streams or sessions are left: {metrics:?}").into()),
        }
    }

    /// Makes calls of the modern era one after the other, and returns the 99th percentile of their times in microseconds.
    async fn p99_of_calls(&mut self) -> Result<f64, Failure> {
        let mut request = Scenario::Call.request(80, Era::Modern, None);
        let mut checker = Scenario::Call.checker(Era::Modern);
        let mut times = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let (bytes, id) = request.prepare();
            let start = Instant::now();
            let response = send(&mut self.endpoint, bytes).await?;
            let body = response.into_body().collect().await.map_err(never)?;
            times.push(start.elapsed());
            let body = body.to_bytes();
            if !checker.accepts(&body, id) {
                return Err(String::from_utf8_lossy(&body).into());
            }
        }
        times.sort_unstable();
        let p99 = times.get(CALLS * 99 / 100).copied().unwrap_or_default();
        Ok(p99.as_secs_f64() * 1e6)
    }
}
