//! The one path that every call takes: written, sent, waited for, read; and again while the server
//! asks for input.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use http::{HeaderMap, StatusCode};
use mcp_core::backoff::Backoff;
use mcp_core::patterns::mrtr::{Mrtr, Round};
use mcp_core::versioning::mutual;
use mcp_core::wire::{self, Outgoing};
use mcp_core::{
    Asked, BoxFuture, Call, ChannelError, Fault, Frames, InputState, Mirror, OutCall, Reply,
    ResultBody, ServerNote,
};
use mcp_types::{
    ElicitUrlParams, InputRequired, InputResponse, Message, Notification, ProgressToken,
    ProtocolVersion, RequestId, Response, codes,
};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::cache::Slot;
use crate::client::Inner;
use crate::clock::Clock;
use crate::error::Kind;
use crate::options::Options;
use crate::visiting::{self, Visiting};
use crate::{Asker, Client, Error, InputError, session};

/// Makes a call with all that belongs to it and waits for its result. Dropping the future cancels
/// the call.
pub(crate) async fn run(
    client: &Client,
    asked: Asked,
    options: Options<'_>,
) -> Result<ResultBody, Error> {
    Running::start(client, asked, options).finish().await
}

/// A call on its way: one request, or several when the server asks for input.
pub(crate) struct Running<'a> {
    client: Client,
    asked: Asked,
    options: Options<'a>,
    clock: Clock,
    version: ProtocolVersion,
    retried: bool,
    relisted: bool,
    /// The session was forgotten by the server and opened anew.
    renewed: bool,
    /// The session that the request belongs to.
    session: u64,
    /// How often the call was made again after a break, and how long to wait for it.
    repeats: usize,
    backoff: Backoff,
    mrtr: Mrtr,
    input: Option<InputState>,
    /// URLs that the user visits before the call is made again.
    visiting: Visiting,
}

/// How often a call that may be made twice is made again after a break.
const MAX_REPEATS: usize = 2;

/// Makes one request in a revision and takes whatever comes.
pub(crate) async fn once(
    client: &Client,
    asked: &Asked,
    version: ProtocolVersion,
    idle: Option<Duration>,
) -> Result<Answer, Kind> {
    let options = Options {
        idle,
        ..Options::default()
    };
    let mut running = Running::start(client, asked.clone(), options);
    running.version = version;
    running.attempt().await
}

/// The answer to one request.
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) status: Option<StatusCode>,
    bytes: usize,
}

/// What a request came to.
pub(crate) enum Step {
    Done(ResultBody),
    Asks(Round),
}

impl<'a> Running<'a> {
    pub(crate) fn start(client: &Client, asked: Asked, options: Options<'a>) -> Self {
        let clock = Clock::start(client.inner.timeouts, options.idle, options.total);
        Self::go_on(client, asked, options, clock)
    }

    /// Starts with the time that an earlier call has left.
    pub(crate) fn go_on(client: &Client, asked: Asked, options: Options<'a>, clock: Clock) -> Self {
        let inner = &client.inner;
        Self {
            client: client.clone(),
            asked,
            clock,
            options,
            version: inner.version(),
            retried: false,
            relisted: false,
            renewed: false,
            session: 0,
            repeats: 0,
            backoff: Backoff::new(Duration::from_millis(250), Duration::from_secs(2)),
            mrtr: Mrtr::new(inner.input_rounds),
            input: None,
            visiting: Visiting::default(),
        }
    }

    /// What a further call can go on with. The time stands still until it does.
    pub(crate) fn into_rest(mut self) -> (Options<'a>, Clock) {
        self.clock.pause();
        (self.options, self.clock)
    }

    pub(crate) fn failed(&self, kind: impl Into<Kind>) -> Error {
        Error::of(&self.client.inner.channel.peer(), &self.asked, kind.into())
    }

    /// Makes the call, with the handlers of the client answering what the server asks.
    pub(crate) async fn finish(&mut self) -> Result<ResultBody, Error> {
        loop {
            match self.step().await? {
                Step::Done(body) => return Ok(body),
                Step::Asks(round) => self.fulfil(&round).await?,
            }
        }
    }

    /// Makes the request, unless the caller cancels the call.
    pub(crate) async fn step(&mut self) -> Result<Step, Error> {
        let mut cancel = self.options.cancel.take();
        let step = unless(&mut cancel, self.request()).await;
        self.options.cancel = cancel;
        step.unwrap_or_else(|| Err(self.failed(Kind::Cancelled)))
    }

    /// Makes the request; once more when the server wants another version, and anew when the
    /// stream of the answer broke and the call may be made twice.
    async fn request(&mut self) -> Result<Step, Error> {
        self.clock.resume();
        self.visiting.end();
        let slot = self.slot();
        if let Some(slot) = slot.as_ref().filter(|_| !self.options.fresh)
            && let Some(body) = slot.get()
        {
            return self.done(body);
        }
        loop {
            let was_open = self.client.inner.closing.reason().is_none();
            let answer = match self.attempt().await {
                Err(kind) if was_open && kind.is_end_of_all() => {
                    return Err(self.failed(self.ended(kind)));
                }
                Err(kind) if kind.is_broken() && self.repeats_after_break() => {
                    self.wait_to_repeat()
                        .await
                        .map_err(|kind| self.failed(kind))?;
                    continue;
                }
                Err(Kind::Channel(ChannelError::SessionExpired)) if !self.renewed => {
                    self.renewed = true;
                    let renewal = session::renew(&self.client, self.session).await;
                    renewal.map_err(|kind| self.failed(kind))?;
                    self.version = self.client.inner.version();
                    continue;
                }
                answer => answer.map_err(|kind| self.failed(self.lost(kind)))?,
            };
            let kind = match answer.reply {
                Reply::Complete { body, cache } => {
                    if self.retried {
                        let version = self.version;
                        self.client.inner.learn(|known| known.version = version);
                    }
                    if let (Some(slot), Some(hint)) = (slot, cache) {
                        slot.put(&body, hint, answer.bytes);
                    }
                    return self.done(body);
                }
                Reply::InputRequired(required) => match self.asks(required) {
                    Ok(step) => return Ok(step),
                    Err(error) => error.into(),
                },
                Reply::Fault(Fault::VisitFirst { elicitations }) if self.visits(&elicitations) => {
                    match visiting::required(&elicitations).map(|required| self.asks(required)) {
                        Ok(Ok(step)) => return Ok(step),
                        Ok(Err(error)) => error.into(),
                        Err(error) => Kind::Arguments(error),
                    }
                }
                Reply::Fault(fault) if self.corrects(&fault) => continue,
                Reply::Fault(Fault::HeaderMismatch(_)) if self.learns_headers().await => continue,
                Reply::Fault(fault) => {
                    self.forget_pages(&fault);
                    Kind::of_fault(fault, answer.status, &self.client.inner.spoken)
                }
                Reply::Extended { result_type, .. } => Kind::Extended(result_type),
                _ => Kind::OtherResult,
            };
            return Err(self.failed(kind));
        }
    }

    /// The server asks something.
    fn asks(&mut self, required: InputRequired) -> Result<Step, InputError> {
        let round = self.mrtr.round(&self.asked, required)?;
        // What users do takes its time, which is not the server's.
        self.clock.pause();
        Ok(Step::Asks(round))
    }

    /// The user can visit what the server wants visited before it does what it was asked.
    // spec: ERR-13
    fn visits(&mut self, wanted: &[ElicitUrlParams]) -> bool {
        let inner = &self.client.inner;
        let method = self.asked.method();
        inner.profile.capabilities.allows_url()
            && method.is_some_and(|method| method.spec().may_require_input)
            && self.visiting.begin(&inner.inputs.visits, wanted)
    }

    /// The result, as far as the index of tools has nothing against it.
    fn done(&self, body: ResultBody) -> Result<Step, Error> {
        let indexed = self.client.indexed(&self.asked, body);
        indexed.map(Step::Done).map_err(|kind| self.failed(kind))
    }

    /// Where the answer may be kept: never that of a call with input.
    // spec: CACHE-04
    fn slot(&self) -> Option<Slot> {
        let method = self.asked.method()?;
        if self.input.is_some() || !method.spec().cacheable {
            return None;
        }
        let inner = &self.client.inner;
        let mut special = String::new();
        for (name, value) in &self.options.headers {
            let value = value.as_bytes().escape_ascii();
            special.push_str(&format!("{name}: {value}\n"));
        }
        if let Some(meta) = &self.options.meta {
            special.push_str(&serde_json::to_string(meta).unwrap_or_default());
        }
        let peer = inner.channel.peer();
        inner
            .cache
            .slot(&peer, &inner.principal, &self.asked, &special)
    }

    /// A cursor that the server refuses is one of a list that has changed.
    // spec: CACHE-10
    fn forget_pages(&self, fault: &Fault) {
        let is_refused = match fault {
            Fault::BadParams { .. } => true,
            Fault::Protocol(error) => error.code == codes::INVALID_PARAMS,
            _ => false,
        };
        if let Some(method) = self.asked.method().filter(|_| is_refused) {
            let inner = &self.client.inner;
            inner.cache.forget_list(&inner.channel.peer(), method);
        }
    }

    /// The call may be made again after its stream broke. A state is never used twice: servers may
    /// take each but once.
    // spec: MRTR-09
    fn repeats_after_break(&mut self) -> bool {
        let repeats = self.is_idempotent() && self.input.is_none() && self.repeats < MAX_REPEATS;
        self.repeats += usize::from(repeats);
        repeats
    }

    /// It makes no difference whether the server does it once or twice.
    fn is_idempotent(&self) -> bool {
        let only_reads = match &self.asked {
            Asked::Call(Call::CallTool(params)) => {
                self.client.inner.tools.is_idempotent(&params.name)
            }
            Asked::Call(Call::Other { .. }) => false,
            Asked::Call(_) | Asked::Discover => true,
            _ => false,
        };
        self.options.idempotent.unwrap_or(only_reads)
    }

    async fn wait_to_repeat(&mut self) -> Result<(), Kind> {
        let end = self.clock.end();
        let wait = Instant::now() + self.backoff.next();
        sleep_until(wait.min(end)).await;
        if wait >= end {
            return Err(self.clock.timed_out(end));
        }
        Ok(())
    }

    /// Says of a call that broke whether it may have been made.
    fn lost(&self, kind: Kind) -> Kind {
        if kind.is_broken() && !self.is_idempotent() {
            Kind::Lost(Box::new(kind))
        } else {
            kind
        }
    }

    /// Says the same of a call whose connection ended by itself while it was on its way.
    fn ended(&self, kind: Kind) -> Kind {
        if let Kind::Channel(ChannelError::Closed(reason)) = &kind {
            // Calls from now on know it before they are sent.
            self.client.inner.closing.end(reason.clone());
        }
        match self.is_idempotent() {
            true => kind,
            false => Kind::Lost(Box::new(kind)),
        }
    }

    /// Takes another version when the server refuses this one; once, also when the server names
    /// the very version that it refused.
    // spec: VER-04
    fn corrects(&mut self, fault: &Fault) -> bool {
        let Fault::UnsupportedVersion { supported, .. } = fault else {
            return false;
        };
        match mutual(supported, &self.client.inner.spoken) {
            Some(version) if !self.retried => {
                self.version = version;
                self.retried = true;
                true
            }
            _ => false,
        }
    }

    /// Looks up which headers the server misses, once.
    // spec: XHDR-19
    async fn learns_headers(&mut self) -> bool {
        let may = !std::mem::replace(&mut self.relisted, true);
        let (asked, headers) = (&self.asked, &self.options.headers);
        let end = self.clock.end();
        may && self.client.learns_headers(asked, headers, end).await
    }

    /// Reads the result of the call.
    pub(crate) fn read<T>(
        &self,
        body: ResultBody,
        read: fn(ResultBody) -> Option<T>,
    ) -> Result<T, Error> {
        read(body).ok_or_else(|| self.failed(Kind::OtherResult))
    }

    /// Has the handlers of the client answer, on this task.
    pub(crate) async fn fulfil(&mut self, round: &Round) -> Result<(), Error> {
        let client = self.client.clone();
        let inner = &client.inner;
        let asker = Arc::new(Asker {
            server: inner.channel.peer().into_owned(),
            info: self.client.server_info(),
            method: Some(self.asked.method_name().to_owned()),
            item: self.asked.item().map(ToOwned::to_owned),
        });
        let declared = &inner.profile.capabilities;
        let answers = inner.inputs.answer_all(round, &asker, declared);
        let answers = unless(&mut self.options.cancel, answers).await;
        let answers = answers.ok_or_else(|| self.failed(Kind::Cancelled))?;
        let answers = answers.map_err(|error| self.failed(error))?;
        self.answer(round, &answers)?;
        let (over, closed) = (pin!(self.visiting.wait()), pin!(inner.closing.wait()));
        let over = unless(&mut self.options.cancel, select(over, closed)).await;
        over.map(drop).ok_or_else(|| self.failed(Kind::Cancelled))
    }

    /// Takes the answers along with the next request.
    pub(crate) fn answer(
        &mut self,
        round: &Round,
        answers: &BTreeMap<String, InputResponse>,
    ) -> Result<(), Error> {
        let input = round.answer(answers);
        let input = input.map_err(|error| self.failed(InputError::from(error)))?;
        if self.visiting.is_open() {
            // What goes along with the next request is nothing: the server knows.
            return visiting::check(round, answers).map_err(|error| self.failed(error));
        }
        self.input = Some(input);
        Ok(())
    }

    /// One request and its answer.
    async fn attempt(&mut self) -> Result<Answer, Kind> {
        if let Some(reason) = self.client.inner.closing.reason() {
            return Err(Kind::closed(reason));
        }
        // spec: BASE-05, MRTR-12
        let number = self.client.inner.next_id();
        let id = RequestId::from(number);
        // spec: PROG-01
        let token = self
            .options
            .on_progress
            .is_some()
            .then(|| ProgressToken::from(number));
        let client = self.client.clone();
        self.session = client.inner.session();
        let mut closed = pin!(client.inner.closing.wait());
        let mut frames = self.send(&id, token.as_ref());
        let mut deadline = self.clock.deadline();
        loop {
            let next = select(frames.next(), &mut closed);
            let frame = match timeout_at(deadline, next).await {
                Ok(Either::Left((Some(frame), _))) => frame.map_err(Kind::Channel)?,
                Ok(Either::Left((None, _))) => return Err(Kind::Unanswered),
                Ok(Either::Right((reason, _))) => return Err(Kind::closed(reason)),
                // Users take their time, which is not the server's.
                Err(_) if client.inner.questions.are_open() => {
                    self.clock.extend();
                    deadline = self.clock.deadline();
                    continue;
                }
                // The stream is dropped with this frame of the call: that cancels the request.
                // spec: CAN-10
                Err(_) => return Err(self.clock.timed_out(deadline)),
            };
            match Message::parse(&frame.message).map_err(Kind::Unreadable)? {
                Message::Notification(note) => {
                    let is_progress = self.take_note(&note, token.as_ref());
                    if is_progress {
                        deadline = self.clock.deadline();
                    }
                }
                Message::Response(response) => {
                    check_id(&response, &id, frame.status)?;
                    let reply = wire::of(self.version)
                        .decode_reply(&self.asked, &response)
                        .map_err(Kind::Decode)?;
                    drain(&mut frames).await;
                    return Ok(Answer {
                        reply,
                        status: frame.status,
                        bytes: frame.message.len(),
                    });
                }
                // No server may ask anything here; one that does gets no answer.
                // spec: BASE-17, BASE-19
                _ => {}
            }
        }
    }

    fn send(&self, id: &RequestId, token: Option<&ProgressToken>) -> Frames {
        let inner = &self.client.inner;
        let mut outgoing = Outgoing::new(id, &inner.profile);
        outgoing.progress_token = token;
        outgoing.log_level = self.options.log_level.or_else(|| inner.log_level());
        outgoing.meta = self.options.meta.as_ref();
        outgoing.input = self.input.as_ref();
        send(
            inner,
            &self.asked,
            self.version,
            &outgoing,
            &self.options.headers,
        )
    }

    /// Hands a notification of this call to its hook; all others are ignored. Tells whether it was
    /// progress of this call.
    fn take_note(&mut self, note: &Notification<'_>, token: Option<&ProgressToken>) -> bool {
        match wire::of(self.version).decode_note(note) {
            // spec: PROG-02
            Some(ServerNote::Progress {
                token: given,
                progress,
            }) if Some(&given) == token => {
                if let Some(hook) = &mut self.options.on_progress {
                    hook.run(progress);
                }
                true
            }
            Some(ServerNote::Log(message)) => {
                self.client.inner.events.log(&message);
                if let Some(hook) = &mut self.options.on_log {
                    hook.run(message);
                }
                false
            }
            // A session tells on any stream what has changed.
            Some(note) if !self.version.is_modern() => {
                self.client.inner.hear(note);
                false
            }
            _ => false,
        }
    }
}

/// Waits for `work`, or gives `None` when the caller cancels it first.
async fn unless<T>(
    cancel: &mut Option<BoxFuture<'_, ()>>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let Some(cancel) = cancel else {
        return Some(work.await);
    };
    match select(cancel, pin!(work)).await {
        Either::Left(_) => None,
        Either::Right((done, _)) => Some(done),
    }
}

/// Writes a request and sends it.
pub(crate) fn send(
    inner: &Inner,
    asked: &Asked,
    version: ProtocolVersion,
    outgoing: &Outgoing<'_>,
    headers: &HeaderMap,
) -> Frames {
    let body = wire::of(version).encode_call(asked, outgoing);
    let mirror = Mirror::new(version, asked.method_name(), asked.item());
    let mirror = mirror.params(inner.params(asked, version));
    let mut out = OutCall::new(outgoing.id.clone(), body, mirror);
    out.headers.clone_from(headers);
    inner.channel.call(out)
}

/// A response without an id is an error about a request whose id could not be read: ours, since
/// nothing else comes on this stream. So is an error with a status of its own, whatever id it has:
/// it is the answer to this very POST, and some servers have no better id than a word of their own.
// spec: BASE-06, BASE-11, COMPAT-11
pub(crate) fn check_id(
    response: &Response<'_>,
    id: &RequestId,
    status: Option<StatusCode>,
) -> Result<(), Kind> {
    let is_refusal = response.outcome.is_err() && status.is_some_and(|it| !it.is_success());
    match &response.id {
        Some(answered) if answered != id && !is_refusal => Err(Kind::WrongId {
            answered: answered.clone(),
        }),
        _ => Ok(()),
    }
}

/// How long a call waits for the end of its stream after the response.
const GRACE: Duration = Duration::from_millis(10);

/// Takes the end of the stream, which is due right after the response: a connection whose answer
/// was read to its end can be used again.
// spec: HTTP-SM-14
async fn drain(frames: &mut Frames) {
    let _ = timeout(GRACE, frames.next()).await;
}
