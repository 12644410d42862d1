//! Sessions: the era up to 2025-11-25.
//!
//! | you look for | module |
//! |---|---|
//! | what a session sends, and which message belongs where | `session` |
//! | one call, from its POST to its answer | `call` |
//! | streams that break and go on | `follow`, by the machine in `resume` |
//! | the one task of a session | `keep` |
//! | what waits between reader and taker | `queue` |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports>

mod call;
mod follow;
mod keep;
mod queue;
mod resume;
mod session;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::{StreamExt, future, stream};
use mcp_core::{BoxFuture, ChannelError, CloseReason, Frames, OutCall, OutNote};
use mcp_types::{Method, ProtocolVersion};

use session::Over;
pub(super) use session::Session;

use super::ending::Ending;
use super::requests::Http;

/// What is done beside calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    /// Ask for the stream outside of calls.
    pub(super) standalone: bool,
    /// Try HTTP+SSE where Streamable HTTP is refused.
    pub(super) http_sse: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            standalone: true,
            http_sse: true,
        }
    }
}

/// The session of a channel: none, or one after the other.
#[derive(Default)]
pub(super) struct Sessions {
    pub(super) settings: Settings,
    current: Mutex<Option<Arc<Session>>>,
}

impl Sessions {
    fn current(&self) -> MutexGuard<'_, Option<Arc<Session>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, http: &Arc<Http>, closing: &Arc<Ending<CloseReason>>) -> Arc<Session> {
        let mut current = self.current();
        let new = || Arc::new(Session::new(Arc::clone(http), Arc::clone(closing)));
        Arc::clone(current.get_or_insert_with(new))
    }

    /// The session that `initialize` opens: the one that waits for that, or a new one.
    fn begin(&self, http: &Arc<Http>, closing: &Arc<Ending<CloseReason>>) -> Arc<Session> {
        let session = self.get(http, closing);
        if session.begin() {
            return session;
        }
        session.end(Over::Replaced);
        *self.current() = None;
        let session = self.get(http, closing);
        session.begin();
        session
    }

    pub(super) fn call(
        &self,
        http: &Arc<Http>,
        closing: &Arc<Ending<CloseReason>>,
        out: OutCall,
    ) -> Frames {
        let session = if call::opens(&out) {
            self.begin(http, closing)
        } else {
            let session = self.get(http, closing);
            session.adopt(out.mirror.version);
            session
        };
        call::frames(session, out, self.settings)
    }

    pub(super) fn notify(
        &self,
        http: &Arc<Http>,
        closing: &Arc<Ending<CloseReason>>,
        out: OutNote,
    ) -> BoxFuture<'static, Result<(), ChannelError>> {
        let session = self.get(http, closing);
        session.adopt(out.mirror.version);
        let readies = Method::from_name(&out.mirror.method) == Some(Method::Initialized);
        Box::pin(async move {
            let sent = async {
                session.note(out.body).await?;
                if readies {
                    session.ready.notify_one();
                }
                Ok(())
            };
            tokio::select! {
                biased;
                error = session.ended() => Err(error),
                sent = sent => sent,
            }
        })
    }

    /// What belongs to no call, for the first who asks.
    pub(super) fn inbound(
        &self,
        http: &Arc<Http>,
        closing: &Arc<Ending<CloseReason>>,
    ) -> Option<Frames> {
        let session = self.get(http, closing);
        if !session.take_inbox() {
            return None;
        }
        let over = Arc::clone(&session);
        let frames = stream::poll_fn(move |cx| session.inbox.poll_take(cx).map(|it| it.map(Ok)));
        let over = Box::pin(async move { over.ended().await });
        Some(Box::pin(frames.take_until(over)))
    }

    pub(super) fn adopt(
        &self,
        http: &Arc<Http>,
        closing: &Arc<Ending<CloseReason>>,
        version: ProtocolVersion,
    ) {
        if !version.is_modern() {
            self.get(http, closing).adopt(version);
        } else if let Some(session) = self.current().take() {
            session.end(Over::Replaced);
        }
    }

    /// Tells the server that its session has ended, if there is one.
    pub(super) fn close(&self) -> BoxFuture<'static, ()> {
        let session = self.current().clone();
        match session {
            Some(session) => Box::pin(async move { session.delete().await }),
            None => Box::pin(future::ready(())),
        }
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        if let Some(session) = self.current().take() {
            session.end(Over::Left);
        }
    }
}

#[cfg(test)]
mod tests;
