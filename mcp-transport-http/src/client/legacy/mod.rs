//! Sessions: the era up to 2025-11-25.
//!
//! | you look for | module |
//! |---|---|
//! | what a session sends, and which message belongs where | `session` |
//! | one call, from its POST to its answer | `call` |
//! | streams that break and go on | `follow`, by the machine in `resume` |
//! | the one task of a session | `keep` |
//! | HTTP+SSE, where nothing else is spoken | `sse_2024` |
//! | what waits between reader and taker | `queue` |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports>

mod call;
mod follow;
mod keep;
mod queue;
mod resume;
mod session;
mod sse_2024;

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, future, stream};
use mcp_core::close_signal::CloseSignal;
use mcp_core::{BoxFuture, ChannelError, CloseReason, Frames, OneWayMessage, OutgoingRequest};
use mcp_types::{Method, ProtocolVersion};
use parking_lot::Mutex;
use tokio::time::timeout;

use session::{Over, Session};

use super::requests::Http;

/// Longest wait of `notifications/initialized` for the answer to the first GET.
///
/// A server may send a request on the GET stream while it handles the first call. Without the wait
/// that request is lost when the GET arrives after the call.
const STANDALONE_WAIT: Duration = Duration::from_millis(500);

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

/// The sessions of a channel, one after the other.
pub(super) struct Sessions {
    http: Arc<Http>,
    closing: CloseSignal<CloseReason>,
    settings: Settings,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The one that `initialize` has opened last.
    current: Option<Arc<Session>>,
    /// The one that it opens next, where somebody has to do with it already.
    next: Option<Arc<Session>>,
}

impl Sessions {
    pub(super) fn new(
        http: Arc<Http>,
        closing: CloseSignal<CloseReason>,
        settings: Settings,
    ) -> Self {
        Self {
            http,
            closing,
            settings,
            state: Mutex::default(),
        }
    }

    fn create(&self) -> Arc<Session> {
        let (http, closing) = (Arc::clone(&self.http), self.closing.clone());
        Arc::new(Session::new(http, closing))
    }

    /// The session that is open, or the one to come when that is over.
    fn upcoming(&self) -> Arc<Session> {
        let State { current, next } = &mut *self.state.lock();
        match current {
            Some(current) if current.over().is_none() => Arc::clone(current),
            _ => Arc::clone(next.get_or_insert_with(|| self.create())),
        }
    }

    /// The session that `initialize` opens.
    fn begin(&self) -> Arc<Session> {
        let mut state = self.state.lock();
        let session = state.next.take().unwrap_or_else(|| self.create());
        if let Some(before) = state.current.replace(Arc::clone(&session)) {
            before.end(Over::Replaced);
        }
        session
    }

    /// The session that messages belong to. Servers that know of none have one all the same.
    fn current(&self, version: ProtocolVersion) -> Arc<Session> {
        let mut state = self.state.lock();
        let session = match state.current.clone() {
            Some(current) => current,
            None => {
                let session = state.next.take().unwrap_or_else(|| self.create());
                Arc::clone(state.current.insert(session))
            }
        };
        session.assume(version);
        session
    }

    pub(super) fn call(&self, out: OutgoingRequest) -> Frames {
        let session = if call::opens(&out) {
            self.begin()
        } else {
            self.current(out.mirrored.version)
        };
        call::frames(session, out, self.settings)
    }

    pub(super) fn notify(
        &self,
        out: OneWayMessage,
    ) -> BoxFuture<'static, Result<(), ChannelError>> {
        let session = self.current(out.mirrored.version);
        let readies = Method::from_name(&out.mirrored.method) == Some(Method::Initialized);
        let standalone = self.settings.standalone;
        Box::pin(async move {
            let sent = async {
                session.note(out.body).await?;
                if readies {
                    session.ready.notify_one();
                }
                if readies && standalone && !session.has_one_stream() {
                    // The error means only that the server has not answered the GET in time.
                    let answered = session.standalone_answered.notified();
                    let _ = timeout(STANDALONE_WAIT, answered).await;
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

    /// What belongs to no call of a session, for the first who asks.
    pub(super) fn inbound(&self) -> Option<Frames> {
        let session = self.upcoming();
        if !session.take_inbox() {
            return None;
        }
        let over = Arc::clone(&session);
        let frames = stream::poll_fn(move |cx| session.inbox.poll_inbound(cx));
        let over = Box::pin(async move { over.ended().await });
        Some(Box::pin(frames.take_until(over)))
    }

    pub(super) fn set_version(&self, version: ProtocolVersion) {
        if !version.is_modern() {
            self.upcoming().set_version(version);
        } else if let Some(session) = self.state.lock().current.take() {
            session.end(Over::Replaced);
        }
    }

    /// Tells the server that its session has ended, if there is one.
    pub(super) fn close(&self) -> BoxFuture<'static, ()> {
        let session = self.state.lock().current.clone();
        match session {
            Some(session) => Box::pin(async move { session.delete().await }),
            None => Box::pin(future::ready(())),
        }
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        let State { current, next } = &mut *self.state.lock();
        for session in current.take().into_iter().chain(next.take()) {
            session.end(Over::Left);
        }
    }
}

#[cfg(test)]
mod tests;
