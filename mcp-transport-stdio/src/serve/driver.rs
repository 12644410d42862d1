//! The driver of one pipe: it handles every message and starts every call.

use std::error::Error;
use std::fmt;
use std::future::{pending, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcp_core::close_signal::CloseSignal;
use mcp_core::deadline::finite;
use mcp_core::legacy::{
    self, HandledNotification, HandledRequest, Session, SessionLimits, decode_initialize,
};
use mcp_core::{
    ClientNotification, Connection, Fault, Framing, InboundNotification, InboundRequest, LogLimit,
    MessageSink, ObservedMessage, Principal, Reply, ReplyTarget, RunningCall, ServerNotification,
    Service, Subscriber, Transport, catch_panic_sync, modern,
};
use mcp_types::{
    Cancelled, Message, Method, Notification, ParseError, ProtocolVersion, Request, RequestId,
    Response,
};
use memchr::memmem;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use super::calls::Calls;
use super::settings::ServerSettings;
use crate::lines::Line;
use crate::pipe::{Batch, Ended, Pipe, excerpt};
use crate::write_queue::{QueueClosed, WriteQueue};

/// The frame of a message on a byte stream: a line feed after it. Encoded messages contain none.
const LINE_FRAMING: Framing = Framing {
    prefix: b"",
    suffix: b"\n",
};

/// Time to write the last responses.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Time after which a client with too many running calls may try again.
const CALL_WAIT: Duration = Duration::from_secs(1);

/// Interval between two notifications of a subscription. Changes in between are combined.
const SUBSCRIPTION_INTERVAL: Duration = Duration::from_millis(50);

pub(super) struct Driver {
    service: Arc<dyn Service>,
    settings: ServerSettings,
    pipe: Pipe,
    calls: Calls,
    /// The legacy session that `initialize` has opened.
    session: Option<Arc<Session>>,
    /// Set when the server drains. Subscriptions then end.
    draining: CloseSignal,
    /// Notified when a request is sent to the client, whose deadline may be the next one.
    asked: Arc<Notify>,
    /// The client as a subscriber of changes.
    subscriber: Subscriber,
    /// The end of the input, if it was noticed while received lines waited to be handled.
    input_end: Option<Ended>,
}

/// The future that ends the server.
type ShutdownSignal = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Driver {
    /// User code runs in tasks of `handlers`.
    pub(super) fn new(
        service: Arc<dyn Service>,
        settings: ServerSettings,
        pipe: Pipe,
        handlers: Handle,
    ) -> Self {
        let calls = Calls::new(pipe.write_queue.clone(), handlers);
        settings.counters.set_queue(&pipe.write_queue);
        let mut settings = settings;
        if settings.extensions.transport.is_none() {
            settings.extensions.transport = Some(Transport::Pipe);
        }
        let subscriber = Subscriber {
            extensions: settings.extensions.clone(),
            gate: settings.gate.clone(),
        };
        Self {
            service,
            settings,
            pipe,
            calls,
            session: None,
            draining: CloseSignal::default(),
            asked: Arc::default(),
            subscriber,
            input_end: None,
        }
    }

    pub(super) async fn run(mut self, mut shutdown: ShutdownSignal) -> Ended {
        loop {
            let session = self.session.as_deref();
            let expiry = session.and_then(Session::next_deadline);
            let queue = &self.pipe.write_queue;
            tokio::select! {
                biased;
                () = &mut shutdown => return self.drain(Instant::now()).await,
                ended = self.pipe.writer.ended() => return ignore_closed(ended),
                Some(()) = self.calls.next_ended() => {}
                () = self.asked.notified() => {}
                // A request of the server to its client has timed out.
                Some(()) = reached(expiry.map(Instant::from)) => {
                    if let Some(session) = &self.session {
                        session.expire_requests();
                    }
                }
                change = next_change(session, &self.subscriber, queue) => self.notify(&change),
                batch = self.pipe.incoming.recv() => match batch {
                    Some(batch) => {
                        if let Some(start) = self.handle_lines(batch, &mut shutdown).await {
                            return self.drain(start).await;
                        }
                    }
                    None => {
                        let read = match self.input_end.take() {
                            Some(result) => result,
                            None => self.pipe.reader.ended().await,
                        };
                        let drained = self.drain(Instant::now()).await;
                        return drained.and(ignore_closed(read));
                    }
                },
            }
        }
    }

    /// Handles the lines of one read. Before each line, waits until the client has read enough responses.
    ///
    /// Returns the start of the drain timeout when the server has to end before all lines are handled:
    /// on shutdown, or when the client has closed its side and reads nothing for the drain timeout.
    // spec: STDIO-13
    async fn handle_lines(
        &mut self,
        batch: Batch,
        shutdown: &mut ShutdownSignal,
    ) -> Option<Instant> {
        let drain_timeout = finite(self.settings.drain_timeout);
        for line in batch {
            let Self {
                pipe, input_end, ..
            } = self;
            // The clock is read only after the end of the input.
            let mut stalled_since = input_end.as_ref().map(|_| Instant::now());
            let mut writes = pipe.write_queue.writes();
            let has_space = loop {
                tokio::select! {
                    biased;
                    // An error means that the writer has ended, which is the next event.
                    space = pipe.write_queue.wait_for_space() => break space.is_ok(),
                    () = &mut *shutdown => return Some(Instant::now()),
                    Some(()) = reached(stalled_since.map(|since| since + drain_timeout)) => {
                        let before = std::mem::replace(&mut writes, pipe.write_queue.writes());
                        if before == writes {
                            return stalled_since;
                        }
                        stalled_since = Some(Instant::now());
                    }
                    result = pipe.reader.ended(), if stalled_since.is_none() => {
                        *input_end = Some(result);
                        stalled_since = Some(Instant::now());
                    }
                }
            };
            if has_space {
                self.calls.wait_for_slot(self.settings.max_calls).await;
                self.handle_line(line);
            }
        }
        None
    }

    /// Lets running calls finish and writes their responses. Called when the client has closed its
    /// side, or on shutdown. `start` is the start of the drain timeout. Afterwards, writing the last responses
    /// may take another second.
    // spec: STDIO-13
    async fn drain(mut self, start: Instant) -> Ended {
        // The client can no longer answer requests of the server. Subscriptions end.
        if let Some(session) = &self.session {
            session.close();
        }
        self.settings.counters.set_sessions(0);
        self.draining.close(());
        let mut deadline = start + finite(self.settings.drain_timeout);
        let writes = self.pipe.write_queue.writes();
        tokio::select! {
            biased;
            ended = self.pipe.writer.ended() => return ignore_closed(ended),
            () = self.calls.all_ended() => {}
            () = sleep_until(deadline) => {
                let calls = self.calls.cancel_running();
                if calls > 0 {
                    tracing::warn!(calls, "running calls are cancelled: the drain timeout is over");
                }
                deadline = self.send_replies(writes).await;
            }
        }
        let Self { pipe, calls, .. } = self;
        drop(calls);
        pipe.write_queue.close();
        let mut writer = pipe.writer;
        let until = deadline.max(Instant::now() + FLUSH_TIMEOUT);
        match timeout_at(until, writer.ended()).await {
            Ok(ended) => ignore_closed(ended),
            Err(_) => Ok(()),
        }
    }

    /// Sends the replies that wait for space. Each time that the client has read something since the number of
    /// writes was `writes`, it has the drain timeout again. Returns the deadline for the rest of the queue.
    async fn send_replies(&mut self, mut writes: usize) -> Instant {
        let time = finite(self.settings.drain_timeout);
        while writes < self.pipe.write_queue.writes() {
            writes = self.pipe.write_queue.writes();
            if timeout(time, self.calls.all_ended()).await.is_ok() {
                return Instant::now() + time;
            }
        }
        Instant::now()
    }

    fn handle_line(&mut self, line: Line) {
        match line {
            Line::Text(message) => match Message::parse(&message) {
                Err(ParseError::Batch) => self.handle_batch(&message),
                parsed => self.handle_message(parsed, &message),
            },
            Line::TooLong(head) => {
                let limit = self.settings.line_limit;
                tracing::warn!(limit, line = excerpt(&head), "a line is too long");
                let reason = format!("the message is longer than {limit} bytes").into();
                self.handle_invalid(&head, ParseError::Invalid { id: None, reason });
            }
        }
    }

    fn handle_message(&mut self, parsed: Result<Message<'_>, ParseError>, line: &[u8]) {
        match parsed {
            Ok(Message::Request(request)) => self.handle_request(&request),
            // spec: BASE-12
            Ok(Message::Notification(notification)) => self.handle_notification(&notification),
            Ok(Message::Response(response)) => self.handle_response(&response),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(error = %mcp_types::escaped(&error), line = excerpt(line), "a line is not a message");
                self.handle_invalid(line, error);
            }
        }
    }

    /// Answers an invalid message with an error, unless it may be a response: two peers could
    /// otherwise send errors to each other forever. An invalid response ends the request that it was meant to answer.
    // spec: STDIO-17
    fn handle_invalid(&self, message: &[u8], error: ParseError) {
        if let Some(response) = error.as_response(message) {
            self.handle_response(&response);
        } else if !may_be_response(message) {
            let id = error.id().cloned();
            self.refuse(ProtocolVersion::LATEST, id.as_ref(), &error.into());
        }
    }

    /// Handles and answers the messages of a batch one by one.
    // spec: BASE-14
    fn handle_batch(&mut self, batch: &[u8]) {
        let session = self.session.as_ref();
        let version = session.map_or(ProtocolVersion::LATEST, |session| session.version());
        match legacy::read_batch(batch, version) {
            Ok(messages) => {
                for message in messages {
                    self.handle_message(message, batch);
                }
            }
            Err(fault) => {
                tracing::warn!(line = excerpt(batch), "a line is a batch of messages");
                self.refuse(ProtocolVersion::LATEST, None, &fault);
            }
        }
    }

    /// Starts a call or answers the request at once. A service panic, for example in its
    /// profile, is answered with an error. It does not end the server.
    fn handle_request(&mut self, request: &Request<'_>) {
        if let Err(panic) = catch_panic_sync(|| self.try_handle_request(request)) {
            tracing::error!(panic = %mcp_types::escaped(&panic), "a request was not handled");
            let fault = Fault::internal("internal error");
            self.refuse(ProtocolVersion::LATEST, Some(&request.id), &fault);
        }
    }

    /// Starts a call or answers the request at once. Errors are encoded for the request's era.
    fn try_handle_request(&mut self, request: &Request<'_>) {
        let id = &request.id;
        let profile = self.service.profile();
        let (version, inbound) =
            match modern::read_request(request, None, &profile, true, |_| Ok(())) {
                Ok(None) => {
                    let inbound = self.handle_legacy_request(request);
                    (self.legacy_version(), inbound)
                }
                modern => (ProtocolVersion::LATEST, modern),
            };
        let started = inbound.and_then(|inbound| match inbound {
            Some(inbound) => self.start_call(id, inbound),
            None => Ok(()),
        });
        if let Err(fault) = started {
            self.refuse(version, Some(id), &fault);
        }
    }

    fn start_call(&mut self, id: &RequestId, mut inbound: InboundRequest) -> Result<(), Fault> {
        // spec: BASE-04
        if self.calls.contains(id) {
            return Err(Fault::InvalidRequest(
                "a request with this id is still running".into(),
            ));
        }
        inbound.replace_call(&*self.service);
        if let Some(gate) = &self.settings.gate {
            let principal = self.settings.extensions.get::<Principal>();
            inbound.authorize(gate, principal)?;
        }
        check_count(self.calls.len(), self.settings.max_calls)?;
        let pause = || Box::pin(sleep(SUBSCRIPTION_INTERVAL)) as _;
        inbound.limit_subscription(pause, || {
            let draining = self.draining.closed();
            let counted = self.settings.counters.subscriptions.clone();
            async move {
                draining.await;
                drop(counted);
            }
        });
        let extensions = self.settings.extensions.clone();
        let to = ReplyTarget {
            id: id.clone(),
            profile: self.service.profile(),
            version: inbound.facts.version,
        };
        let service = self.service.clone();
        self.calls.start(id.clone(), move || {
            RunningCall::start(&*service, inbound, to, LINE_FRAMING, None, extensions)
        });
        Ok(())
    }

    /// Handles a legacy request. Returns a call, or `None` when the request is answered already.
    /// Without a session, each request is handled on its own.
    // spec: COMPAT-02, COMPAT-17, LIFE-05, PING-01
    fn handle_legacy_request(
        &mut self,
        request: &Request<'_>,
    ) -> Result<Option<InboundRequest>, Fault> {
        let handled = match &self.session {
            _ if request.method == Method::Initialize.as_str() => self.open_session(request)?,
            Some(session) => session.handle_request(request, || self.subscriber.clone())?,
            None => {
                legacy::read_stateless(request, legacy::DEFAULT_VERSION, &self.service.profile())?
            }
        };
        match handled {
            HandledRequest::Call(mut inbound) => {
                if let Some(session) = &self.session {
                    let queue = self.pipe.write_queue.clone();
                    let asked = self.asked.clone();
                    inbound.input = session.input(Arc::new(QueueSink { queue, asked }));
                }
                Ok(Some(inbound))
            }
            HandledRequest::Reply(reply) => {
                self.send_reply(&request.id, reply);
                Ok(None)
            }
            _ => Err(Fault::no_such_method(&*request.method)),
        }
    }

    /// Opens a session, in place of the previous one: programs that start a server often keep its
    /// process and initialize it again for each of their clients. Running calls continue.
    fn open_session(&mut self, request: &Request<'_>) -> Result<HandledRequest, Fault> {
        let params = decode_initialize(request)?;
        let transport = self.settings.extensions.transport;
        let mut limits = SessionLimits::new(|| Instant::now().into_std(), transport);
        if let Some(previous) = &self.session {
            limits.request_ids_after = previous.last_request_number();
        }
        let principal = self.settings.extensions.get::<Principal>();
        let (session, reply) = Session::open(
            Some(&request.id),
            &params,
            &*self.service,
            principal,
            limits,
        )?;
        if let Some(previous) = self.session.replace(Arc::new(session)) {
            previous.close();
        }
        self.settings.counters.set_sessions(1);
        Ok(HandledRequest::Reply(reply))
    }

    fn handle_notification(&mut self, notification: &Notification<'_>) {
        let cancelled = match &self.session {
            Some(session) => match session.handle_notification(notification) {
                HandledNotification::Cancel(cancelled) => cancelled,
                HandledNotification::Other(_) => return self.start_notification(notification),
                _ => return,
            },
            None => match ClientNotification::decode(notification, ProtocolVersion::LATEST) {
                Some(ClientNotification::Cancelled(cancelled)) => {
                    self.observe(notification);
                    cancelled
                }
                Some(ClientNotification::Other { .. }) => {
                    return self.start_notification(notification);
                }
                _ => return,
            },
        };
        self.cancel(cancelled);
    }

    /// Observes a notification without a session.
    fn observe(&self, notification: &Notification<'_>) {
        let Some(observer) = self.service.observer() else {
            return;
        };
        let meta = notification.params.object("_meta").ok().flatten();
        let transport = self.settings.extensions.transport;
        let connection = transport.map(Connection::new);
        let mut message = ObservedMessage::received(&notification.method, ProtocolVersion::LATEST);
        message.meta = meta.as_ref();
        message.connection = connection.as_ref();
        observer.message(&message).end(Ok(()));
    }

    /// Starts the handler of an extension notification. A refused notification is ignored.
    fn start_notification(&mut self, notification: &Notification<'_>) {
        let method = excerpt(notification.method.as_bytes());
        let started =
            catch_panic_sync(|| self.try_start_notification(notification, method.clone()));
        match started {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => log_ignored(&method, &fault),
            Err(panic) => log_ignored(&method, &panic),
        }
    }

    fn try_start_notification(
        &mut self,
        notification: &Notification<'_>,
        method: String,
    ) -> Result<(), Fault> {
        let facts = || self.session.as_ref().map(|session| session.facts());
        let profile = self.service.profile();
        let Some(inbound) = InboundNotification::decode(notification, &profile, facts) else {
            return Ok(());
        };
        check_count(self.calls.tasks(), self.settings.max_calls)?;
        let extensions = self.settings.extensions.clone();
        let gate = self.settings.gate.clone();
        let service = self.service.clone();
        self.calls.start_notification(async move {
            let serve = || inbound.serve(&*service, gate.as_deref(), extensions);
            match catch_panic_sync(serve) {
                Ok(Ok(handling)) => handling.await,
                Ok(Err(fault)) => log_ignored(&method, &fault),
                Err(panic) => log_ignored(&method, &panic),
            }
        });
        Ok(())
    }

    // spec: CAN-04, CAN-05, CAN-07, CAN-08
    fn cancel(&mut self, cancelled: Cancelled) {
        let Some(id) = cancelled.request_id else {
            return;
        };
        let ran = self.calls.cancel(&id);
        let reason = cancelled.reason.unwrap_or_default();
        tracing::debug!(id = %mcp_types::escaped(&id), ran, reason, "the client has cancelled a call");
    }

    fn handle_response(&self, response: &Response<'_>) {
        let session = self.session.as_ref();
        if !session.is_some_and(|session| session.handle_response(response)) {
            let id = response
                .id
                .as_ref()
                .map(|id| tracing::field::display(mcp_types::escaped(id)));
            tracing::warn!(id, "a response of the client belongs to no pending request");
        }
    }

    /// Notifies the client of a legacy session of a change. Modern clients use subscriptions.
    fn notify(&self, notification: &ServerNotification) {
        let mut message = Vec::new();
        let session = self.session.as_ref();
        if session.is_some_and(|session| session.encode_notification(notification, &mut message)) {
            self.push(&message);
        }
    }

    fn send_reply(&self, id: &RequestId, reply: Reply) {
        let target = ReplyTarget {
            id: id.clone(),
            profile: self.service.profile(),
            version: self.legacy_version(),
        };
        self.push(&target.encode(reply, Vec::new()).into_bytes());
    }

    fn refuse(&self, version: ProtocolVersion, id: Option<&RequestId>, fault: &Fault) {
        self.settings.counters.refuse(fault.to_error(version).code);
        self.push(&fault.encode(id, version));
    }

    /// Queues a message of the driver itself. The queue stays bounded: each received line causes at most one
    /// such message, and the driver waits for space before each line.
    fn push(&self, message: &[u8]) {
        // An error means that the writer has ended, which is the next event.
        let _: Result<(), QueueClosed> = self.pipe.write_queue.push(message);
    }

    /// Returns the session's revision, or the default one before `initialize`.
    fn legacy_version(&self) -> ProtocolVersion {
        let session = self.session.as_ref();
        session.map_or(legacy::DEFAULT_VERSION, |session| session.version())
    }
}

/// Sends requests of a legacy session to its client.
struct QueueSink {
    queue: Arc<WriteQueue>,
    asked: Arc<Notify>,
}

impl MessageSink for QueueSink {
    fn send(&self, message: Bytes) -> bool {
        let is_sent = self.queue.push(&message).is_ok();
        self.asked.notify_one();
        is_sent
    }
}

/// Waits for a time. `None` without one, at once: `select!` computes also what it does not wait for, and would read the
/// clock and set a timer for each message.
async fn reached(time: Option<Instant>) -> Option<()> {
    sleep_until(time?).await;
    Some(())
}

/// Waits for space in the queue, and then for the next change. Changes that arrive while the queue
/// is full are combined.
async fn next_change(
    session: Option<&Session>,
    subscriber: &Subscriber,
    queue: &WriteQueue,
) -> ServerNotification {
    match session {
        Some(session) if queue.wait_for_space().await.is_ok() => {
            poll_fn(|cx| session.poll_change(cx, subscriber)).await
        }
        _ => pending().await,
    }
}

/// Refuses a call beyond the limit of running calls, and logs this at most once per second.
fn check_count(running: usize, limit: usize) -> Result<(), Fault> {
    static REFUSED: LogLimit = LogLimit::new();

    if running < limit {
        return Ok(());
    }
    let reason = format!("{limit} calls are running already; wait for one of them to end");
    if let Some(suppressed) = REFUSED.permit(Instant::now().into_std()) {
        tracing::warn!(reason, suppressed, "a call was refused");
    }
    Err(Fault::rate_limited(reason, CALL_WAIT))
}

fn log_ignored(method: &str, reason: &dyn fmt::Display) {
    tracing::warn!(method, reason = %mcp_types::escaped(&reason), "a notification is ignored");
}

/// Returns whether an invalid message contains a result or an error, and no method.
fn may_be_response(message: &[u8]) -> bool {
    let has = |key: &str| memmem::find(message, key.as_bytes()).is_some();
    (has("\"result\"") || has("\"error\"")) && !has("\"method\"")
}

/// Ignores the errors that a pipe returns after the other side has closed it.
fn ignore_closed(ended: Ended) -> Ended {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    match ended {
        Err(error)
            if matches!(
                error.downcast_ref().map(io::Error::kind),
                Some(BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
            ) =>
        {
            Ok(())
        }
        ended => ended,
    }
}

/// Returns the error of a byte stream as it is, and wraps that of a transport.
pub(super) fn to_io_error(error: Box<dyn Error + Send + Sync>) -> io::Error {
    match error.downcast() {
        Ok(error) => *error,
        Err(error) => io::Error::other(error),
    }
}
