//! The background task of a session: it reads the stream that belongs to no call, sends
//! cancellations, and deletes the session at its end.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::join;
use http::HeaderMap;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::resumable_stream::read_standalone;
use super::session::{DELETE_TIMEOUT, Session};
use super::sse_2024;
use crate::client::response::ResponseEvents;

/// The stream that the task reads besides sending cancellations.
pub(super) enum BackgroundStream {
    None,
    /// The standalone GET stream, if the server offers one.
    Standalone,
    /// The single stream of HTTP+SSE, already open.
    HttpSse(Box<ResponseEvents>),
}

/// Spawns the task of `session`. Does nothing outside a tokio runtime, or when the session has
/// its task already.
pub(super) fn spawn(session: &Arc<Session>, stream: BackgroundStream) {
    let Ok(runtime) = Handle::try_current() else {
        return;
    };
    let Some(cancellations) = session.take_cancellations() else {
        return;
    };
    runtime.spawn(run(Arc::clone(session), cancellations, stream));
}

async fn run(
    session: Arc<Session>,
    cancellations: mpsc::Receiver<Bytes>,
    stream: BackgroundStream,
) {
    let read = async {
        match stream {
            BackgroundStream::None => {}
            BackgroundStream::Standalone => read_standalone(&session).await,
            BackgroundStream::HttpSse(events) => sse_2024::read(&session, *events).await,
        }
    };
    tokio::select! {
        biased;
        _ = session.ended() => {}
        _ = join(send_cancellations(&session, cancellations), read) => {}
    }
    // Best effort: the session also expires at the server. `close` reports the error to its caller.
    let _ = timeout(DELETE_TIMEOUT, session.delete()).await;
}

async fn send_cancellations(session: &Session, mut cancellations: mpsc::Receiver<Bytes>) {
    while let Some(body) = cancellations.recv().await {
        // Best effort: a cancellation that cannot be sent changes nothing for the caller.
        let _ = session.notify(body, &HeaderMap::new()).await;
    }
}
