//! A node that ends while it runs a session's call.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp::http::Serve;
use mcp::prelude::*;
use mcp::{Server, Sessions, StreamableHttp};
use mcp_redis::Redis;
use serde_json::json;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

use crate::server::RedisServer;

/// Starts a node whose tool `wait` tells that it runs, and never ends. Returns its address.
async fn serve(redis: &Redis, runs: mpsc::UnboundedSender<()>) -> SocketAddr {
    let wait = move |progress: Progress| {
        let runs = runs.clone();
        async move {
            progress.report(1.0, 2.0, "waiting").await;
            runs.send(()).unwrap();
            pending::<String>().await
        }
    };
    let server = Server::new("node", "1")
        .tool(Tool::new("wait").handler(wait))
        .tool(Tool::new("fine").handler(|| "fine"))
        .change_bus(redis.bus());
    let endpoint = StreamableHttp::new(server)
        .sessions(Sessions::shared(redis.sessions()))
        .reconnect_after(Duration::from_millis(10))
        .events(redis.events());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(Serve::service(endpoint).run(listener));
    address
}

/// Listens in front of the node that is set. Returns the URL.
async fn balance(node: Arc<Mutex<SocketAddr>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let address = *node.lock().unwrap();
            tokio::spawn(async move {
                let mut node = TcpStream::connect(address).await?;
                copy_bidirectional(&mut client, &mut node).await
            });
        }
    });
    url
}

fn runtime() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().unwrap()
}

#[test]
fn call_on_a_killed_node_fails_within_seconds_and_the_session_continues() {
    let (dies, stays) = (runtime(), runtime());
    let Some(redis) = stays.block_on(RedisServer::start()) else {
        return;
    };
    let (runs, mut running) = mpsc::unbounded_channel();
    let first = dies.block_on(async { serve(&redis.connect().await, runs.clone()).await });
    let node = Arc::new(Mutex::new(first));
    let (client, call) = stays.block_on(async {
        let second = serve(&redis.connect().await, runs).await;
        let url = balance(node.clone()).await;
        let builder = Client::builder().mode(ConnectMode::Legacy);
        let client = builder.connect(url).await.unwrap();
        let caller = client.clone();
        let call = tokio::spawn(async move {
            let call = caller.call("wait", json!({})).on_progress(drop);
            call.timeout(Duration::from_secs(60)).await
        });
        running.recv().await.unwrap();
        *node.lock().unwrap() = second;
        (client, call)
    });
    let start = Instant::now();
    dies.shutdown_background();
    stays.block_on(async {
        let error = call.await.unwrap().unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(10), "{error}");
        assert!(error.may_have_run(), "{error}");
        let text = client.call("fine", json!({})).await.unwrap().text();
        assert_eq!(text, "fine");
    });
}
