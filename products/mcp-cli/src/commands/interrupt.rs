//! Ctrl-C: the first cancels the call, the second leaves.

use crate::failure::FailureKind;
use crate::output::Output;

/// Completes at the first Ctrl-C. A second one ends the process.
pub(super) async fn first(output: Output) {
    if tokio::signal::ctrl_c().await.is_err() {
        // Without a signal handler, the operating system ends the process.
        std::future::pending::<()>().await;
    }
    output.note("cancelling; press Ctrl-C again to leave");
    tokio::spawn(async {
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(FailureKind::Cancelled.exit_code().into());
        }
    });
}
