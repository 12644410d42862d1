//! Layers of tower around a handler that runs for a second.

use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use mcp_types::{CallToolParams, CallToolResult, ProtocolVersion};
use tokio::time::{Instant, sleep};
use tower::limit::{ConcurrencyLimitLayer, RateLimitLayer};
use tower::timeout::TimeoutLayer;
use tower::{BoxError as TowerError, ServiceBuilder};

use super::*;
use crate::connection::ClientContext;
use crate::message::{Call, Fault};

fn exchange() -> Exchange {
    let facts = Arc::new(ClientContext::new(ProtocolVersion::LATEST));
    Exchange::new(Call::CallTool(CallToolParams::new("work", None)), facts)
}

/// A handler that runs for a second, and the maximum number of concurrent runs.
fn work() -> (Next, Arc<AtomicUsize>) {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = most.clone();
    let next = Next::new(move |_| {
        let (now, most) = (now.clone(), most.clone());
        Box::pin(async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_secs(1)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            CallToolResult::from_text("done").into()
        })
    });
    (next, seen)
}

fn done(reply: &Reply) -> bool {
    matches!(reply, Reply::Complete { .. })
}

fn fault(reply: Reply) -> Fault {
    match reply {
        Reply::Fault(fault) => fault,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn elapsed_timeout_is_a_deadline() {
    let (next, _) = work();
    let short = TimeoutLayer::new(Duration::from_millis(10)).wrap(next.clone());
    assert_eq!(fault(short.run(exchange()).await), Fault::Deadline);
    let long = TimeoutLayer::new(Duration::from_secs(10)).wrap(next);
    assert!(done(&long.run(exchange()).await));
}

#[tokio::test(start_paused = true)]
async fn calls_share_a_concurrency_limit() {
    let (next, most) = work();
    let limited = ConcurrencyLimitLayer::new(2).wrap(next);
    let start = Instant::now();
    let replies = join_all((0..7).map(|_| limited.run(exchange()))).await;
    assert!(replies.iter().all(done));
    assert_eq!(most.load(Ordering::SeqCst), 2);
    assert_eq!(start.elapsed().as_secs(), 4);
}

#[tokio::test(start_paused = true)]
async fn calls_share_a_rate_limit() {
    let (next, most) = work();
    let limited = RateLimitLayer::new(1, Duration::from_secs(5)).wrap(next);
    let start = Instant::now();
    let replies = join_all((0..3).map(|_| limited.run(exchange()))).await;
    assert!(replies.iter().all(done));
    assert_eq!(most.load(Ordering::SeqCst), 1);
    assert_eq!(start.elapsed().as_secs(), 11);
}

/// A call that is dropped while it waits lets the next one run.
#[tokio::test(start_paused = true)]
async fn dropped_call_does_not_block_the_next() {
    let (next, _) = work();
    let limited = ConcurrencyLimitLayer::new(1).wrap(next);
    let running = tokio::spawn(limited.run(exchange()));
    tokio::task::yield_now().await;
    let mut given_up: Vec<_> = (0..3)
        .map(|_| tokio::spawn(limited.run(exchange())))
        .collect();
    let waiting = tokio::spawn(limited.run(exchange()));
    tokio::task::yield_now().await;
    for task in given_up.drain(..) {
        task.abort();
    }
    assert!(done(&running.await.unwrap()));
    let waited = tokio::time::timeout(Duration::from_secs(60), waiting);
    assert!(done(&waited.await.unwrap().unwrap()));
}

#[tokio::test(start_paused = true)]
async fn shed_call_is_refused() {
    let (next, most) = work();
    let layers = ServiceBuilder::new().load_shed().concurrency_limit(1);
    let limited = layers.wrap(next);
    let mut replies = join_all((0..2).map(|_| limited.run(exchange()))).await;
    let refused = fault(replies.pop().unwrap());
    assert_eq!(refused.retry_after(), Some(Duration::from_secs(1)));
    assert!(refused.to_string().contains("overloaded; try again in 1 s"));
    assert!(done(&replies[0]));
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

/// A buffer wraps the errors of its inner service.
#[tokio::test(start_paused = true)]
async fn error_source_decides_the_fault() {
    let (next, _) = work();
    let layers = ServiceBuilder::new()
        .buffer::<Exchange>(8)
        .timeout(Duration::from_millis(1));
    assert_eq!(
        fault(layers.wrap(next).run(exchange()).await),
        Fault::Deadline
    );
}

#[tokio::test]
async fn outer_layer_runs_around_the_inner() {
    let order = Arc::new(StdMutex::new(Vec::new()));
    let noting = |name: &'static str| {
        let order = order.clone();
        from_fn(move |exchange, next| {
            let order = order.clone();
            async move {
                order.lock().unwrap().push(name);
                let reply = next.run(exchange).await;
                order.lock().unwrap().push(name);
                reply
            }
        })
    };
    let end = Next::new(|_| Box::pin(async { CallToolResult::from_text("done").into() }));
    let next = noting("outer").wrap(noting("inner").wrap(end.clone()));
    assert!(done(&next.run(exchange()).await));
    let expected = ["outer", "inner", "inner", "outer"];
    assert_eq!(*std::mem::take(&mut *order.lock().unwrap()), expected);

    let both = ServiceBuilder::new()
        .layer(noting("outer"))
        .layer(noting("inner"));
    assert!(done(&both.wrap(end).run(exchange()).await));
    assert_eq!(*order.lock().unwrap(), expected);
}

/// Errors of layers, and the faults that clients receive.
#[tokio::test]
async fn errors_become_faults_by_type() {
    #[derive(Debug, thiserror::Error)]
    #[error("the password is 1234")]
    struct Secret;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot")]
    struct Outer(#[source] Fault);

    let refused = Fault::Refused("no".into());
    let internal = Fault::internal("a layer of the server failed");
    let cases: [(fn() -> TowerError, Fault); 4] = [
        (|| Box::new(Fault::Refused("no".into())), refused.clone()),
        (|| Box::new(Outer(Fault::Refused("no".into()))), refused),
        (|| Box::new(Secret), internal.clone()),
        (|| "Elapsed".into(), internal),
    ];
    for (error, expected) in cases {
        let end = Next::new(|_| Box::pin(async { CallToolResult::from_text("done").into() }));
        let failing = ServiceBuilder::new()
            .map_result(move |_: Result<Reply, Infallible>| Err::<Reply, _>(error()));
        assert_eq!(fault(failing.wrap(end).run(exchange()).await), expected);
    }
}

#[tokio::test]
async fn panic_in_a_layer_fails_one_call() {
    let calls = Arc::new(AtomicUsize::new(0));
    let end = Next::new(|_| Box::pin(async { CallToolResult::from_text("done").into() }));
    let next = from_fn(move |exchange, next| {
        let first = calls.fetch_add(1, Ordering::SeqCst) == 0;
        assert!(!first, "inside of the layer's `call`, which holds the lock");
        async move { next.run(exchange).await }
    });
    let next = next.wrap(end);
    let failed = fault(next.run(exchange()).await);
    assert_eq!(failed, Fault::internal("a layer of the server failed"));
    assert!(done(&next.run(exchange()).await));
}

#[tokio::test]
async fn nested_run_to_ends_each_layer_in_its_own_endpoint() {
    let passing = || from_fn(|exchange, next: Next| async move { next.run(exchange).await });
    let inner = passing().wrap(Next::endpoint());
    let outer = passing().wrap(Next::endpoint());
    let reply = outer.run_to(exchange(), move |exchange| {
        inner.run_to(exchange, |_| {
            Box::pin(async { CallToolResult::from_text("done").into() })
        })
    });
    assert!(done(&reply.await));
}

#[tokio::test]
async fn layer_that_replaces_exchange_loses_endpoint() {
    let replacing = from_fn(|_, next: Next| async move { next.run(exchange()).await });
    let layer = replacing.wrap(Next::endpoint());
    let reply = layer.run_to(exchange(), |_| {
        Box::pin(async { CallToolResult::from_text("done").into() })
    });
    let failed = fault(reply.await);
    assert_eq!(failed, Fault::internal("a layer of the server failed"));
}
