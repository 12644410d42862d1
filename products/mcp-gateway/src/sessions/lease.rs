//! [`Lease`]: a session while a call uses it.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use mcp_client::{Client, Error};
use mcp_core::{Fault, ServerNotification};
use mcp_types::LogMessage;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, timeout, timeout_at};

use super::pool::{MAX_ALL_ASKED, OpenSession, SessionKey, Sessions};
use super::questions::{CallEvent, Questions};
use super::roots::CallerRoots;
use crate::limits::quota::{QuotaPermit, RETRY};

/// Longest wait for a free session.
const WAIT: Duration = Duration::from_secs(30);

/// Longest wait for a server before its session is closed.
const PING: Duration = Duration::from_secs(5);

/// A session while a call uses it: one that no other call has, or the one that calls share. The server's
/// [`Upstream`](crate::calls::upstream::Upstream) makes it, the call holds it, and it ends with the server's answer. A
/// session that no other call has is closed if this is dropped before [`Lease::end`], because the server may still ask
/// for the call.
pub(crate) struct Lease {
    pub(crate) client: Client,
    /// The server's requests. `None` if the call's client cannot be asked.
    questions: Option<Arc<Questions>>,
    /// Set while requests of the server belong to the call.
    turn: Option<OwnedSemaphorePermit>,
    /// Counts the call for its owner. `None` if it waits for nothing.
    quota: Option<QuotaPermit>,
    sessions: Sessions,
    /// The session that no other call has, with its permits. `None`: calls share the session.
    own: Option<Box<OpenSession>>,
    permits: Vec<OwnedSemaphorePermit>,
    has_asked: bool,
}

impl Lease {
    /// The session that calls share. A call whose client can be asked waits for its turn there.
    pub(crate) fn shared(
        sessions: &Sessions,
        client: Client,
        questions: Option<Arc<Questions>>,
        quota: Option<QuotaPermit>,
    ) -> Self {
        Self {
            client,
            questions,
            turn: None,
            quota,
            sessions: sessions.clone(),
            own: None,
            permits: Vec::new(),
            has_asked: false,
        }
    }

    /// Waits for a session with this key that no other call has.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::RateLimited`] when all sessions of the caller are in use for too long, and
    /// [`Fault::Overloaded`] when those of all callers are.
    pub(crate) async fn own(
        sessions: &Sessions,
        key: &SessionKey,
        quota: QuotaPermit,
    ) -> Result<Result<Self, Error>, Fault> {
        let caller = sessions.caller(&key.caller);
        let end = Instant::now() + WAIT;
        let own = timeout_at(end, caller.permits.clone().acquire_owned()).await;
        let Ok(Ok(own)) = own else {
            let message = "all sessions of this caller with the server are in use";
            return Err(Fault::rate_limited(message, RETRY));
        };
        let of_all = timeout_at(end, sessions.0.permits.clone().acquire_owned()).await;
        let Ok(Ok(of_all)) = of_all else {
            let message = "all sessions with the server are in use";
            return Err(Fault::overloaded(message, RETRY));
        };
        let session = match sessions.take_idle(key, &caller) {
            Some(session) => Ok(session),
            None => sessions.open(key.clone(), caller).await,
        };
        Ok(session.map(|session| {
            let (client, questions) = (session.client.clone(), session.questions.clone());
            let mut lease = Self::shared(sessions, client, Some(questions), Some(quota));
            lease.own = Some(Box::new(session));
            lease.permits = vec![own, of_all];
            lease
        }))
    }

    /// Returns true if the call's client can be asked.
    pub(crate) fn has_questions(&self) -> bool {
        self.questions.is_some()
    }

    /// Waits for the turn of a call whose client can be asked. Requests of the server are `events` from then on, and a
    /// server that asks is told `roots`.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Overloaded`] when another call has its turn for too long.
    pub(crate) async fn begin_turn(
        &mut self,
        events: &mpsc::Sender<CallEvent>,
        roots: CallerRoots,
    ) -> Result<(), Fault> {
        if let Some(questions) = &self.questions {
            self.turn = Some(questions.turn(events.clone()).await?);
            if roots != CallerRoots::Unknown {
                questions.set_roots(roots, &self.client).await;
            }
        }
        Ok(())
    }

    fn end_turn(&mut self) {
        if let (Some(turn), Some(questions)) = (self.turn.take(), &self.questions) {
            questions.end_turn(turn);
        }
    }

    /// Returns the log messages of a session that is not shared.
    pub(crate) fn logs(&self) -> Option<BoxStream<'static, LogMessage>> {
        self.own.as_ref()?;
        let received = self.client.notifications();
        let logs = received.filter_map(|received| {
            ready(match received {
                Ok(ServerNotification::Log(message)) => Some(message),
                _ => None,
            })
        });
        Some(logs.boxed())
    }

    /// Notes that the call asks its client, which may never answer. From now on the session has a place among those that
    /// wait for an answer, and another call of the caller can have one. The only session of a caller stays in use.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::RateLimited`] when too many calls of the owner wait for answers, and [`Fault::Overloaded`] when
    /// too many calls of all callers do.
    pub(crate) fn ask(&mut self) -> Result<(), Fault> {
        let is_counted = self.own.is_some() && !self.has_asked && !self.sessions.has_one();
        let Some(quota) = self.quota.as_mut().filter(|_| is_counted) else {
            return Ok(());
        };
        let pool = &self.sessions.0;
        let asked = pool.asked.enter(&quota.owner)?;
        let Ok(permit) = pool.all_asked.clone().try_acquire_owned() else {
            let message = format!("{MAX_ALL_ASKED} calls wait for answers of their clients");
            return Err(Fault::overloaded(message, RETRY));
        };
        self.has_asked = true;
        self.permits = vec![permit];
        *quota = asked;
        Ok(())
    }

    /// Gives the session back: the call has its result.
    pub(crate) fn end(mut self) {
        self.end_turn();
        let sessions = &self.sessions;
        if let Some(session) = self.own.take_if(|session| sessions.is_reusable(session)) {
            sessions.add_idle(*session);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.end_turn();
        if self.own.take().is_some()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let client = self.client.clone();
            runtime.spawn(async move {
                // The cancellation of the call reaches the server before the end of the session.
                let _ = timeout(PING, client.ping()).await;
                // Best effort: the server ends a session that its client has left.
                let _ = client.close().await;
            });
        }
    }
}
