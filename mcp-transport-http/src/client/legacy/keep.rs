//! The one task of a session: what goes on whether calls run or not.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::join;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::follow::standalone;
use super::session::Session;
use super::sse_2024;
use crate::client::answer::Events;

/// What the task does beside sending cancellations and saying good-bye.
pub(super) enum Work {
    /// Nothing.
    Nothing,
    /// Reads the stream outside of calls, if the server has one.
    Standalone,
    /// Reads the one stream of HTTP+SSE.
    OneStream(Box<Events>),
}

/// Starts the task; a session has one. Where no runtime is, nothing is kept.
pub(super) fn keep(session: &Arc<Session>, work: Work) {
    let Ok(runtime) = Handle::try_current() else {
        return;
    };
    let Some(cancels) = session.take_cancels() else {
        return;
    };
    runtime.spawn(tend(Arc::clone(session), cancels, work));
}

async fn tend(session: Arc<Session>, cancels: mpsc::Receiver<Bytes>, work: Work) {
    let work = async {
        match work {
            Work::Nothing => {}
            Work::Standalone => standalone(&session).await,
            Work::OneStream(events) => sse_2024::read(&session, *events).await,
        }
    };
    tokio::select! {
        biased;
        _ = session.ended() => {}
        _ = join(send(&session, cancels), work) => {}
    }
    session.delete().await;
}

async fn send(session: &Session, mut cancels: mpsc::Receiver<Bytes>) {
    while let Some(text) = cancels.recv().await {
        // A server that cannot be told finds out by itself.
        let _ = session.note(text).await;
    }
}
