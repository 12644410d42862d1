//! Sessions of a legacy server, for calls whose client can be asked.
//!
//! A session does not say which call a question belongs to. So such a call has a session of its own while it
//! runs, and a question of the session belongs to it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use http::HeaderValue;
use mcp_client::{Client, ClientBuilder, Error};
use mcp_core::{BoxFuture, Fault};
use mcp_types::ClientCapabilities;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::changes::Announcer;
use super::questions::Questions;
use super::shared_copies::SharedCopies;

/// Sessions of one server that wait for a next call.
const MAX_IDLE: usize = 4;
/// Sessions of a server that is called in the name of callers, who share none.
const MAX_IDLE_OF_CALLERS: usize = 32;

/// Longest wait for a free session.
const WAIT: Duration = Duration::from_secs(30);

/// Longest wait for a server before its session is closed.
const PING: Duration = Duration::from_secs(5);

/// A function that connects to the server.
pub(super) type Connect =
    Arc<dyn Fn(ClientBuilder) -> BoxFuture<'static, Result<Client, Error>> + Send + Sync>;

/// The sessions of one server.
#[derive(Clone)]
pub(super) struct Sessions(Arc<SessionPool>);

struct SessionPool {
    connect: Connect,
    client: ClientBuilder,
    permits: Arc<Semaphore>,
    changes: Announcer,
    /// Set for a server with extensions.
    copies: Option<SharedCopies>,
    /// The session that was used last is used next, so that a client that makes one call after the other
    /// stays in one session.
    idle: Mutex<Vec<OpenSession>>,
}

#[derive(Clone)]
struct OpenSession {
    client: Client,
    /// The task that passes on changes of lists, which a server may announce to one session only.
    _watcher: Arc<AbortOnDropHandle<()>>,
    questions: Questions,
    key: SessionKey,
}

/// The settings that a session was opened with. Calls with the same key can use it one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SessionKey {
    pub(super) capabilities: ClientCapabilities,
    /// The header `Authorization` of a caller. `None`: the credentials of the gateway.
    pub(super) credentials: Option<HeaderValue>,
}

/// A session that one call has. It is closed when this is dropped before [`Lease::end`], because the
/// server may still ask for the call.
pub(super) struct Lease {
    session: OpenSession,
    sessions: Sessions,
    has_ended: bool,
    _permit: OwnedSemaphorePermit,
}

impl Sessions {
    /// The sessions of a server that `connect` reaches, with the settings of the gateway.
    /// Changes of its lists are announced by `changes`. Notifications that are in `copies` do not pass to calls.
    pub(super) fn new(
        connect: Connect,
        client: ClientBuilder,
        limit: usize,
        changes: Announcer,
        copies: Option<SharedCopies>,
    ) -> Self {
        Self(Arc::new(SessionPool {
            connect,
            client,
            permits: Arc::new(Semaphore::new(limit)),
            changes,
            copies,
            idle: Mutex::default(),
        }))
    }

    /// Waits for a session with this key that no other call has.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Refused`] when all sessions are in use for too long.
    pub(super) async fn lease(&self, key: &SessionKey) -> Result<Result<Lease, Error>, Fault> {
        let permit = timeout(WAIT, self.0.permits.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            return Err(Fault::Refused(
                "all sessions of this gateway with the server wait for answers; try again later"
                    .into(),
            ));
        };
        let session = match self.take_idle(key) {
            Some(session) => Ok(session),
            None => self.open(key.clone()).await,
        };
        Ok(session.map(|session| Lease {
            session,
            sessions: self.clone(),
            has_ended: false,
            _permit: permit,
        }))
    }

    fn take_idle(&self, key: &SessionKey) -> Option<OpenSession> {
        let mut idle = self.0.idle.lock();
        idle.retain(|session| session.client.close_reason().is_none());
        let index = idle.iter().rposition(|it| it.key == *key);
        index.map(|index| idle.remove(index))
    }

    /// Closes the sessions that no call has.
    pub(super) fn close_idle(&self) {
        let idle = std::mem::take(&mut *self.0.idle.lock());
        drop(idle);
    }

    async fn open(&self, key: SessionKey) -> Result<OpenSession, Error> {
        let questions = Questions::new(None);
        let client = self.0.client.clone().inbound_layer(questions.layer());
        let client = client.capabilities(key.capabilities.clone());
        let client = match &key.credentials {
            Some(credentials) => client.authorization(credentials.clone()),
            None => client,
        };
        let client = (self.0.connect)(client).await?;
        // On a pipe the session has a process of its own, whose notifications no other session receives.
        if let Some(copies) = &self.0.copies
            && !client.is_pipe()
        {
            questions.leave_out_copies(copies.clone());
        }
        let watching = watch(client.clone(), self.0.changes.clone());
        let watcher = AbortOnDropHandle::new(tokio::spawn(watching));
        Ok(OpenSession {
            client,
            _watcher: Arc::new(watcher),
            questions,
            key,
        })
    }
}

async fn watch(client: Client, announcer: Announcer) {
    let subscribe = client.changes().tools_changed().prompts_changed();
    // A server without subscriptions can still be called.
    let Ok(mut changes) = subscribe.resources_changed().await else {
        return;
    };
    while let Some(Ok(change)) = changes.next().await {
        announcer.announce(&change);
    }
}

impl Lease {
    pub(super) fn client(&self) -> &Client {
        &self.session.client
    }

    pub(super) fn questions(&self) -> &Questions {
        &self.session.questions
    }

    /// Gives the session back: its call has its result.
    pub(super) fn end(mut self) {
        let mut idle = self.sessions.0.idle.lock();
        // The session that was used least lately makes room, and ends with its last reference.
        let limit = match self.session.key.credentials {
            Some(_) => MAX_IDLE_OF_CALLERS,
            None => MAX_IDLE,
        };
        let oldest = (idle.len() >= limit).then(|| idle.remove(0));
        idle.push(self.session.clone());
        drop(idle);
        self.has_ended = true;
        drop(oldest);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let client = self.session.client.clone();
            runtime.spawn(async move {
                // The cancellation of the call reaches the server before the end of the session.
                let _ = timeout(PING, client.ping()).await;
                // Best effort: the server ends a session that its client has left.
                let _ = client.close().await;
            });
        }
    }
}
