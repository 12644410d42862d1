//! Tasks of one kind: tokio has code for every type of future that is spawned, and for each of its
//! schedulers.

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
