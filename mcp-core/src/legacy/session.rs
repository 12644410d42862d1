//! One session: a machine that turns what its client sends into calls, answers and settled
//! questions. It does no IO and reads no clock of its own.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>

use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use mcp_types::{
    Cancelled, InitializeParams, Method, Notification, Request, RequestId, Response,
    ServerCapabilities, SubscriptionFilter,
};

use super::back_channel::{self, CallChannel, MessageSink, PendingResponse, Waiting};
use super::record::{self, SessionRecord};
use super::{inbound, shake_hands};
use crate::InboundRequest;
use crate::pending::{InsertError, PendingRequests, RequestIds, RequestTimeouts};
use crate::texts::Texts;
use crate::wire::{self, ServerRequestContext, Wire};
use crate::{
    BackChannelError, ChangeEvent, Changes, ClientFacts, ClientNotification, ClientRequest, Fault,
    Input, Principal, Reply, ResultBody, ServerNotification, ServerProfile, ServerRequest, Service,
    SessionRequest, Subscriber, Watch,
};
use parking_lot::Mutex;

/// What one session may hold.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SessionLimits {
    /// Questions that wait for an answer.
    pub pending_requests: usize,
    /// How long a question waits for its answer, or for the next sign of progress.
    pub response_timeout: Duration,
    /// How long it waits in all.
    pub max_response_time: Duration,
    /// Resources whose changes it wants to hear of.
    pub subscriptions: usize,
    /// After which number the ids of its questions begin. Nodes that continue each other's
    /// sessions begin far from each other: an answer that comes to the wrong one is no answer there.
    pub request_ids_after: i64,
    /// Where the time comes from.
    pub clock: fn() -> Instant,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            pending_requests: 64,
            response_timeout: Duration::from_secs(300),
            max_response_time: Duration::from_secs(3600),
            subscriptions: 1024,
            request_ids_after: 0,
            clock: Instant::now,
        }
    }
}

impl SessionLimits {
    fn timeouts(&self) -> RequestTimeouts {
        RequestTimeouts::idle(self.response_timeout).total(self.max_response_time)
    }
}

/// What a request of the client turned out to be.
#[derive(Debug)]
#[non_exhaustive]
pub enum HandledRequest {
    /// A call for the service.
    Call(Box<InboundRequest>),
    /// The session has answered it.
    Reply(Reply),
}

/// What a notification of the client turned out to be.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HandledNotification {
    /// Nothing to do.
    Ignored,
    /// The session is ready, which a store wants to know.
    Ready,
    /// The client waits no longer for an answer: cancel that call.
    Cancel(Cancelled),
    /// For the service.
    Other(ClientNotification),
}

/// One session. There may be very many that only wait, so what few of them need is made when it is
/// needed, and what they have in common is shared.
pub struct Session {
    wire: &'static dyn Wire,
    limits: SessionLimits,
    /// What the server said of itself when the session was opened.
    profile: Arc<ServerProfile>,
    owner: Option<Box<(String, String)>>,
    state: Mutex<State>,
    hears: Option<(Watch, Changes)>,
}

struct State {
    facts: Arc<ClientFacts>,
    ready: bool,
    subscriptions: Texts,
    /// Woken when the session becomes ready.
    listener: Option<Waker>,
    /// What was asked; there from the first question on.
    questions: Option<Box<PendingRequests<Waiting>>>,
}

impl Session {
    /// Opens a session, and the answer to `initialize`.
    ///
    /// # Errors
    ///
    /// [`Fault::UnsupportedVersion`] when the server offers no revision with sessions.
    pub fn open(
        params: &InitializeParams,
        service: &dyn Service,
        principal: Option<&Principal>,
        limits: SessionLimits,
    ) -> Result<(Self, Reply), Fault> {
        let profile = service.profile();
        let (facts, result) = shake_hands(params, &profile, profile.capabilities.clone())?;
        let session = Self::new(
            facts,
            service,
            profile,
            principal.map(record::owner),
            limits,
        );
        let body = ResultBody::Initialize(Arc::new(result));
        Ok((session, body.into()))
    }

    /// Continues a session that was written down.
    #[inline]
    pub fn restore(record: SessionRecord, service: &dyn Service, limits: SessionLimits) -> Self {
        let facts = record.facts();
        let profile = service.profile();
        let session = Self::new(facts, service, profile, record.owner, limits);
        {
            let mut state = session.state.lock();
            state.ready = record.ready;
            state.subscriptions.extend(record.subscriptions);
            session.tell_interest(&state);
        }
        session
    }

    fn new(
        facts: ClientFacts,
        service: &dyn Service,
        profile: Arc<ServerProfile>,
        owner: Option<(String, String)>,
        limits: SessionLimits,
    ) -> Self {
        let interest = interest(&profile.capabilities, &[]);
        let changes = service.changes();
        Self {
            wire: wire::for_version(facts.version),
            limits,
            profile,
            owner: owner.map(Box::new),
            state: Mutex::new(State {
                facts: Arc::new(facts),
                ready: false,
                subscriptions: Texts::default(),
                listener: None,
                questions: None,
            }),
            hears: changes.map(|changes| (changes.watch(interest), changes)),
        }
    }

    /// What can be written down.
    #[inline]
    pub fn record(&self) -> SessionRecord {
        let state = self.state.lock();
        SessionRecord {
            version: state.facts.version,
            capabilities: state.facts.capabilities.clone(),
            client_info: state.facts.info_text().cloned(),
            log_level: state.facts.log_level,
            subscriptions: state.subscriptions.as_slice().to_vec(),
            owner: self.owner.as_deref().cloned(),
            ready: state.ready,
        }
    }

    /// Learns what another node has written down since.
    #[inline]
    pub fn update(&self, record: SessionRecord) {
        let mut state = self.state.lock();
        if state.facts.log_level != record.log_level {
            let facts = ClientFacts::clone(&state.facts).log_level(record.log_level);
            state.facts = Arc::new(facts);
        }
        let mut subscriptions = Texts::default();
        subscriptions.extend(record.subscriptions);
        if state.subscriptions != subscriptions {
            state.subscriptions = subscriptions;
            self.tell_interest(&state);
        }
        let listener = if record.ready && !state.ready {
            state.ready = true;
            state.listener.take()
        } else {
            None
        };
        drop(state);
        listener.into_iter().for_each(Waker::wake);
    }

    /// The wire of the revision that was chosen.
    pub fn wire(&self) -> &'static dyn Wire {
        self.wire
    }

    /// What is known of the client.
    pub fn facts(&self) -> Arc<ClientFacts> {
        self.state.lock().facts.clone()
    }

    /// Shares what is known of the client with a session before, when that has a client of the same
    /// kind: of many sessions most have. `last` becomes what is known of this one's.
    pub fn share_facts(&self, last: &mut Option<Arc<ClientFacts>>) {
        let mut state = self.state.lock();
        match last {
            Some(last) if **last == *state.facts => state.facts = last.clone(),
            _ => *last = Some(state.facts.clone()),
        }
    }

    /// The client has said that the handshake is done.
    pub fn is_ready(&self) -> bool {
        self.state.lock().ready
    }

    /// Whoever asks is the one who opened the session.
    // spec: SESS-11
    pub fn belongs_to(&self, principal: Option<&Principal>) -> bool {
        match (self.owner.as_deref(), principal) {
            (None, None) => true,
            (Some((issuer, subject)), Some(principal)) => {
                *issuer == principal.issuer && *subject == principal.subject
            }
            _ => false,
        }
    }

    /// Reads a request of the client. What tends the session is done at once, whether the client
    /// has said that the handshake is done or not: the order of these two is easily lost. `who` asks
    /// is looked at where a subscription begins.
    ///
    /// # Errors
    ///
    /// The [`Fault`] that the client gets.
    pub fn handle_request(
        &self,
        request: &Request<'_>,
        who: impl Fn() -> Subscriber,
    ) -> Result<HandledRequest, Fault> {
        self.handle_request_inner(request, &who)
    }

    fn handle_request_inner(
        &self,
        request: &Request<'_>,
        who: &dyn Fn() -> Subscriber,
    ) -> Result<HandledRequest, Fault> {
        let mut decoded = self.wire.decode_request(request)?;
        match std::mem::replace(&mut decoded.request, ClientRequest::Discover) {
            ClientRequest::Call(call) => {
                let call = inbound(call, decoded, self.facts(), Input::Absent);
                Ok(HandledRequest::Call(call))
            }
            ClientRequest::Session(call) => {
                self.tend(&call, who)?;
                Ok(HandledRequest::Reply(ResultBody::Empty.into()))
            }
            other => Err(Fault::no_such_method(other.method_name())),
        }
    }

    fn tend(&self, call: &SessionRequest, who: &dyn Fn() -> Subscriber) -> Result<(), Fault> {
        match call {
            // spec: PING-01
            SessionRequest::Ping => Ok(()),
            SessionRequest::Initialize(_) => Err(Fault::InvalidRequest(
                "this session is initialized already; open another one".into(),
            )),
            // spec: LOG-03
            SessionRequest::SetLevel(level) => {
                let mut state = self.state.lock();
                let facts = ClientFacts::clone(&state.facts).log_level(Some(*level));
                state.facts = Arc::new(facts);
                Ok(())
            }
            SessionRequest::Subscribe(params) => self.subscribe(&params.uri, &who()),
            SessionRequest::Unsubscribe(params) => {
                self.check_subscriptions(Method::Unsubscribe)?;
                let mut state = self.state.lock();
                state.subscriptions.remove(&params.uri);
                self.tell_interest(&state);
                Ok(())
            }
        }
    }

    // spec: SUB-14, RSRC-12, GAP-10
    fn subscribe(&self, uri: &str, who: &Subscriber) -> Result<(), Fault> {
        self.check_subscriptions(Method::Subscribe)?;
        if let Some((_, changes)) = &self.hears {
            changes.check_access(uri, &self.facts(), who)?;
        }
        let mut state = self.state.lock();
        if state.subscriptions.len() >= self.limits.subscriptions
            && !state.subscriptions.contains(uri)
        {
            return Err(Fault::Refused(
                format!(
                    "this session has {} subscriptions already; end one first",
                    self.limits.subscriptions
                )
                .into(),
            ));
        }
        state.subscriptions.insert(uri);
        self.tell_interest(&state);
        Ok(())
    }

    fn check_subscriptions(&self, method: Method) -> Result<(), Fault> {
        let resources = self.profile.capabilities.resources.as_ref();
        if resources.is_some_and(|offer| offer.subscribe == Some(true)) {
            return Ok(());
        }
        Err(Fault::no_such_method(method.as_str()))
    }

    fn tell_interest(&self, state: &State) {
        if let Some((watch, _)) = &self.hears {
            let interest = interest(&self.profile.capabilities, state.subscriptions.as_slice());
            watch.set_interest(interest);
        }
    }

    /// Reads a notification of the client.
    pub fn handle_notification(&self, note: &Notification<'_>) -> HandledNotification {
        match self.wire.decode_client_notification(note) {
            // spec: LIFE-03
            Some(ClientNotification::Initialized) => {
                let mut state = self.state.lock();
                state.ready = true;
                let listener = state.listener.take();
                drop(state);
                listener.into_iter().for_each(Waker::wake);
                HandledNotification::Ready
            }
            // spec: CAN-07
            Some(ClientNotification::Cancelled(cancelled)) => {
                HandledNotification::Cancel(cancelled)
            }
            Some(ClientNotification::Progress { token, .. }) => {
                let now = (self.limits.clock)();
                if let Some(questions) = &mut self.state.lock().questions {
                    questions.touch(token.as_id(), now);
                }
                HandledNotification::Ignored
            }
            Some(note @ ClientNotification::Other { .. }) => HandledNotification::Other(note),
            _ => HandledNotification::Ignored,
        }
    }

    /// Reads an answer of the client to a question. Tells whether somebody waited for it.
    // spec: CAN-06
    pub fn handle_response(&self, response: &Response<'_>) -> bool {
        let Some(id) = &response.id else {
            return false;
        };
        let Some(waiting) = self.take_question(id) else {
            return false;
        };
        let answer = self
            .wire
            .decode_client_response(&waiting.ask, response)
            .map_err(|error| BackChannelError::Malformed(error.to_string()));
        waiting.settle(answer);
        true
    }

    /// The session has asked something under this id: an answer to it is late, not foreign.
    pub fn has_sent(&self, id: &RequestId) -> bool {
        let state = self.state.lock();
        let questions = state.questions.as_ref();
        questions.is_some_and(|questions| questions.ids().contains(id))
    }

    /// Takes a question out that waits no longer.
    fn take_question(&self, id: &RequestId) -> Option<Waiting> {
        self.state.lock().questions.as_mut()?.remove(id)
    }

    /// How a call of this session asks its client: on `sink`, the stream of that call.
    pub fn input(self: &Arc<Self>, sink: Arc<dyn MessageSink>) -> Input {
        let session = self.clone();
        Input::Live(Arc::new(CallChannel { session, sink }))
    }

    /// Asks the client.
    ///
    /// # Errors
    ///
    /// [`BackChannelError`] when the question cannot be put.
    pub fn send_request(
        self: &Arc<Self>,
        ask: ServerRequest,
        sink: &Arc<dyn MessageSink>,
    ) -> Result<PendingResponse, BackChannelError> {
        let ask = Arc::new(ask);
        let (sender, answer) = oneshot::channel();
        let now = (self.limits.clock)();
        let waiting = Waiting {
            ask: ask.clone(),
            answer: sender,
            sink: sink.clone(),
        };
        let opened = {
            let mut state = self.state.lock();
            let questions = state.questions(&self.limits);
            questions.insert(now, self.limits.timeouts(), waiting)
        };
        let id = opened.map_err(|error| match error {
            InsertError::Closed => BackChannelError::Closed,
            _ => BackChannelError::Busy,
        })?;
        let token = id.clone().into();
        let mut from = ServerRequestContext::new(&id);
        from.progress_token = Some(&token);
        let question = PendingResponse {
            session: self.clone(),
            id: id.clone(),
            answer,
        };
        let text = match self.wire.encode_server_request(&ask, &from) {
            Ok(text) => text,
            Err(fault) => {
                // Nothing was sent, so nothing is taken back.
                self.take_question(&id);
                return Err(BackChannelError::Refused(fault));
            }
        };
        if !sink.send(text.into()) {
            self.take_question(&id);
            return Err(BackChannelError::Closed);
        }
        Ok(question)
    }

    /// Nobody waits for the answer any more; the client is told, unless it has answered.
    pub(super) fn withdraw(&self, id: &RequestId, reason: &str) {
        if let Some(waiting) = self.take_question(id) {
            back_channel::cancel(self, &waiting, id, reason);
        }
    }

    /// Gives up the questions that have waited too long. To be called when
    /// [`next_deadline`](Self::next_deadline) has come.
    // spec: LIFE-12
    pub fn expire_requests(&self) {
        let next = || {
            let mut state = self.state.lock();
            state.questions.as_mut()?.pop_expired((self.limits.clock)())
        };
        while let Some((id, waiting)) = next() {
            back_channel::cancel(self, &waiting, &id, "the answer took too long");
            waiting.settle(Err(BackChannelError::TimedOut));
        }
    }

    /// When the next question has waited too long.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.state.lock().questions.as_ref()?.next_deadline()
    }

    /// The session ends: whoever waits for an answer learns it.
    pub fn close(&self) {
        let waiting = self.state.lock().questions(&self.limits).close();
        for (_, waiting) in waiting {
            waiting.settle(Err(BackChannelError::Closed));
        }
    }

    /// The next change that the client wants to hear of, once it is ready; of a resource only if
    /// `who` may hear of it. One reader at a time; the last one that polls is woken.
    // spec: LIFE-05, GAP-10
    pub fn poll_change(&self, cx: &mut Context<'_>, who: &Subscriber) -> Poll<ServerNotification> {
        let mut state = self.state.lock();
        if !state.ready {
            state.listener = Some(cx.waker().clone());
            return Poll::Pending;
        }
        drop(state);
        let Some((watch, changes)) = &self.hears else {
            return Poll::Pending;
        };
        loop {
            let event = ready!(watch.poll_change(cx));
            let is_hidden = match &event {
                ChangeEvent::Resource { uri } => {
                    changes.check_access(uri, &self.facts(), who).is_err()
                }
                _ => false,
            };
            if !is_hidden {
                return Poll::Ready(event.into());
            }
        }
    }
}

impl State {
    fn questions(&mut self, limits: &SessionLimits) -> &mut PendingRequests<Waiting> {
        self.questions.get_or_insert_with(|| {
            let ids = RequestIds::starting_after(limits.request_ids_after);
            Box::new(PendingRequests::new(limits.pending_requests).with_ids(ids))
        })
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("version", &self.wire.version())
            .field("ready", &self.is_ready())
            .finish_non_exhaustive()
    }
}

/// What a session hears of: what the server said that it would tell, and the resources asked for.
// spec: SUB-12, SUB-14
fn interest(offers: &ServerCapabilities, subscriptions: &[String]) -> SubscriptionFilter {
    let mut interest = SubscriptionFilter::new();
    interest.tools_list_changed = tells(offers.tools.as_ref().and_then(|it| it.list_changed));
    interest.prompts_list_changed = tells(offers.prompts.as_ref().and_then(|it| it.list_changed));
    let resources = offers.resources.as_ref();
    interest.resources_list_changed = tells(resources.and_then(|it| it.list_changed));
    interest.resource_subscriptions = subscriptions.to_vec();
    interest
}

fn tells(list_changed: Option<bool>) -> bool {
    list_changed == Some(true)
}

#[cfg(test)]
mod tests;
