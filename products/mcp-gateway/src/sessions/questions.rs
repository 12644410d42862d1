//! Requests and notifications from a legacy server: elicitation, sampling, roots, extensions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use mcp_client::Client;
use mcp_core::tower::{Middleware, Next, from_fn};
use mcp_core::{Call, CallerKey, Exchange, Fault, Reply, ResultBody};
use mcp_types::{
    ClientCapabilities, ElicitParams, InputRequest, InputResponse, LogMessage, Method,
    ProgressUpdate, RawObject,
};
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::broadcast::Broadcast;
use super::roots::{CallerRoots, RootsRequests};
use crate::limits::quota::RETRY;

/// An event during a call, before its result. The call's request to the server makes it, or the session's
/// [`Questions`]; it ends when the call has read it.
pub(crate) enum CallEvent {
    Progress(ProgressUpdate),
    Log(LogMessage),
    /// An extension notification.
    Custom {
        method: Box<str>,
        params: Option<RawObject>,
    },
    Question(Question),
}

/// A server request to the client. [`Questions`] makes one when the server asks, the call holds it, and it ends with the
/// answer.
pub(crate) struct Question {
    pub(crate) request: InputRequest,
    pub(crate) response: oneshot::Sender<Result<InputResponse, Fault>>,
}

/// The server's requests in one session, which belong to the call that has its turn. It is made before the session,
/// whose client has its [layer](Self::layer), and ends with the session.
pub(crate) struct Questions {
    turns: Arc<Semaphore>,
    /// The events of the call that has its turn.
    current: Mutex<Option<mpsc::Sender<CallEvent>>>,
    /// Identifies the session to `broadcast`.
    session: Arc<()>,
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

/// Maximum time that a call waits for its turn.
const WAIT: Duration = Duration::from_secs(30);

/// Longest wait for a new session's server to ask for its roots, and for each ping.
const ROOTS_WAIT: Duration = Duration::from_secs(2);

/// Number of pings that a new session's server has answered when it has asked for its roots, if it does.
const ROOTS_PINGS: usize = 2;

/// Time in which a server uses the roots that it was told.
const ROOTS_PAUSE: Duration = Duration::from_millis(100);

impl Questions {
    /// `broadcast` sends the notifications that belong to no call.
    pub(crate) fn new(
        broadcast: Option<Broadcast>,
        roots: CallerRoots,
        roots_requests: Arc<RootsRequests>,
    ) -> Self {
        Self {
            turns: Arc::new(Semaphore::new(1)),
            current: Mutex::new(None),
            session: Arc::new(()),
            broadcast,
            has_streams: AtomicBool::new(false),
            roots: Mutex::new(roots),
            roots_requests,
            has_roots: Notify::new(),
            was_told_roots: AtomicBool::new(false),
            was_answered: AtomicBool::new(false),
        }
    }

    /// Sets the roots of the call that has its turn. A server that was told other ones learns that they have changed.
    pub(super) async fn set_roots(&self, roots: CallerRoots, client: &Client) {
        let former = std::mem::replace(&mut *self.roots.lock(), roots.clone());
        if former == roots {
            return;
        }
        // The permit of a former request.
        let _ = self.has_roots.notified().now_or_never();
        // A session that cannot be notified has ended, as the call will find out.
        let _ = client.notify(Method::RootsChanged.as_str(), ()).await;
        self.settle_roots(client).await;
    }

    /// Waits until the server of a new session has its roots, so that the first call finds them.
    pub(super) async fn settle_roots(&self, client: &Client) {
        let is_unknown = *self.roots.lock() == CallerRoots::Unknown;
        if !is_unknown && self.roots_requests.asks_first.load(Ordering::Relaxed) {
            // A server that does not ask this time has none.
            let _ = timeout(ROOTS_WAIT, self.has_roots.notified()).await;
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
    pub(super) fn is_reusable(&self, caller: &CallerKey) -> bool {
        let was_answered = self.was_answered.load(Ordering::Relaxed);
        !self.was_told_roots.load(Ordering::Relaxed)
            && (caller.principal().is_some() || !was_answered)
    }

    /// Notes that the session is open. `has_streams`: each call has a stream of its own.
    pub(crate) fn open(&self, has_streams: bool) {
        self.has_streams.store(has_streams, Ordering::Relaxed);
        if let Some(broadcast) = &self.broadcast {
            broadcast.claim(&self.session);
        }
    }

    /// Notes that the session has ended: another session of the caller passes notifications on.
    pub(crate) fn close(&self) {
        if let Some(broadcast) = &self.broadcast {
            broadcast.release(&self.session);
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

    /// Waits for the turn of a call. Requests of the server belong to it until the turn ends.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Overloaded`] when another call has its turn for too long.
    pub(super) async fn turn(
        &self,
        events: mpsc::Sender<CallEvent>,
    ) -> Result<OwnedSemaphorePermit, Fault> {
        let permit = timeout(WAIT, self.turns.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            let message = "another call of this server waits for the answer of its client";
            return Err(Fault::overloaded(message, RETRY));
        };
        *self.current.lock() = Some(events);
        Ok(permit)
    }

    /// Ends a turn.
    pub(super) fn end_turn(&self, permit: OwnedSemaphorePermit) {
        *self.current.lock() = None;
        drop(permit);
    }

    /// The layer that passes requests of the server to the call that has its turn. Notifications pass it.
    pub(crate) fn layer(self: &Arc<Self>) -> impl Middleware + use<> {
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
        let has_streams = self.has_streams.load(Ordering::Relaxed);
        let events = self.current.lock().clone();
        if let Some(events) = events.filter(|_| !has_streams) {
            let method = method.into();
            // The call may have ended.
            let _ = events.send(CallEvent::Custom { method, params }).await;
        } else if let Some(broadcast) = &self.broadcast
            && broadcast.claim(&self.session)
        {
            broadcast.send(method, params.as_ref());
        }
    }

    async fn ask(&self, call: &Call) -> Result<Reply, Fault> {
        let request = read_request(call)?;
        let events = self.current.lock().clone();
        let is_answered = if matches!(request, InputRequest::ListRoots) {
            let server = &self.roots_requests;
            server.has_asked.store(true, Ordering::Relaxed);
            if events.is_none() {
                server.asks_first.store(true, Ordering::Relaxed);
            }
            self.has_roots.notify_one();
            match &*self.roots.lock() {
                CallerRoots::Unknown => &self.was_told_roots,
                CallerRoots::Refused => {
                    return Err(Fault::Refused("the client does not tell its roots".into()));
                }
                CallerRoots::Known(roots) => return reply(&roots.clone().into()),
            }
        } else {
            &self.was_answered
        };
        let events = events.ok_or(Fault::Refused(
            "no call runs whose client can be asked".into(),
        ))?;
        is_answered.store(true, Ordering::Relaxed);
        let (response, received) = oneshot::channel();
        let question = CallEvent::Question(Question { request, response });
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_core::Call;
    use mcp_types::RawObject;
    use tokio::sync::mpsc;

    use super::{CallerRoots, Questions};

    fn elicit(params: &str) -> Call {
        Call::Other {
            method: "elicitation/create".into(),
            params: Some(RawObject::from_text(params).unwrap()),
        }
    }

    #[tokio::test]
    async fn question_without_a_call_and_unsafe_urls_are_refused() {
        let questions = Questions::new(None, CallerRoots::Unknown, Arc::default());
        let form = elicit(r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#);
        let refused = questions.ask(&form).await.unwrap_err().to_string();
        assert_eq!(refused, "no call runs whose client can be asked");

        let (events, _receiver) = mpsc::channel(1);
        let _turn = questions.turn(events).await;
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
        let questions = Questions::new(None, CallerRoots::Unknown, Arc::default());
        let (events, _receiver) = mpsc::channel(1);
        let first = questions.turn(events.clone()).await;
        let mut second = std::pin::pin!(questions.turn(events));
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(first);
        assert!(second.await.is_ok());
    }
}
