//! Requests and notifications of a legacy server: elicitation, sampling, roots, extensions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_core::tower::{Middleware, Next, from_fn};
use mcp_core::{Call, CallerKey, Exchange, Fault, Reply, ResultBody};
use mcp_server::Broadcaster;
use mcp_types::{
    ClientCapabilities, ElicitParams, InputRequest, InputResponse, LogMessage, Method,
    ProgressUpdate, RawObject,
};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;

use super::claims::ExtensionClaims;
use super::quota::{Place, RETRY};

/// An event during a call, before its result.
pub(super) enum UpstreamEvent {
    Progress(ProgressUpdate),
    Log(LogMessage),
    /// A notification of an extension.
    Custom {
        method: Box<str>,
        params: Option<RawObject>,
    },
    Question(Question),
}

/// A request of the server.
pub(super) struct Question {
    pub(super) request: InputRequest,
    pub(super) response: oneshot::Sender<Result<InputResponse, Fault>>,
}

/// The server's requests in one session. They belong to the call that has its turn.
#[derive(Clone)]
pub(super) struct Questions(Arc<SharedQuestions>);

struct SharedQuestions {
    turns: Arc<Semaphore>,
    /// The events of the call that has its turn.
    current: Mutex<Option<mpsc::Sender<UpstreamEvent>>>,
    /// Sends notifications that belong to no call. `None`: they are dropped.
    broadcast: Option<Broadcast>,
    /// Each call has its own stream, as over HTTP. Notifications on other streams do not belong to it.
    has_streams: AtomicBool,
}

/// The extensions of a server, and the clients that receive their notifications.
#[derive(Debug, Clone)]
pub(super) struct Broadcast {
    pub(super) extensions: Arc<ExtensionClaims>,
    pub(super) clients: Broadcaster,
    /// The caller whose clients receive the notifications. `None`: all clients.
    pub(super) caller: Option<CallerKey>,
    /// Chooses one of the caller's sessions.
    speaker: Speaker,
}

/// The session that passes on what a server sends to all its clients. The server sends it in each session of a caller, so
/// the notifications of the other sessions are dropped. The sessions of one caller share this value.
#[derive(Debug, Clone, Default)]
pub(super) struct Speaker(Arc<Mutex<Weak<SharedQuestions>>>);

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
    pub(super) fn new(
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

    /// The notifications of a caller's session. `speaker` chooses among the sessions of the caller.
    pub(super) fn for_caller(&self, caller: &CallerKey, speaker: &Speaker) -> Self {
        Self {
            caller: Some(caller.clone()),
            speaker: speaker.clone(),
            ..self.clone()
        }
    }

    pub(super) fn speaker(&self) -> &Speaker {
        &self.speaker
    }

    /// Sends a notification of a server to the clients that declare its extension.
    pub(super) fn send(&self, method: &str, params: Option<&RawObject>) {
        let Some(id) = self.extensions.find(method) else {
            return;
        };
        match &self.caller {
            Some(caller) => self.clients.send_raw_to(caller, id, method, params),
            None => self.clients.send_raw(id, method, params),
        }
    }
}

/// Longest wait for the turn of a call.
const WAIT: Duration = Duration::from_secs(30);

/// The turn of one call. Requests of the server belong to it until this is dropped.
pub(super) struct Turn {
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
    pub(super) fn new(broadcast: Option<Broadcast>) -> Self {
        Self(Arc::new(SharedQuestions {
            turns: Arc::new(Semaphore::new(1)),
            current: Mutex::new(None),
            broadcast,
            has_streams: AtomicBool::new(false),
        }))
    }

    /// Notes that the session is open. `has_streams`: each call has a stream of its own.
    pub(super) fn open(&self, has_streams: bool) {
        self.0.has_streams.store(has_streams, Ordering::Relaxed);
        if let Some(broadcast) = &self.0.broadcast {
            broadcast.speaker.claim(&self.0);
        }
    }

    /// Notes that the session has ended: another session of the caller passes notifications on.
    pub(super) fn close(&self) {
        if let Some(broadcast) = &self.0.broadcast {
            broadcast.speaker.release(&self.0);
        }
    }

    /// The capabilities that the gateway declares to a server, because a client of the gateway may have
    /// them.
    pub(super) fn capabilities() -> ClientCapabilities {
        ClientCapabilities::default()
            .with_elicitation()
            .with_url_elicitation()
            .with_sampling()
            .with_roots()
    }

    /// Waits for the turn of a call.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Overloaded`] when another call has its turn for too long.
    pub(super) async fn turn(
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
    pub(super) fn layer(&self) -> impl Middleware + use<> {
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
        let events = events.ok_or(Fault::Refused(
            "no call runs whose client can be asked".into(),
        ))?;
        let (response, received) = oneshot::channel();
        let question = UpstreamEvent::Question(Question { request, response });
        let gone = || Fault::Refused("the call has ended".into());
        events.send(question).await.map_err(|_| gone())?;
        let response = received.await.map_err(|_| gone())??;
        let body = RawObject::from_value(&response);
        let body = body.map_err(|error| Fault::internal(error.to_string()))?;
        Ok(ResultBody::Other(body).into())
    }
}

/// Returns whether the protocol defines a notification.
fn is_core(method: &str) -> bool {
    Method::from_name(method).is_some()
}

/// Reads a request as layers see it. A URL that must not be opened is refused here.
// spec: ELIC-14
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
    use mcp_core::Call;
    use mcp_types::RawObject;
    use tokio::sync::mpsc;

    use super::Questions;

    fn elicit(params: &str) -> Call {
        Call::Other {
            method: "elicitation/create".into(),
            params: Some(RawObject::from_text(params).unwrap()),
        }
    }

    #[tokio::test]
    async fn question_without_a_call_and_unsafe_urls_are_refused() {
        let questions = Questions::new(None);
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
        let questions = Questions::new(None);
        let (events, _receiver) = mpsc::channel(1);
        let first = questions.turn(events.clone(), None).await;
        let mut second = std::pin::pin!(questions.turn(events, None));
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(first);
        assert!(second.await.is_ok());
    }
}
