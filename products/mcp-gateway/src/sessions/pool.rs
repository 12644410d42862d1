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
use mcp_core::{BoxFuture, CallerKey, Fault};
use mcp_types::ClientCapabilities;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use super::questions::{Broadcast, CallerRoots, Questions, RootsRequests, Speaker};
use crate::changes::Announcements;
use crate::limits::quota::{Place, RETRY, WaitingCalls};

/// Sessions of one caller with one server, in use and idle.
const MAX_OF_CALLER: usize = 8;
/// Sessions of all callers with one server.
const MAX_SESSIONS: usize = 256;
/// Sessions of one owner whose calls have asked their clients. They do not count as in use, so that unanswered
/// questions do not block other calls.
const MAX_ASKED: usize = 32;
/// Those of all callers with one server.
const MAX_ALL_ASKED: usize = 256;

/// Time after which a session without calls is closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

/// Longest wait for a free session.
const WAIT: Duration = Duration::from_secs(30);

/// Longest wait for a server before its session is closed.
const PING: Duration = Duration::from_secs(5);

/// A function that connects to the server.
pub(crate) type Connect =
    Arc<dyn Fn(ClientBuilder) -> BoxFuture<'static, Result<Client, Error>> + Send + Sync>;

/// Opens the session of a server that calls share.
pub(crate) type ConnectShared =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Client, Error>> + Send + Sync>;

/// The sessions of one server.
#[derive(Clone)]
pub(crate) struct Sessions(Arc<SessionPool>);

struct SessionPool {
    connect: Connect,
    client: ClientBuilder,
    permits: Arc<Semaphore>,
    /// The sessions whose calls have asked their clients.
    asked: (WaitingCalls, Arc<Semaphore>),
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
struct CallerSessions {
    permits: Arc<Semaphore>,
    speaker: Speaker,
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

#[derive(Clone)]
struct OpenSession {
    client: Client,
    /// The task that passes on list changes, which a server may announce to one session only.
    _watcher: Arc<AbortOnDropHandle<()>>,
    questions: Questions,
    key: SessionKey,
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

/// A session that one call has. It is closed when this is dropped before [`Lease::end`], because the
/// server may still ask for the call.
pub(crate) struct Lease {
    session: OpenSession,
    sessions: Sessions,
    /// The run in which the session was opened.
    run: Run,
    has_ended: bool,
    has_asked: bool,
    permits: Vec<OwnedSemaphorePermit>,
    place: Place,
}

impl Sessions {
    /// The sessions of a server that `connect` reaches, with the gateway's settings.
    /// Changes of its lists are added to `changes`. Notifications that belong to no call are those of `broadcast`.
    pub(crate) fn new(
        connect: Connect,
        client: ClientBuilder,
        has_one_session: bool,
        (server, changes): (Arc<str>, Announcements),
        (broadcast, roots): (Option<Broadcast>, Arc<RootsRequests>),
    ) -> Self {
        Self(Arc::new(SessionPool {
            connect,
            client,
            permits: Arc::new(Semaphore::new(MAX_SESSIONS)),
            asked: (
                WaitingCalls::new(MAX_ASKED, "answers of their clients"),
                Arc::new(Semaphore::new(MAX_ALL_ASKED)),
            ),
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

    /// Waits for a session with this key that no other call has.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::RateLimited`] when all sessions of the caller are in use for too long, and
    /// [`Fault::Overloaded`] when those of all callers are.
    pub(crate) async fn lease(
        &self,
        key: &SessionKey,
        place: Place,
    ) -> Result<Result<Lease, Error>, Fault> {
        let caller = self.caller(&key.caller);
        let end = Instant::now() + WAIT;
        let own = timeout_at(end, caller.permits.clone().acquire_owned()).await;
        let Ok(Ok(own)) = own else {
            let message = "all sessions of this caller with the server are in use";
            return Err(Fault::rate_limited(message, RETRY));
        };
        let of_all = timeout_at(end, self.0.permits.clone().acquire_owned()).await;
        let Ok(Ok(of_all)) = of_all else {
            let message = "all sessions with the server are in use";
            return Err(Fault::overloaded(message, RETRY));
        };
        let run = self.run();
        let session = match self.take_idle(key, &caller) {
            Some(session) => Ok(session),
            None => self.open(key.clone(), caller).await,
        };
        Ok(session.map(|session| Lease {
            session,
            sessions: self.clone(),
            run,
            has_ended: false,
            has_asked: false,
            permits: vec![own, of_all],
            place,
        }))
    }

    fn caller(&self, key: &CallerKey) -> Arc<CallerSessions> {
        let mut callers = self.0.callers.lock();
        if let Some(caller) = callers.get(key).and_then(Weak::upgrade) {
            return caller;
        }
        callers.retain(|_, caller| caller.strong_count() > 0);
        let broadcast = self.0.broadcast.as_ref();
        let caller = Arc::new(CallerSessions {
            permits: Arc::new(Semaphore::new(self.0.max_of_caller)),
            // The shared session belongs to the anonymous caller.
            speaker: match broadcast.filter(|_| key.principal().is_none()) {
                Some(broadcast) => broadcast.speaker().clone(),
                None => Speaker::default(),
            },
        });
        callers.insert(key.clone(), Arc::downgrade(&caller));
        caller
    }

    /// Takes a session with this key. Without one, closes idle ones to make room for a new one.
    fn take_idle(&self, key: &SessionKey, caller: &CallerSessions) -> Option<OpenSession> {
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

    async fn open(
        &self,
        key: SessionKey,
        caller: Arc<CallerSessions>,
    ) -> Result<OpenSession, Error> {
        let pool = &*self.0;
        let broadcast = pool.broadcast.as_ref();
        let broadcast = broadcast.map(|all| match key.caller.principal() {
            None => all.clone(),
            Some(_) => all.for_caller(&key.caller, &caller.speaker),
        });
        let questions = Questions::new(broadcast, (key.roots.clone(), pool.roots.clone()));
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
            _watcher: Arc::new(AbortOnDropHandle::new(watcher)),
            questions,
            key,
            _caller: caller,
        })
    }
}

impl SessionPool {
    /// Adds a session to the idle ones, until its time has passed. One of a former run ends.
    fn add_idle(self: &Arc<Self>, session: OpenSession, run: &Run) {
        let pool = Arc::downgrade(self);
        let mut idle = self.idle.lock();
        if idle.run != *run {
            return;
        }
        let number = idle.next_number;
        idle.next_number += 1;
        let expiry = tokio::spawn(async move {
            sleep(IDLE_TIMEOUT).await;
            let pool: Option<Arc<Self>> = pool.upgrade();
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

impl Lease {
    pub(crate) fn client(&self) -> &Client {
        &self.session.client
    }

    pub(crate) fn questions(&self) -> &Questions {
        &self.session.questions
    }

    /// Notes that the call asks its client, which may never answer. From now on the session has a place among those that
    /// wait for an answer, and another call of the caller can have one. The only session of a caller stays in use.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::RateLimited`] when too many calls of the owner wait for answers, and [`Fault::Overloaded`] when
    /// too many calls of all callers do.
    pub(crate) fn ask(&mut self) -> Result<(), Fault> {
        let pool = &self.sessions.0;
        if self.has_asked || pool.max_of_caller == 1 {
            return Ok(());
        }
        let (owners, all) = &pool.asked;
        let place = owners.enter(&self.place.owner)?;
        let Ok(permit) = all.clone().try_acquire_owned() else {
            let message = format!("{MAX_ALL_ASKED} calls wait for answers of their clients");
            return Err(Fault::overloaded(message, RETRY));
        };
        self.has_asked = true;
        self.permits = vec![permit];
        self.place = place;
        Ok(())
    }

    /// Gives the session back: its call has its result.
    pub(crate) fn end(mut self) {
        let OpenSession { questions, key, .. } = &self.session;
        if self.sessions.0.max_of_caller > 1 && !questions.is_reusable(&key.caller) {
            return;
        }
        self.has_ended = true;
        self.sessions.0.add_idle(self.session.clone(), &self.run);
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
