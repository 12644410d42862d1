//! Sessions with a legacy server, separated by caller.
//!
//! A server may keep a state in a session; the state must not reach another caller. A session does not say which call asks
//! a question. So two kinds of calls have a session for themselves while they run: those of a caller with an identity,
//! and those whose client can be asked. The questions of the session then belong to the call.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;
use http::HeaderValue;
use mcp_client::{Client, ClientBuilder, Error};
use mcp_core::{BoxFuture, CallerKey};
use mcp_types::ClientCapabilities;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use super::broadcast::Broadcast;
use super::questions::Questions;
use super::roots::{CallerRoots, RootsRequests};
use crate::changes::Announcements;
use crate::limits::quota::Quota;
use crate::settings::server::Connect;

/// Sessions of one caller with one server, in use and idle.
const MAX_OF_CALLER: usize = 8;
/// Sessions of all callers with one server.
const MAX_SESSIONS: usize = 256;
/// Sessions of one owner whose calls have asked their clients. They do not count as in use, so that unanswered
/// questions do not block other calls.
const MAX_ASKED: usize = 32;
/// Those of all callers with one server.
pub(super) const MAX_ALL_ASKED: usize = 256;

/// Time after which a session without calls is closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

/// Opens the session of a server that calls share.
pub(crate) type ConnectShared =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Client, Error>> + Send + Sync>;

/// The sessions of one server.
#[derive(Clone)]
pub(crate) struct Sessions(pub(super) Arc<SessionPool>);

pub(super) struct SessionPool {
    connect: Connect,
    client: ClientBuilder,
    pub(super) permits: Arc<Semaphore>,
    /// The calls of each owner that have asked their clients.
    pub(super) asked: Quota,
    /// Those of all callers.
    pub(super) all_asked: Arc<Semaphore>,
    /// Sessions of one caller.
    max_of_caller: usize,
    server: Arc<str>,
    changes: Announcements,
    /// The notifications that belong to no call. `None` for a server without extensions.
    broadcast: Option<Broadcast>,
    roots: Arc<RootsRequests>,
    /// The callers that have sessions.
    callers: Mutex<HashMap<CallerKey, Weak<CallerSessions>>>,
    idle: Mutex<IdleSessions>,
}

/// The parts that the sessions of one caller share.
pub(super) struct CallerSessions {
    pub(super) permits: Arc<Semaphore>,
    broadcast: Option<Broadcast>,
}

/// The sessions that no call has. The one that was used last is used next, so that a client that makes one call after
/// the other stays in one session.
#[derive(Default)]
struct IdleSessions {
    sessions: Vec<IdleSession>,
    next_number: u64,
    run: Run,
}

/// One run of a server: from a start until the gateway ends it. Sessions and lists of a former run are not used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Run(Arc<()>);

impl PartialEq for Run {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

struct IdleSession {
    number: u64,
    session: OpenSession,
    /// Closes the session when its time has passed.
    _expiry: AbortOnDropHandle<()>,
}

/// A session with the server.
pub(super) struct OpenSession {
    pub(super) client: Client,
    /// The task that passes on list changes, which a server may announce to one session only.
    _watcher: AbortOnDropHandle<()>,
    pub(super) questions: Arc<Questions>,
    key: SessionKey,
    /// The run in which the session was opened.
    run: Run,
    /// Kept for the caller's next session.
    _caller: Arc<CallerSessions>,
}

/// The settings that a session was opened with. Calls with the same key can use it one after the other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SessionKey {
    pub(crate) caller: CallerKey,
    pub(crate) capabilities: ClientCapabilities,
    /// The name and version of the gateway's client. `None`: those of the gateway.
    pub(crate) client: Option<(String, String)>,
    /// The header `Authorization` of a caller. `None`: the gateway's credentials.
    pub(crate) credentials: Option<HeaderValue>,
    /// The roots that the server is told when it asks for them.
    pub(crate) roots: CallerRoots,
}

impl Sessions {
    /// The sessions of a server that `connect` reaches, with the gateway's settings.
    /// Changes of its lists are added to `changes`. Notifications that belong to no call are those of `broadcast`.
    pub(crate) fn new(
        connect: Connect,
        client: ClientBuilder,
        has_one_session: bool,
        server: Arc<str>,
        changes: Announcements,
        broadcast: Option<Broadcast>,
        roots: Arc<RootsRequests>,
    ) -> Self {
        Self(Arc::new(SessionPool {
            connect,
            client,
            permits: Arc::new(Semaphore::new(MAX_SESSIONS)),
            asked: Quota::new(MAX_ASKED, "answers of their clients"),
            all_asked: Arc::new(Semaphore::new(MAX_ALL_ASKED)),
            max_of_caller: if has_one_session { 1 } else { MAX_OF_CALLER },
            server,
            changes,
            broadcast,
            roots,
            callers: Mutex::default(),
            idle: Mutex::default(),
        }))
    }

    /// Returns true if the server has asked for roots in a session.
    pub(crate) fn ask_for_roots(&self) -> bool {
        self.0.roots.has_asked()
    }

    pub(super) fn caller(&self, key: &CallerKey) -> Arc<CallerSessions> {
        let mut callers = self.0.callers.lock();
        if let Some(caller) = callers.get(key).and_then(Weak::upgrade) {
            return caller;
        }
        callers.retain(|_, caller| caller.strong_count() > 0);
        let broadcast = self.0.broadcast.as_ref();
        let caller = Arc::new(CallerSessions {
            permits: Arc::new(Semaphore::new(self.0.max_of_caller)),
            broadcast: broadcast.map(|all| match key.principal() {
                // The shared session belongs to the anonymous caller.
                None => all.clone(),
                Some(_) => all.for_caller(key),
            }),
        });
        callers.insert(key.clone(), Arc::downgrade(&caller));
        caller
    }

    /// Takes a session with this key. Without one, closes idle ones to make room for a new one.
    pub(super) fn take_idle(
        &self,
        key: &SessionKey,
        caller: &CallerSessions,
    ) -> Option<OpenSession> {
        let mut idle = self.0.idle.lock();
        let is_closed = |idle: &mut IdleSession| idle.session.client.close_reason().is_some();
        let mut closed: Vec<_> = idle.sessions.extract_if(.., is_closed).collect();
        let index = idle
            .sessions
            .iter()
            .rposition(|idle| idle.session.key == *key);
        let taken = index.map(|index| idle.sessions.remove(index).session);
        if taken.is_none() {
            let of_caller = |idle: &IdleSession| idle.session.key.caller == key.caller;
            let mut own = self.0.max_of_caller - caller.permits.available_permits();
            own += idle.sessions.iter().filter(|idle| of_caller(idle)).count();
            if own > self.0.max_of_caller
                && let Some(oldest) = idle.sessions.iter().position(of_caller)
            {
                closed.push(idle.sessions.remove(oldest));
            }
            let in_use = MAX_SESSIONS - self.0.permits.available_permits();
            if in_use + idle.sessions.len() > MAX_SESSIONS && !idle.sessions.is_empty() {
                closed.push(idle.sessions.remove(0));
            }
        }
        drop(idle);
        // A session ends with its last reference.
        drop(closed);
        taken
    }

    /// Returns the server's current run.
    pub(crate) fn run(&self) -> Run {
        self.0.idle.lock().run.clone()
    }

    /// Ends the server's run. Closes the sessions that no call has; those of running calls end with their calls.
    pub(crate) fn retire(&self) {
        let mut idle = self.0.idle.lock();
        idle.run = Run::default();
        let closed = std::mem::take(&mut idle.sessions);
        drop(idle);
        // A session ends with its last reference.
        drop(closed);
    }

    /// Opens a session.
    pub(super) async fn open(
        &self,
        key: SessionKey,
        caller: Arc<CallerSessions>,
    ) -> Result<OpenSession, Error> {
        let (pool, run) = (&*self.0, self.run());
        let (roots, requests) = (key.roots.clone(), pool.roots.clone());
        let questions = Questions::new(caller.broadcast.clone(), roots, requests);
        let questions = Arc::new(questions);
        let client = pool.client.clone().inbound_layer(questions.layer());
        let client = client.capabilities(key.capabilities.clone());
        let client = match &key.client {
            Some((name, version)) => client.identity(name, version),
            None => client,
        };
        let client = match &key.credentials {
            Some(credentials) => client.authorization(credentials.clone()),
            None => client,
        };
        let client = (pool.connect)(client).await?;
        questions.open(!client.is_pipe());
        if key.capabilities.roots.is_some() {
            questions.settle_roots(&client).await;
        }
        let (server, changes) = (pool.server.clone(), pool.changes.clone());
        let (watched, closing) = (client.clone(), questions.clone());
        let watcher = tokio::spawn(async move {
            pass_changes(&watched, &server, &changes).await;
            watched.closed().await;
            closing.close();
        });
        Ok(OpenSession {
            client,
            _watcher: AbortOnDropHandle::new(watcher),
            questions,
            key,
            run,
            _caller: caller,
        })
    }

    /// Returns true if a caller has one session.
    pub(super) fn has_one(&self) -> bool {
        self.0.max_of_caller == 1
    }

    /// Returns true if another call can use the session.
    pub(super) fn is_reusable(&self, session: &OpenSession) -> bool {
        self.has_one() || session.questions.is_reusable(&session.key.caller)
    }

    /// Adds a session to the idle ones, until its time has passed. One of a former run ends.
    pub(super) fn add_idle(&self, session: OpenSession) {
        let pool = Arc::downgrade(&self.0);
        let mut idle = self.0.idle.lock();
        if idle.run != session.run {
            return;
        }
        let number = idle.next_number;
        idle.next_number += 1;
        let expiry = tokio::spawn(async move {
            sleep(IDLE_TIMEOUT).await;
            let pool: Option<Arc<SessionPool>> = pool.upgrade();
            // Dropped without the lock, because it is the end of the session.
            let expired = pool.and_then(|pool| {
                let sessions = &mut pool.idle.lock().sessions;
                sessions.extract_if(.., |idle| idle.number == number).next()
            });
            drop(expired);
        });
        idle.sessions.push(IdleSession {
            number,
            session,
            _expiry: AbortOnDropHandle::new(expiry),
        });
    }
}

/// Has the lists requested again that a session announces as changed. A change that only this session knows is not one
/// of the gateway's lists.
async fn pass_changes(client: &Client, server: &Arc<str>, announcements: &Announcements) {
    let subscribe = client.changes().tools_changed().prompts_changed();
    // A server without subscriptions can still be called.
    let Ok(mut changes) = subscribe.resources_changed().await else {
        return;
    };
    while let Some(Ok(change)) = changes.next().await {
        announcements.add(server, &change);
    }
}
