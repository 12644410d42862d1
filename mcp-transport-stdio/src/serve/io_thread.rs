//! The thread that reads and writes the standard streams.

use std::io;
use std::thread;

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tracing::Instrument;
use tracing::instrument::WithSubscriber;

/// Runs `serving` on a thread of its own, with a runtime of its own: whatever blocks the threads of the
/// handlers' runtime, messages are read and answered. Dropping the returned future ends the thread at its
/// next wait.
///
/// # Errors
///
/// Returns the error of `serving`, or an error when the thread cannot be started.
pub(super) async fn run(
    serving: impl Future<Output = io::Result<()>> + Send + 'static,
) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (mut sender, receiver) = oneshot::channel();
    let serving = serving.in_current_span().with_current_subscriber();
    thread::Builder::new()
        .name("mcp-stdio".to_owned())
        .spawn(move || {
            let served = runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = sender.closed() => None,
                    served = serving => Some(served),
                }
            });
            // A read of a terminal or of a file may still block a thread.
            runtime.shutdown_background();
            if let Some(served) = served {
                // An error means that the receiver was dropped.
                let _ = sender.send(served);
            }
        })?;
    let panicked = |_| Err(io::Error::other("the thread of the streams panicked"));
    receiver.await.unwrap_or_else(panicked)
}
