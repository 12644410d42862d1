//! Requests and notifications from a legacy server: elicitation, sampling, roots, extensions.
//!
//! Since 2026-07-28 a client answers a question with another request. A legacy server waits for the answer meanwhile, so
//! the gateway parks its call between the two requests.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::FutureExt as _;
use mcp_client::Client;
use mcp_core::tower::{Middleware, Next, from_fn};
use mcp_core::{Call, CallerKey, Exchange, Fault, Reply, ResultBody};
use mcp_server::Broadcaster;
use mcp_types::{
    ClientCapabilities, ElicitParams, InputRequest, InputResponse, ListRootsResult, LogMessage,
    Method, ProgressUpdate, RawObject,
};
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::limits::quota::{Owner, Place, RETRY};
use crate::settings::claims::ExtensionClaims;

/// An event during a call, before its result.
pub(crate) enum UpstreamEvent {
    Progress(ProgressUpdate),
    Log(LogMessage),
    /// An extension notification.
    Custom {
        method: Box<str>,
        params: Option<RawObject>,
    },
    Question(Question),
}

/// A server request.
pub(crate) struct Question {
    pub(crate) request: InputRequest,
    pub(crate) response: oneshot::Sender<Result<InputResponse, Fault>>,
}

/// The server's requests in one session. They belong to the call that has its turn.
#[derive(Clone)]
pub(crate) struct Questions(Arc<SharedQuestions>);

struct SharedQuestions {
    turns: Arc<Semaphore>,
    /// The events of the call that has its turn.
    current: Mutex<Option<mpsc::Sender<UpstreamEvent>>>,
    /// Sends notifications that belong to no call. `None`: they are dropped.
    broadcast: Option<Broadcast>,
    /// Each call has its own stream, as over HTTP. Notifications on other streams do not belong to it.
    has_streams: AtomicBool,
    roots: Mutex<CallerRoots>,
    roots_requests: Arc<RootsRequests>,
    /// Notifies that the server has asked for the roots.
    has_roots: Notify,
    /// The client of a call was asked for its roots, which the session is not known for.
    was_told_roots: AtomicBool,
    /// The client of a call was asked for something else.
    was_answered: AtomicBool,
}

/// The roots of a client, as a server that asks is told.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum CallerRoots {
    /// The client was not asked.
    #[default]
    Unknown,
    /// The client does not tell them.
    Refused,
    Known(ListRootsResult),
}

/// The requests of a server for roots, as far as they are known. Its sessions share this value.
#[derive(Debug, Default)]
pub(crate) struct RootsRequests {
    has_asked: AtomicBool,
    /// The server asks when a session begins, before its first call.
    asks_first: AtomicBool,
}

impl RootsRequests {
    /// Returns true if the server has asked for roots in a session.
    pub(crate) fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }
}

/// The extensions of a server, and the clients that receive their notifications.
#[derive(Debug, Clone)]
pub(crate) struct Broadcast {
    pub(crate) extensions: Arc<ExtensionClaims>,
    pub(crate) clients: Broadcaster,
    /// The caller whose clients receive the notifications. `None`: all clients.
    pub(crate) caller: Option<CallerKey>,
    /// Chooses one of the caller's sessions.
    speaker: Speaker,
}

/// The session that passes on what a server sends to all its clients. The server sends it in each session of a caller, so
/// the notifications of the other sessions are dropped. The sessions of one caller share this value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Speaker(Arc<Mutex<Weak<SharedQuestions>>>);

impl Speaker {
    /// Returns true if this session is the speaker. It becomes the speaker if no other session is.
    fn claim(&self, session: &Arc<SharedQuestions>) -> bool {
        let mut speaker = self.0.lock();
        if speaker.strong_count() == 0 {
            *speaker = Arc::downgrade(session);
        }
        std::ptr::eq(speaker.as_ptr(), Arc::as_ptr(session))
    }

    fn release(&self, session: &Arc<SharedQuestions>) {
        let mut speaker = self.0.lock();
        if std::ptr::eq(speaker.as_ptr(), Arc::as_ptr(session)) {
            *speaker = Weak::new();
        }
    }
}

impl Broadcast {
    /// The notifications for clients of a caller, or of all clients.
    pub(crate) fn new(
        extensions: Arc<ExtensionClaims>,
        clients: Broadcaster,
        caller: Option<CallerKey>,
    ) -> Self {
        Self {
            extensions,
            clients,
            caller,
            speaker: Speaker::default(),
        }
    }

    /// The notifications of a caller session. `speaker` chooses among the caller's sessions.
    pub(crate) fn for_caller(&self, caller: &CallerKey, speaker: &Speaker) -> Self {
        Self {
            caller: Some(caller.clone()),
            speaker: speaker.clone(),
            ..self.clone()
        }
    }

    pub(crate) fn speaker(&self) -> &Speaker {
        &self.speaker
    }

    /// Sends a server notification to the clients that declare its extension.
    pub(crate) fn send(&self, method: &str, params: Option<&RawObject>) {
        let Some(id) = self.extensions.find(method) else {
            return;
        };
        self.clients
            .send_raw(self.caller.as_ref(), id, method, params);
    }
}

/// Maximum time that a call waits for its turn.
const WAIT: Duration = Duration::from_secs(30);

/// Longest wait for a new session's server to ask for its roots, and for each ping.
const ROOTS_WAIT: Duration = Duration::from_secs(2);

/// Number of pings that a new session's server has answered when it has asked for its roots, if it does.
const ROOTS_PINGS: usize = 2;

/// Time in which a server uses the roots that it was told.
const ROOTS_PAUSE: Duration = Duration::from_millis(100);

/// The turn of one call. Requests of the server belong to it until this is dropped.
pub(crate) struct Turn {
    questions: Questions,
    _permit: OwnedSemaphorePermit,
    _place: Option<Place>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.questions.0.current.lock() = None;
    }
}

impl Questions {
    /// `broadcast` sends the notifications that belong to no call.
    pub(crate) fn new(
        broadcast: Option<Broadcast>,
        (roots, roots_requests): (CallerRoots, Arc<RootsRequests>),
    ) -> Self {
        Self(Arc::new(SharedQuestions {
            turns: Arc::new(Semaphore::new(1)),
            current: Mutex::new(None),
            broadcast,
            has_streams: AtomicBool::new(false),
            roots: Mutex::new(roots),
            roots_requests,
            has_roots: Notify::new(),
            was_told_roots: AtomicBool::new(false),
            was_answered: AtomicBool::new(false),
        }))
    }

    /// Sets the roots of the call that has its turn. A server that was told other ones learns that they have changed.
    pub(crate) async fn set_roots(&self, roots: CallerRoots, client: &Client) {
        let former = std::mem::replace(&mut *self.0.roots.lock(), roots.clone());
        if former == roots {
            return;
        }
        // The permit of a former request.
        let _ = self.0.has_roots.notified().now_or_never();
        // A session that cannot be notified has ended, as the call will find out.
        let _ = client.notify(Method::RootsChanged.as_str(), ()).await;
        self.settle_roots(client).await;
    }

    /// Waits until the server of a new session has its roots, so that the first call finds them.
    pub(crate) async fn settle_roots(&self, client: &Client) {
        let is_unknown = *self.0.roots.lock() == CallerRoots::Unknown;
        if !is_unknown && self.0.roots_requests.asks_first.load(Ordering::Relaxed) {
            // A server that does not ask this time has none.
            let _ = timeout(ROOTS_WAIT, self.0.has_roots.notified()).await;
            // No message says that the server has read its roots: server-filesystem first looks for the folders.
            sleep(ROOTS_PAUSE).await;
        }
        // A server asks before it answers a ping that was sent later, and the second answer is read after the request.
        for _ in 0..ROOTS_PINGS {
            if !matches!(timeout(ROOTS_WAIT, client.ping()).await, Ok(Ok(_))) {
                return;
            }
        }
    }

    /// Returns true if the next call of the caller can use the session. Answers that it holds belong to one client,
    /// and anonymous callers are several.
    pub(crate) fn is_reusable(&self, caller: &CallerKey) -> bool {
        let was_answered = self.0.was_answered.load(Ordering::Relaxed);
        !self.0.was_told_roots.load(Ordering::Relaxed)
            && (caller.principal().is_some() || !was_answered)
    }

    /// Notes that the session is open. `has_streams`: each call has a stream of its own.
    pub(crate) fn open(&self, has_streams: bool) {
        self.0.has_streams.store(has_streams, Ordering::Relaxed);
        if let Some(broadcast) = &self.0.broadcast {
            broadcast.speaker.claim(&self.0);
        }
    }

    /// Notes that the session has ended: another session of the caller passes notifications on.
    pub(crate) fn close(&self) {
        if let Some(broadcast) = &self.0.broadcast {
            broadcast.speaker.release(&self.0);
        }
    }

    /// The capabilities that the gateway declares to a server, because a client of the gateway may have
    /// them.
    pub(crate) fn capabilities() -> ClientCapabilities {
        ClientCapabilities::default()
            .with_elicitation()
            .with_url_elicitation()
            .with_sampling()
            .with_roots_changes()
    }

    /// Waits for the turn of a call.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Overloaded`] when another call has its turn for too long.
    pub(crate) async fn turn(
        &self,
        events: mpsc::Sender<UpstreamEvent>,
        place: Option<Place>,
    ) -> Result<Turn, Fault> {
        let permit = timeout(WAIT, self.0.turns.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            let message = "another call of this server waits for the answer of its client";
            return Err(Fault::overloaded(message, RETRY));
        };
        *self.0.current.lock() = Some(events);
        Ok(Turn {
            questions: self.clone(),
            _permit: permit,
            _place: place,
        })
    }

    /// The layer that passes requests of the server to the call that has its turn. Notifications pass it.
    pub(crate) fn layer(&self) -> impl Middleware + use<> {
        let questions = self.clone();
        from_fn(move |exchange: Exchange, next: Next| {
            let questions = questions.clone();
            async move {
                let reply: Reply = match &exchange.call {
                    Call::Other { .. } => questions.ask(&exchange.call).await.into(),
                    Call::Notification { method, params } if !is_core(method) => {
                        questions.notify(method, params.clone()).await;
                        ResultBody::Empty.into()
                    }
                    _ => next.run(exchange).await,
                };
                reply
            }
        })
    }

    /// Passes a notification of an extension that no stream assigns to a call. On a pipe it belongs to the call that
    /// has its turn. Any other one is broadcast.
    async fn notify(&self, method: &str, params: Option<RawObject>) {
        let has_streams = self.0.has_streams.load(Ordering::Relaxed);
        let events = self.0.current.lock().clone();
        if let Some(events) = events.filter(|_| !has_streams) {
            let method = method.into();
            // The call may have ended.
            let _ = events.send(UpstreamEvent::Custom { method, params }).await;
        } else if let Some(broadcast) = &self.0.broadcast
            && broadcast.speaker.claim(&self.0)
        {
            broadcast.send(method, params.as_ref());
        }
    }

    async fn ask(&self, call: &Call) -> Result<Reply, Fault> {
        let request = read_request(call)?;
        let events = self.0.current.lock().clone();
        let is_answered = if matches!(request, InputRequest::ListRoots) {
            let server = &self.0.roots_requests;
            server.has_asked.store(true, Ordering::Relaxed);
            if events.is_none() {
                server.asks_first.store(true, Ordering::Relaxed);
            }
            self.0.has_roots.notify_one();
            match &*self.0.roots.lock() {
                CallerRoots::Unknown => &self.0.was_told_roots,
                CallerRoots::Refused => {
                    return Err(Fault::Refused("the client does not tell its roots".into()));
                }
                CallerRoots::Known(roots) => return reply(&roots.clone().into()),
            }
        } else {
            &self.0.was_answered
        };
        let events = events.ok_or(Fault::Refused(
            "no call runs whose client can be asked".into(),
        ))?;
        is_answered.store(true, Ordering::Relaxed);
        let (response, received) = oneshot::channel();
        let question = UpstreamEvent::Question(Question { request, response });
        let gone = || Fault::Refused("the call has ended".into());
        events.send(question).await.map_err(|_| gone())?;
        reply(&received.await.map_err(|_| gone())??)
    }
}

fn reply(response: &InputResponse) -> Result<Reply, Fault> {
    let body = RawObject::from_value(response);
    let body = body.map_err(|error| Fault::internal(error.to_string()))?;
    Ok(ResultBody::Other(body).into())
}

/// Returns whether the protocol defines a notification.
fn is_core(method: &str) -> bool {
    Method::from_name(method).is_some()
}

/// Reads a request as layers see it. A URL that must not be opened is refused here.
fn read_request(call: &Call) -> Result<InputRequest, Fault> {
    let Call::Other { method, params } = call else {
        return Err(Fault::internal("a request of another kind"));
    };
    let request = InputRequest::from_parts(method, params.as_ref());
    let request = request.map_err(|error| Fault::bad_params(error.to_string()))?;
    if let InputRequest::Elicit(params) = &request
        && let ElicitParams::Url(params) = &**params
    {
        let checked = params.checked_url();
        checked.map_err(|error| Fault::bad_params(error.to_string()))?;
    }
    Ok(request)
}

/// Time that a client has for its answer.
const LIFETIME: Duration = Duration::from_secs(300);

/// Calls of one gateway that wait at the same time.
const MAX_CALLS: usize = 1024;
/// Those of one owner.
const MAX_OF_OWNER: usize = 256;

/// The parked calls of a gateway.
#[derive(Clone, Default)]
pub(crate) struct Parked(Arc<ParkedCalls>);

type ParkedCalls = Mutex<HashMap<Uuid, ParkedCall>>;

struct ParkedCall {
    owner: Owner,
    call: Box<dyn Any + Send>,
    /// Removes the call when its time has passed.
    _expiry: AbortOnDropHandle<()>,
}

impl Parked {
    /// Returns a guard that parks the call when it is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::RateLimited`] when too many calls of the owner wait, and [`Fault::Overloaded`] when too many
    /// of all owners do.
    pub(crate) fn guard<T: Send + 'static>(
        &self,
        owner: Owner,
        call: T,
    ) -> Result<ParkGuard<T>, Fault> {
        let calls = self.0.lock();
        let own = calls.values().filter(|call| call.owner == owner).count();
        let all = calls.len();
        drop(calls);
        if own >= MAX_OF_OWNER {
            let message = "too many calls of this caller wait for an answer";
            return Err(Fault::rate_limited(message, RETRY));
        }
        if all >= MAX_CALLS {
            let message = "too many calls of this gateway wait for an answer";
            return Err(Fault::overloaded(message, RETRY));
        }
        Ok(ParkGuard {
            parked: self.clone(),
            owner,
            id: Uuid::new_v4(),
            call: Some(call),
        })
    }

    /// Takes a call of a caller, unless its time has passed or another node has it.
    pub(crate) fn take<T: 'static>(&self, caller: &CallerKey, id: Uuid) -> Option<T> {
        let mut calls = self.0.lock();
        let parked = calls.get(&id);
        let is_wanted =
            parked.is_some_and(|call| call.owner.caller == *caller && call.call.is::<T>());
        let parked = is_wanted.then(|| calls.remove(&id)).flatten()?;
        drop(calls);
        parked.call.downcast().ok().map(|call| *call)
    }

    fn insert(&self, owner: Owner, id: Uuid, call: Box<dyn Any + Send>) {
        // Without a runtime the program ends, and the call with it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let calls: Weak<ParkedCalls> = Arc::downgrade(&self.0);
        let expiry = runtime.spawn(async move {
            sleep(LIFETIME).await;
            // Dropped without the lock, because the call may end others.
            let expired = calls.upgrade().and_then(|calls| calls.lock().remove(&id));
            drop(expired);
        });
        let _expiry = AbortOnDropHandle::new(expiry);
        let parked = ParkedCall {
            owner,
            call,
            _expiry,
        };
        self.0.lock().insert(id, parked);
    }
}

/// A call that is parked when this is dropped.
pub(crate) struct ParkGuard<T: Send + 'static> {
    parked: Parked,
    owner: Owner,
    id: Uuid,
    call: Option<T>,
}

impl<T: Send + 'static> ParkGuard<T> {
    pub(crate) fn id(&self) -> Uuid {
        self.id
    }

    /// Returns the call, which is not parked then.
    pub(crate) fn into_call(mut self) -> Option<T> {
        self.call.take()
    }
}

impl<T: Send + 'static> Drop for ParkGuard<T> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            let owner = std::mem::take(&mut self.owner);
            self.parked.insert(owner, self.id, Box::new(call));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_core::{Call, CallerKey, Fault};
    use mcp_types::RawObject;
    use tokio::sync::mpsc;

    use super::{LIFETIME, MAX_CALLS, MAX_OF_OWNER, Parked, Questions};
    use crate::limits::quota::Owner;
    use crate::limits::quota::tests::{address, principal};

    fn elicit(params: &str) -> Call {
        Call::Other {
            method: "elicitation/create".into(),
            params: Some(RawObject::from_text(params).unwrap()),
        }
    }

    #[tokio::test]
    async fn question_without_a_call_and_unsafe_urls_are_refused() {
        let questions = Questions::new(None, Default::default());
        let form = elicit(r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#);
        let refused = questions.ask(&form).await.unwrap_err().to_string();
        assert_eq!(refused, "no call runs whose client can be asked");

        let (events, _receiver) = mpsc::channel(1);
        let _turn = questions.turn(events, None).await;
        for url in ["javascript:alert(1)", "file:///etc/passwd", "vscode://x"] {
            let params =
                format!(r#"{{"mode":"url","message":"?","url":"{url}","elicitationId":"1"}}"#);
            let refused = questions
                .ask(&elicit(&params))
                .await
                .unwrap_err()
                .to_string();
            assert!(refused.contains("http"), "{refused}");
        }
    }

    #[tokio::test]
    async fn next_call_has_its_turn_after_the_last_one() {
        let questions = Questions::new(None, Default::default());
        let (events, _receiver) = mpsc::channel(1);
        let first = questions.turn(events.clone(), None).await;
        let mut second = std::pin::pin!(questions.turn(events, None));
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(first);
        assert!(second.await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn parked_call_is_taken_once_by_its_caller_and_its_type() {
        let (parked, ada) = (Parked::default(), principal("ada"));
        let guard = parked.guard(ada.clone(), "call").unwrap();
        let id = guard.id();
        drop(guard);
        assert_eq!(parked.take::<u8>(&ada.caller, id), None);
        for other in [principal("bob"), Owner::default()] {
            assert_eq!(parked.take::<&str>(&other.caller, id), None);
        }
        assert_eq!(parked.take::<&str>(&ada.caller, id), Some("call"));
        assert_eq!(parked.take::<&str>(&ada.caller, id), None);

        let guard = parked.guard(ada.clone(), "call").unwrap();
        let id = guard.id();
        assert_eq!(guard.into_call(), Some("call"));
        assert_eq!(parked.take::<&str>(&ada.caller, id), None);

        // The address of an anonymous client may change.
        let guard = parked.guard(address("203.0.113.7"), "call").unwrap();
        let id = guard.id();
        drop(guard);
        assert_eq!(parked.take(&CallerKey::default(), id), Some("call"));
    }

    #[tokio::test(start_paused = true)]
    async fn parked_call_is_dropped_after_its_time() {
        let (parked, call) = (Parked::default(), Arc::new(()));
        drop(parked.guard(Owner::default(), call.clone()).unwrap());
        assert_eq!(Arc::strong_count(&call), 2);
        tokio::time::sleep(LIFETIME * 2).await;
        assert_eq!(Arc::strong_count(&call), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn call_beyond_the_limit_is_refused() {
        let parked = Parked::default();
        let guard = |name: &str| parked.guard(principal(name), ());
        for number in 0..MAX_CALLS {
            let name = (number / MAX_OF_OWNER).to_string();
            drop(guard(&name).unwrap());
        }
        let refused = guard("ada").err().unwrap();
        assert!(matches!(refused, Fault::Overloaded { .. }), "{refused}");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_by_one_owner_leave_room_for_others() {
        for (owner, other) in [
            (principal("ada"), principal("bob")),
            (address("203.0.113.7"), address("203.0.113.8")),
        ] {
            let parked = Parked::default();
            for _ in 0..MAX_OF_OWNER {
                drop(parked.guard(owner.clone(), ()).unwrap());
            }
            let refused = parked.guard(owner, ()).err().unwrap();
            assert!(matches!(refused, Fault::RateLimited { .. }), "{refused}");
            assert!(parked.guard(other, ()).is_ok());
        }
    }
}
