//! Tasks of one kind: tokio has code for every type of future that is spawned, and for each of its
//! schedulers.

use std::future::poll_fn;
use std::task::Poll;

use mcp_core::BoxFuture;
use tokio::task::JoinHandle;

/// Spawns a future, whose type is forgotten.
pub(crate) fn spawn(future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    spawn_boxed(Box::pin(future))
}

/// Of no type of a program, so it is compiled with this crate.
fn spawn_boxed(future: BoxFuture<'static, ()>) -> JoinHandle<()> {
    tokio::spawn(future)
}

/// Waits for all futures at once; what they give keeps their order.
pub(crate) async fn join_all<T>(mut futures: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut given: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|cx| {
        let mut waits = false;
        for (future, given) in futures.iter_mut().zip(&mut given) {
            if given.is_none() {
                match future.as_mut().poll(cx) {
                    Poll::Ready(value) => *given = Some(value),
                    Poll::Pending => waits = true,
                }
            }
        }
        match waits {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    })
    .await;
    given.into_iter().flatten().collect()
}
