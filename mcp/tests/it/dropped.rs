//! Dropped calls leave no running handler and no task.
//!
//! Tests of the stdio transport check that its table of pending requests is empty afterwards.

use std::future::{IntoFuture, pending};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{Either, join_all, select};
use mcp::StdioServer;
use mcp::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio::time::{Instant, pause, resume, sleep, timeout};

/// Upper bound of every wait; reached only if a test fails.
const LIMIT: Duration = Duration::from_secs(30);

/// Number of calls, and number of concurrent calls.
const CALLS: u64 = 1000;
const CONCURRENT: u64 = 25;

/// Tasks of a server over HTTP: the accept loop, the connections, and the expiry of sessions.
const SERVER_TASKS: usize = 3;

/// Counts running handlers.
#[derive(Clone, Default)]
struct Handlers {
    running: Arc<AtomicUsize>,
}

impl Handlers {
    fn start(&self) -> impl Drop + use<> {
        struct Guard(Arc<AtomicUsize>);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        self.running.fetch_add(1, Ordering::SeqCst);
        Guard(self.running.clone())
    }

    fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Job {
    /// Number of runtime turns that the job takes; `None`: it never ends.
    turns: Option<u64>,
}

/// A server with a tool that runs for the given number of turns and reports progress halfway.
fn server(handlers: &Handlers) -> Server {
    let handlers = handlers.clone();
    let work = move |Args(job): Args<Job>, progress: Progress| {
        let guard = handlers.start();
        async move {
            let turns = job.turns.unwrap_or_default();
            turn(turns / 2).await;
            progress.report(1.0, 2.0, "half").await;
            if job.turns.is_none() {
                pending::<()>().await;
            }
            turn(turns / 2).await;
            drop(guard);
            "done"
        }
    };
    Server::new("s", "1").tool(Tool::new("work").handler(work))
}

/// Lets all other ready tasks run `count` times.
async fn turn(count: u64) {
    for _ in 0..count {
        yield_now().await;
    }
}

/// Deterministic pseudo-random numbers (SplitMix64).
fn random(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Waits until `condition` returns `true`; panics with `message` after [`LIMIT`].
async fn until(message: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LIMIT, "{message}");
        yield_now().await;
    }
}

fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// Makes [`CALLS`] calls and drops many of them before they are answered. Returns the number of
/// answered calls.
async fn drop_calls(client: &Client) -> u64 {
    let mut answered = 0;
    for round in 0..CALLS / CONCURRENT {
        let calls = (0..CONCURRENT).map(|index| async move {
            let random = random(round * CONCURRENT + index);
            let args = json!({"turns": (random >> 32) % 40});
            let call = client.call("work", args).on_progress(drop);
            let deadline = pin!(turn(random % 80));
            match select(pin!(call.into_future()), deadline).await {
                Either::Left((result, _)) => Some(result),
                Either::Right(_) => None,
            }
        });
        for result in join_all(calls).await.into_iter().flatten() {
            assert_eq!(result.unwrap().text(), "done");
            answered += 1;
        }
    }
    answered
}

/// Makes calls that never end, and drops them when all their handlers run.
async fn drop_running_calls(client: &Client, handlers: &Handlers) {
    let calls = (0..CONCURRENT).map(|_| {
        let call = client.call("work", json!({"turns": null}));
        call.on_progress(drop).into_future()
    });
    let all_run = until("not all handlers run", || {
        handlers.running() == CONCURRENT as usize
    });
    select(join_all(calls), pin!(all_run)).await;
    assert_eq!(handlers.running(), CONCURRENT as usize);
}

/// Checks that no handler is left after the calls, and at most `before` tasks after the client.
async fn assert_nothing_left(client: Client, handlers: &Handlers, before: usize) {
    drop_running_calls(&client, handlers).await;
    until("handlers still run", || handlers.running() == 0).await;
    let answered = drop_calls(&client).await;
    assert!(answered < CALLS, "no call was dropped");
    assert!(answered > 0, "every call was dropped");
    until("handlers still run", || handlers.running() == 0).await;
    // The connection still works.
    let last = client.call("work", json!({"turns": 0})).into_future();
    let last = timeout(LIMIT, last).await;
    assert_eq!(last.unwrap().unwrap().text(), "done");
    timeout(LIMIT, client.close()).await.unwrap().unwrap();
    drop(client);
    until("tasks still run", || tasks() <= before).await;
}

#[tokio::test]
async fn dropped_calls_over_http_leave_nothing() {
    for mode in [
        ConnectMode::Pin(ProtocolVersion::LATEST),
        ConnectMode::Legacy,
    ] {
        let handlers = Handlers::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let serving = tokio::spawn(mcp::serve_http(server(&handlers), listener));
        let client = Client::builder().mode(mode).connect(url).await.unwrap();
        assert_nothing_left(client, &handlers, SERVER_TASKS).await;
        serving.abort();
        // The expiry task ends when its timer next fires. The clock is paused, so `sleep` returns at
        // once when no task is ready.
        pause();
        for _ in 0..LIMIT.as_secs() {
            sleep(Duration::from_secs(1)).await;
        }
        resume();
        assert!(tasks() < SERVER_TASKS, "the server still runs");
    }
}

#[tokio::test]
async fn dropped_calls_over_pipe_leave_nothing() {
    for mode in [ConnectMode::Auto, ConnectMode::Legacy] {
        let handlers = Handlers::default();
        let (near, far) = tokio::io::duplex(4096);
        let (reader, writer) = tokio::io::split(far);
        let server = StdioServer::new(server(&handlers));
        let serving = tokio::spawn(server.run_over(reader, writer));
        let (reader, writer) = tokio::io::split(near);
        let client = Client::builder().mode(mode);
        let client = client.connect(Io(reader, writer)).await.unwrap();
        assert_nothing_left(client, &handlers, 0).await;
        timeout(LIMIT, serving).await.unwrap().unwrap().unwrap();
    }
}
