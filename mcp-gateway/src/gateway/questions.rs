//! Requests of a legacy server while a call runs: elicitation, sampling, roots.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
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
use super::shared_copies::{HeldNotifications, SharedCopies};

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

/// The requests of one session. They belong to the call that has its turn.
#[derive(Clone)]
pub(super) struct Questions(Arc<SharedQuestions>);

struct SharedQuestions {
    turns: Arc<Semaphore>,
    /// The events of the call that has its turn.
    current: Mutex<Option<mpsc::Sender<UpstreamEvent>>>,
    /// Sends notifications that belong to no call. `None`: they are dropped.
    broadcast: Option<Broadcast>,
    /// Set for a session of one call at a time that also receives notifications which belong to no call.
    held: OnceLock<HeldNotifications<UpstreamEvent>>,
}

/// The extensions of a server, and the clients that receive their notifications.
#[derive(Debug, Clone)]
pub(super) struct Broadcast {
    pub(super) extensions: Arc<ExtensionClaims>,
    pub(super) clients: Broadcaster,
    /// The caller whose clients receive the notifications. `None`: all clients.
    pub(super) caller: Option<CallerKey>,
    /// The other sessions of the server find here what was sent.
    pub(super) copies: SharedCopies,
    /// The copies that count for the session.
    used: Arc<Mutex<HashSet<u64>>>,
}

impl Broadcast {
    /// The notifications of one session.
    pub(super) fn new(
        extensions: Arc<ExtensionClaims>,
        clients: Broadcaster,
        caller: Option<CallerKey>,
        copies: SharedCopies,
    ) -> Self {
        Self {
            extensions,
            clients,
            caller,
            copies,
            used: Arc::default(),
        }
    }

    /// The notifications of a session of one caller, which has others with these copies.
    pub(super) fn for_caller(&self, caller: &CallerKey, copies: &SharedCopies) -> Self {
        let (extensions, clients) = (self.extensions.clone(), self.clients.clone());
        Self::new(extensions, clients, Some(caller.clone()), copies.clone())
    }

    /// Sends a notification of a server to the clients that declare its extension.
    pub(super) fn send(&self, method: &str, params: Option<&RawObject>) {
        let Some(id) = self.extensions.find(method) else {
            return;
        };
        if !self.copies.add(method, params, &mut self.used.lock()) {
            return;
        }
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
            held: OnceLock::new(),
        }))
    }

    /// Passes notifications to a call only if no session without a call receives them as well.
    pub(super) fn leave_out_copies(&self, copies: SharedCopies) {
        self.0.held.get_or_init(|| HeldNotifications::new(copies));
    }

    /// Waits until the notifications so far are passed to the call that has its turn.
    pub(super) async fn settled(&self) {
        if let Some(held) = self.0.held.get() {
            held.settled().await;
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
    /// Returns [`Fault::Refused`] when another call has its turn for too long.
    pub(super) async fn turn(&self, events: mpsc::Sender<UpstreamEvent>) -> Result<Turn, Fault> {
        let permit = timeout(WAIT, self.0.turns.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            return Err(Fault::Refused(
                "another call of this server waits for the answer of its client; try again later"
                    .into(),
            ));
        };
        *self.0.current.lock() = Some(events);
        Ok(Turn {
            questions: self.clone(),
            _permit: permit,
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

    /// Passes a notification of an extension to the call that has its turn. Without a call, broadcasts it.
    async fn notify(&self, method: &str, params: Option<RawObject>) {
        let events = self.0.current.lock().clone();
        let Some(events) = events else {
            if let Some(broadcast) = &self.0.broadcast {
                broadcast.send(method, params.as_ref());
            }
            return;
        };
        let event = UpstreamEvent::Custom {
            method: method.into(),
            params: params.clone(),
        };
        match self.0.held.get() {
            Some(held) => held.pass((method, params.as_ref()), events, event).await,
            // The call may have ended.
            None => drop(events.send(event).await),
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
        let questions = Questions::new(None);
        let (events, _receiver) = mpsc::channel(1);
        let first = questions.turn(events.clone()).await;
        let mut second = std::pin::pin!(questions.turn(events));
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(first);
        assert!(second.await.is_ok());
    }
}
