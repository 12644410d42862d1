//! The sessions of a channel, one after the other.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{StreamExt, future, stream};
use mcp_core::close_signal::CloseSignal;
use mcp_core::{BoxFuture, ChannelError, CloseReason, Frames, OneWayMessage, OutgoingRequest};
use mcp_types::{Method, ProtocolVersion, RequestId};
use parking_lot::Mutex;
use tokio::time::timeout;

use super::call;
use super::session::{EndReason, Session, SessionSettings};
use crate::client::request::RequestSender;

/// Maximum time for which `notifications/initialized` waits for the response to the first GET.
///
/// A server may send a request on the GET stream while it handles the first call. Without the wait
/// that request is lost when the GET arrives after the call.
const STANDALONE_WAIT: Duration = Duration::from_millis(500);

/// The sessions of a channel: the current one, and the next one if it is already needed.
pub(in crate::client) struct ChannelSessions {
    http: Arc<RequestSender>,
    closing: CloseSignal<CloseReason>,
    settings: SessionSettings,
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    /// The session that the latest `initialize` opened.
    current: Option<Arc<Session>>,
    /// The session that the next `initialize` opens. Created early when `inbound` or `set_version`
    /// is called before `initialize`.
    next: Option<Arc<Session>>,
}

impl ChannelSessions {
    pub(in crate::client) fn new(
        http: Arc<RequestSender>,
        closing: CloseSignal<CloseReason>,
        settings: SessionSettings,
    ) -> Self {
        Self {
            http,
            closing,
            settings,
            slots: Mutex::default(),
        }
    }

    fn create(&self) -> Arc<Session> {
        let (http, closing) = (Arc::clone(&self.http), self.closing.clone());
        Arc::new(Session::new(http, closing))
    }

    /// Returns the current session while it is open, otherwise the next one.
    fn open_or_next(&self) -> Arc<Session> {
        let Slots { current, next } = &mut *self.slots.lock();
        match current {
            Some(current) if current.end_reason().is_none() => Arc::clone(current),
            _ => Arc::clone(next.get_or_insert_with(|| self.create())),
        }
    }

    /// Replaces the current session by the one that `initialize` opens.
    fn replace_current(&self) -> Arc<Session> {
        let mut slots = self.slots.lock();
        let session = slots.next.take().unwrap_or_else(|| self.create());
        self.http.learn(|state| state.session = None);
        if let Some(before) = slots.current.replace(Arc::clone(&session)) {
            let was_refused = before.end_reason() == Some(EndReason::Refused);
            session.is_replacement.store(was_refused, Ordering::Relaxed);
            before.end(EndReason::Replaced);
        }
        session
    }

    /// Returns the session for messages other than `initialize`. Servers without session ids use
    /// one, too.
    fn current(&self, version: ProtocolVersion) -> Arc<Session> {
        let mut slots = self.slots.lock();
        let session = match slots.current.clone() {
            Some(current) => current,
            None => {
                let session = slots.next.take().unwrap_or_else(|| self.create());
                Arc::clone(slots.current.insert(session))
            }
        };
        session.set_default_version(version);
        session
    }

    pub(in crate::client) fn call(&self, out: OutgoingRequest) -> Frames {
        let session = if call::is_initialize(&out) {
            self.replace_current()
        } else {
            self.current(out.mirrored.version)
        };
        call::frames(session, out, self.settings)
    }

    pub(in crate::client) fn notify(
        &self,
        out: OneWayMessage,
    ) -> BoxFuture<'static, Result<(), ChannelError>> {
        let session = self.current(out.mirrored.version);
        let is_initialized = Method::from_name(&out.mirrored.method) == Some(Method::Initialized);
        let standalone = self.settings.standalone;
        Box::pin(async move {
            let sent = async {
                session.notify(out.body, &out.headers).await?;
                if is_initialized {
                    session.initialized.notify_one();
                }
                if is_initialized && standalone && !session.is_http_sse() {
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

    /// Ends the call during which the server has sent the request `id`.
    pub(in crate::client) fn fail_call(&self, id: &RequestId, error: ChannelError) {
        let session = self.slots.lock().current.clone();
        if let Some(session) = session {
            session.fail_call(id, error);
        }
    }

    /// Returns the messages of a session that belong to no call. The first caller gets them.
    pub(in crate::client) fn inbound(&self) -> Option<Frames> {
        let session = self.open_or_next();
        if !session.claim_inbox() {
            return None;
        }
        let end = Arc::clone(&session);
        let frames = stream::poll_fn(move |cx| session.inbox.poll_inbound(cx));
        let ended = Box::pin(async move { end.ended().await });
        Some(Box::pin(frames.take_until(ended)))
    }

    /// Waits until the standalone stream is open again and its messages are read. Returns whether it
    /// was interrupted.
    pub(in crate::client) fn inbound_restored(&self) -> BoxFuture<'static, bool> {
        match self.slots.lock().current.clone() {
            Some(session) => Box::pin(async move { session.inbound_restored().await }),
            None => Box::pin(future::ready(false)),
        }
    }

    pub(in crate::client) fn set_version(&self, version: ProtocolVersion) {
        if !version.is_modern() {
            self.open_or_next().set_version(version);
        } else if let Some(session) = self.slots.lock().current.take() {
            session.end(EndReason::Replaced);
        }
    }

    /// Deletes the current session at the server, if there is one.
    pub(in crate::client) fn close(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        let session = self.slots.lock().current.clone();
        match session {
            Some(session) => Box::pin(async move { session.delete().await }),
            None => Box::pin(future::ready(Ok(()))),
        }
    }
}

impl Drop for ChannelSessions {
    fn drop(&mut self) {
        let Slots { current, next } = &mut *self.slots.lock();
        for session in current.take().into_iter().chain(next.take()) {
            session.end(EndReason::Dropped);
        }
    }
}
