//! The driver of one pipe: every message is read here, and every call is begun here.

use std::future::{pending, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcp_core::legacy::{
    self, HandledNotification, HandledRequest, MessageSink, Session, SessionLimits,
};
use mcp_core::lines::{LINE_FRAMING, Line};
use mcp_core::versioning::{RequestEra, classify};
use mcp_core::wire::{self, MODERN, ReplyContext, Wire};
use mcp_core::{
    ClientNotification, ClientRequest, Fault, Principal, Reply, ServerNotification, Service,
    SessionRequest, Subscriber,
};
use mcp_core::{InboundRequest, modern};
use mcp_core::{ReplyTarget, RunningCall};
use mcp_types::{
    Cancelled, Message, Method, Notification, ParseError, ProtocolVersion, Request, RequestId,
    Response,
};
use memchr::memmem;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::Settings;
use super::calls::Calls;
use crate::outbox::{Ended, Outbox};
use crate::pipe::{Batch, Pipe, excerpt};

/// After the last answer, time for it to be written.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long changes gather between two rounds of them.
const PACE: Duration = Duration::from_millis(50);

pub(super) struct Driver {
    service: Arc<dyn Service>,
    settings: Settings,
    pipe: Pipe,
    calls: Calls,
    /// Opened by `initialize`.
    session: Option<Arc<Session>>,
    /// Nothing new begins, and what would go on for ever ends.
    draining: watch::Sender<bool>,
    /// The one client, as its subscriptions are looked at.
    who: Subscriber,
}

/// What happens on a pipe.
enum Event {
    Stop,
    Incoming(Option<Batch>),
    WriterEnded(io::Result<()>),
    CallEnded,
    QuestionExpired,
    Changed(ServerNotification),
}

impl Driver {
    pub(super) fn new(service: Arc<dyn Service>, settings: Settings, pipe: Pipe) -> Self {
        let calls = Calls::new(pipe.outbox.clone());
        let who = Subscriber::new(settings.extensions.clone(), settings.gate.clone());
        Self {
            service,
            settings,
            pipe,
            calls,
            session: None,
            draining: watch::Sender::new(false),
            who,
        }
    }

    pub(super) async fn run(
        mut self,
        mut stop: Pin<Box<dyn Future<Output = ()> + Send>>,
    ) -> io::Result<()> {
        loop {
            match self.next_event(&mut stop).await {
                Event::WriterEnded(ended) => return unless_closed(ended),
                Event::Stop => return self.drain().await,
                Event::Incoming(None) => {
                    let read = self.pipe.reader.ended().await;
                    return self.drain().await.and(unless_closed(read));
                }
                Event::Incoming(Some(batch)) => {
                    for line in batch {
                        // Who does not read its answers is not listened to. When the pipe is
                        // broken, the writer says so.
                        if self.pipe.outbox.room().await.is_ok() {
                            self.take_line(line);
                        }
                    }
                }
                Event::CallEnded => {}
                Event::QuestionExpired => {
                    if let Some(session) = &self.session {
                        session.expire_requests();
                    }
                }
                Event::Changed(note) => self.tell(&note),
            }
        }
    }

    async fn next_event(&mut self, stop: &mut Pin<Box<dyn Future<Output = ()> + Send>>) -> Event {
        let session = self.session.as_deref();
        let outbox = &self.pipe.outbox;
        tokio::select! {
            biased;
            () = stop => Event::Stop,
            ended = self.pipe.writer.ended() => Event::WriterEnded(ended),
            Some(()) = self.calls.next_end() => Event::CallEnded,
            () = question_expired(session) => Event::QuestionExpired,
            note = next_change(session, &self.who, outbox) => Event::Changed(note),
            batch = self.pipe.incoming.recv() => Event::Incoming(batch),
        }
    }

    /// The client has closed its side, or we were told to stop: calls finish, their answers are
    /// written.
    // spec: STDIO-13
    async fn drain(mut self) -> io::Result<()> {
        // What was asked cannot be answered any more, and subscriptions end in good order.
        if let Some(session) = &self.session {
            session.close();
        }
        self.draining.send_replace(true);
        let deadline = Instant::now() + self.settings.drain_timeout;
        tokio::select! {
            biased;
            ended = self.pipe.writer.ended() => return unless_closed(ended),
            () = self.calls.all_ended() => {}
            () = sleep_until(deadline) => {
                let calls = self.calls.len();
                tracing::warn!(calls, "running calls are cancelled, the client has gone");
            }
        }
        let Self { pipe, calls, .. } = self;
        drop(calls);
        pipe.outbox.end();
        let mut writer = pipe.writer;
        let until = deadline.max(Instant::now() + LAST_WORDS);
        match timeout_at(until, writer.ended()).await {
            Ok(ended) => unless_closed(ended),
            Err(_) => Ok(()),
        }
    }

    fn take_line(&mut self, line: Line) {
        match line {
            Line::Text(text) => match Message::parse(&text) {
                Ok(Message::Request(request)) => self.take_request(&request),
                Ok(Message::Notification(note)) => self.take_note(&note),
                Ok(Message::Response(response)) => self.take_response(&response),
                Ok(_) => {}
                Err(ParseError::Batch) => self.take_batch(&text),
                Err(error) => self.take_garbage(&text, error),
            },
            Line::TooLong(head) => {
                let limit = self.settings.line_limit;
                tracing::warn!(limit, line = excerpt(&head), "a line is too long");
                let reason = format!("the message is longer than {limit} bytes");
                self.refuse(MODERN, None, &Fault::InvalidRequest(reason.into()));
            }
            _ => {}
        }
    }

    /// Nothing is answered to what may be an answer itself: two peers could go on for ever.
    // spec: STDIO-17
    fn take_garbage(&self, text: &[u8], error: ParseError) {
        tracing::warn!(%error, line = excerpt(text), "a line is no message");
        if !may_be_response(text) {
            let id = error.id().cloned();
            self.refuse(MODERN, id.as_ref(), &error.into());
        }
    }

    /// Messages in a batch are taken one by one, and answered one by one: a pipe has no place
    /// where answers could wait for each other.
    // spec: BASE-14
    fn take_batch(&mut self, text: &[u8]) {
        let session = self.session.as_ref();
        let version = session.map_or(ProtocolVersion::LATEST, |session| session.wire().version());
        match wire::batch::read(text, version) {
            Ok(messages) => {
                for message in messages {
                    match message {
                        Ok(Message::Request(request)) => self.take_request(&request),
                        Ok(Message::Notification(note)) => self.take_note(&note),
                        Ok(Message::Response(response)) => self.take_response(&response),
                        Ok(_) => {}
                        Err(error) => self.take_garbage(text, error),
                    }
                }
            }
            Err(fault) => {
                tracing::warn!(line = excerpt(text), "a line is a batch of messages");
                self.refuse(MODERN, None, &fault);
            }
        }
    }

    /// An error is told in the words of the era that the request belongs to.
    fn take_request(&mut self, request: &Request<'_>) {
        let id = &request.id;
        let (wire, inbound) = match classify(request, None) {
            RequestEra::Modern(envelope) => {
                let inbound = modern::read_request(request, envelope, &self.service.profile());
                (MODERN, inbound.map(Some))
            }
            RequestEra::Refused(fault) => (MODERN, Err(fault)),
            _ => {
                let inbound = self.admit_legacy(request);
                (self.legacy_wire(), inbound)
            }
        };
        let begun = inbound.and_then(|inbound| match inbound {
            Some(inbound) => self.begin(id, inbound),
            None => Ok(()),
        });
        if let Err(fault) = begun {
            self.refuse(wire, Some(id), &fault);
        }
    }

    fn begin(&mut self, id: &RequestId, mut inbound: InboundRequest) -> Result<(), Fault> {
        // spec: BASE-04
        if self.calls.has(id) {
            return Err(Fault::InvalidRequest(
                "a request with this id is still running".into(),
            ));
        }
        if let Some(gate) = &self.settings.gate {
            let principal = self.settings.extensions.get::<Principal>();
            inbound.authorize(gate, principal)?;
        }
        let limit = self.settings.max_calls;
        if self.calls.len() >= limit {
            let reason = format!("{limit} calls are running already; wait for one of them to end");
            return Err(Fault::Refused(reason.into()));
        }
        if inbound.is_subscription() {
            let mut draining = self.draining.subscribe();
            // An error means that the driver has gone, and its calls with it.
            inbound.end_subscription_on(async move { drop(draining.wait_for(|now| *now).await) });
            inbound.pace_subscription(|| Box::pin(sleep(PACE)));
        }
        let extensions = self.settings.extensions.clone();
        let to = ReplyTarget {
            id: id.clone(),
            profile: self.service.profile(),
            wire: wire::for_version(inbound.version()),
        };
        let running = RunningCall::start(&*self.service, inbound, to, LINE_FRAMING, extensions);
        self.calls.begin(running);
        Ok(())
    }

    /// A request of the legacy era: a call, or something that is answered here. Until there is a
    /// session, each stands for itself.
    // spec: COMPAT-02, COMPAT-17, LIFE-05, PING-01
    fn admit_legacy(&mut self, request: &Request<'_>) -> Result<Option<InboundRequest>, Fault> {
        let admitted = match &self.session {
            Some(session) => session.handle_request(request, || self.who.clone())?,
            None if request.method == Method::Initialize.as_str() => self.open(request)?,
            None => {
                legacy::read_stateless(request, legacy::DEFAULT_VERSION, &self.service.profile())?
            }
        };
        match admitted {
            HandledRequest::Call(mut inbound) => {
                if let Some(session) = &self.session {
                    let sink = Arc::new(Sink(self.pipe.outbox.clone()));
                    inbound.input = session.input(sink);
                }
                Ok(Some(*inbound))
            }
            HandledRequest::Reply(reply) => {
                self.answer(&request.id, reply);
                Ok(None)
            }
            _ => Err(Fault::no_such_method(&*request.method)),
        }
    }

    fn open(&mut self, request: &Request<'_>) -> Result<HandledRequest, Fault> {
        let decoded = wire::for_version(legacy::DEFAULT_VERSION).decode_request(request)?;
        let ClientRequest::Session(SessionRequest::Initialize(params)) = decoded.request else {
            return Err(Fault::no_such_method(&*request.method));
        };
        let mut limits = SessionLimits::default();
        limits.clock = || Instant::now().into_std();
        let principal = self.settings.extensions.get::<Principal>();
        let (session, reply) = Session::open(&params, &*self.service, principal, limits)?;
        self.session = Some(Arc::new(session));
        Ok(HandledRequest::Reply(reply))
    }

    fn take_note(&mut self, note: &Notification<'_>) {
        let cancelled = match &self.session {
            Some(session) => match session.handle_notification(note) {
                HandledNotification::Cancel(cancelled) => cancelled,
                _ => return,
            },
            None => match MODERN.decode_client_notification(note) {
                Some(ClientNotification::Cancelled(cancelled)) => cancelled,
                _ => return,
            },
        };
        self.cancel(cancelled);
    }

    // spec: CAN-04, CAN-05, CAN-07, CAN-08
    fn cancel(&mut self, cancelled: Cancelled) {
        let Some(id) = cancelled.request_id else {
            return;
        };
        let ran = self.calls.cancel(&id);
        let reason = cancelled.reason.unwrap_or_default();
        tracing::debug!(%id, ran, reason, "the client has cancelled a call");
    }

    fn take_response(&self, response: &Response<'_>) {
        let session = self.session.as_ref();
        if !session.is_some_and(|session| session.handle_response(response)) {
            let id = response.id.as_ref().map(tracing::field::display);
            tracing::warn!(id, "nobody waits for this answer of the client");
        }
    }

    /// What changes is told to the client of a session; modern ones have their subscriptions.
    fn tell(&self, note: &ServerNotification) {
        let mut text = Vec::new();
        if self
            .legacy_wire()
            .encode_server_notification(note, None, &mut text)
        {
            self.push(&text);
        }
    }

    fn answer(&self, id: &RequestId, reply: Reply) {
        let profile = self.service.profile();
        let to = ReplyContext::new(id, &profile);
        let text = self.legacy_wire().encode_reply(reply, &to, Vec::new());
        self.push(&text.into_bytes());
    }

    fn refuse(&self, wire: &dyn Wire, id: Option<&RequestId>, fault: &Fault) {
        let mut text = Vec::new();
        wire.encode_error(fault, id, &mut text);
        self.push(&text);
    }

    /// What the driver says itself: one message for one line, for which there was room.
    fn push(&self, text: &[u8]) {
        // When the pipe is broken, the writer says so.
        let _: Result<(), Ended> = self.pipe.outbox.push(text);
    }

    /// The wire of the session, or of those who have not opened one yet.
    fn legacy_wire(&self) -> &'static dyn Wire {
        match &self.session {
            Some(session) => session.wire(),
            None => wire::for_version(legacy::DEFAULT_VERSION),
        }
    }
}

/// The way of a call to its client.
struct Sink(Arc<Outbox>);

impl MessageSink for Sink {
    fn send(&self, message: Bytes) -> bool {
        self.0.push(&message).is_ok()
    }
}

async fn question_expired(session: Option<&Session>) {
    match session.and_then(Session::next_deadline) {
        Some(deadline) => sleep_until(deadline.into()).await,
        None => pending().await,
    }
}

/// The next change, once there is room to tell it: until then changes become one.
async fn next_change(
    session: Option<&Session>,
    who: &Subscriber,
    outbox: &Outbox,
) -> ServerNotification {
    match session {
        Some(session) if outbox.room().await.is_ok() => {
            poll_fn(|cx| session.poll_change(cx, who)).await
        }
        _ => pending().await,
    }
}

/// Something that has a result or an error, and no method.
fn may_be_response(text: &[u8]) -> bool {
    let has = |key: &str| memmem::find(text, key.as_bytes()).is_some();
    (has("\"result\"") || has("\"error\"")) && !has("\"method\"")
}

/// A pipe that the other side has closed has ended as pipes do.
fn unless_closed(ended: io::Result<()>) -> io::Result<()> {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    match ended {
        Err(error)
            if matches!(
                error.kind(),
                BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof
            ) =>
        {
            Ok(())
        }
        ended => ended,
    }
}
