//! Calls that nobody waits for any more leave nothing behind: no handler, no task.
//!
//! That the table of a pipe is empty after them is tested beside the pipe.

use std::future::IntoFuture;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{join_all, select};
use mcp::StdioServer;
use mcp::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};

const LIMIT: Duration = Duration::from_secs(30);

/// How many calls, and how many of them at once.
const CALLS: u64 = 1000;
const AT_ONCE: u64 = 25;

/// A server over HTTP accepts in one task, looks after its connections in another one, and ends old
/// sessions in a third.
const SERVER_TASKS: usize = 3;

/// Counts the handlers that run.
#[derive(Clone, Default)]
struct Handlers {
    running: Arc<AtomicUsize>,
}

impl Handlers {
    fn begin(&self) -> impl Drop + use<> {
        struct One(Arc<AtomicUsize>);
        impl Drop for One {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        self.running.fetch_add(1, Ordering::SeqCst);
        One(self.running.clone())
    }

    fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Job {
    micros: u64,
}

/// A server whose tool takes as long as it is told, in microseconds, and reports meanwhile.
fn server(handlers: &Handlers) -> Server {
    let handlers = handlers.clone();
    let work = move |Args(job): Args<Job>, progress: Progress| {
        let running = handlers.begin();
        async move {
            let micros = job.micros;
            sleep(Duration::from_micros(micros / 2)).await;
            progress.report(1.0, 2.0, "half").await;
            sleep(Duration::from_micros(micros / 2)).await;
            drop(running);
            "done"
        }
    };
    Server::new("s", "1").tool(Tool::new("work").handler(work))
}

/// Numbers that look like chance and are the same in each run (SplitMix64).
fn number(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LIMIT, "{what}");
        sleep(Duration::from_millis(5)).await;
    }
}

fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// Makes all calls and drops most of them before they are answered; tells how many were answered.
async fn drop_calls(client: &Client) -> u64 {
    let mut answered = 0;
    for round in 0..CALLS / AT_ONCE {
        let calls = (0..AT_ONCE).map(|at| {
            let chance = number(round * AT_ONCE + at);
            let patience = Duration::from_micros(chance % 8_000);
            let args = json!({"micros": (chance >> 32) % 8_000});
            let call = client.call("work", args).on_progress(drop);
            timeout(patience, call.into_future())
        });
        for result in join_all(calls).await.into_iter().flatten() {
            assert_eq!(result.unwrap().text(), "done");
            answered += 1;
        }
    }
    answered
}

/// Makes calls that take longer than the test may, and drops them once all their handlers run.
async fn drop_running_calls(client: &Client, handlers: &Handlers) {
    let calls = (0..AT_ONCE).map(|_| {
        let args = json!({"micros": 4 * LIMIT.as_micros() as u64});
        client.call("work", args).on_progress(drop).into_future()
    });
    let all_run = until("not all handlers run", || {
        handlers.running() == AT_ONCE as usize
    });
    select(join_all(calls), pin!(all_run)).await;
    assert_eq!(handlers.running(), AT_ONCE as usize);
}

/// What is left after the calls, and after the client.
async fn leaves_nothing(client: Client, handlers: &Handlers, before: usize) {
    drop_running_calls(&client, handlers).await;
    until("handlers run on", || handlers.running() == 0).await;
    let answered = drop_calls(&client).await;
    assert!(answered < CALLS, "none was dropped");
    until("handlers run on", || handlers.running() == 0).await;
    // The connection is as good as before.
    let args = json!({"micros": 0});
    let last = timeout(LIMIT, client.call("work", args).into_future()).await;
    assert_eq!(last.unwrap().unwrap().text(), "done");
    timeout(LIMIT, client.close()).await.unwrap().unwrap();
    drop(client);
    until("tasks run on", || tasks() <= before).await;
}

#[tokio::test]
async fn over_http() {
    for mode in [
        ConnectMode::Pin(ProtocolVersion::LATEST),
        ConnectMode::Legacy,
    ] {
        let handlers = Handlers::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let serving = tokio::spawn(mcp::serve_http(server(&handlers), listener));
        let client = Client::builder().mode(mode).connect(url).await.unwrap();
        leaves_nothing(client, &handlers, SERVER_TASKS).await;
        serving.abort();
        // The one that ends old sessions looks but once in a while.
        until("the server runs on", || tasks() < SERVER_TASKS).await;
    }
}

#[tokio::test]
async fn over_a_pipe() {
    for mode in [ConnectMode::Auto, ConnectMode::Legacy] {
        let handlers = Handlers::default();
        let (here, there) = tokio::io::duplex(4096);
        let (reader, writer) = tokio::io::split(there);
        let server = StdioServer::new(server(&handlers));
        let serving = tokio::spawn(server.serve(reader, writer));
        let (reader, writer) = tokio::io::split(here);
        let client = Client::builder().mode(mode);
        let client = client.connect(Io(reader, writer)).await.unwrap();
        leaves_nothing(client, &handlers, 0).await;
        timeout(LIMIT, serving).await.unwrap().unwrap().unwrap();
    }
}
