//! The one path that every call takes: written, sent, waited for, read; and again while the server
//! asks for input.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use http::{HeaderMap, StatusCode};
use mcp_core::patterns::mrtr::{Mrtr, Round};
use mcp_core::versioning::mutual;
use mcp_core::wire::{self, Outgoing};
use mcp_core::{Asked, Fault, Frames, InputState, Mirror, OutCall, Reply, ResultBody, ServerNote};
use mcp_types::{
    InputResponse, LogMessage, LoggingLevel, Message, Meta, Notification, Progress, ProgressToken,
    ProtocolVersion, RequestId, Response,
};
use tokio::time::{timeout, timeout_at};

use crate::client::Inner;
use crate::clock::Clock;
use crate::error::Kind;
use crate::{Asker, Client, Error, InputError};

/// What the caller wants beside the answer.
#[derive(Default)]
pub(crate) struct Options<'a> {
    pub(crate) idle: Option<Duration>,
    pub(crate) total: Option<Duration>,
    pub(crate) headers: HeaderMap,
    pub(crate) meta: Option<Meta>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) on_progress: Option<Hook<'a, Progress>>,
    pub(crate) on_log: Option<Hook<'a, LogMessage>>,
}

/// Code of the caller that runs while the call waits, on the task that awaits it.
pub(crate) struct Hook<'a, T>(Option<Box<dyn FnMut(T) + Send + 'a>>);

impl<'a, T> Hook<'a, T> {
    pub(crate) fn new(hook: impl FnMut(T) + Send + 'a) -> Self {
        Self(Some(Box::new(hook)))
    }

    /// Runs the hook. One that panics is not run again; the call goes on.
    fn run(&mut self, value: T) {
        let Some(hook) = &mut self.0 else { return };
        if catch_unwind(AssertUnwindSafe(|| hook(value))).is_err() {
            self.0 = None;
        }
    }
}

/// Makes a call with all that belongs to it and waits for its result. Dropping the future cancels
/// the call.
pub(crate) async fn run(
    client: &Client,
    asked: Asked,
    options: Options<'_>,
) -> Result<ResultBody, Error> {
    let mut running = Running::start(client, asked, options);
    loop {
        match running.step().await? {
            Step::Done(body) => return Ok(body),
            Step::Asks(round) => running.fulfil(&round).await?,
        }
    }
}

/// A call on its way: one request, or several when the server asks for input.
pub(crate) struct Running<'a> {
    client: Client,
    asked: Asked,
    options: Options<'a>,
    clock: Clock,
    version: ProtocolVersion,
    retried: bool,
    mrtr: Mrtr,
    input: Option<InputState>,
}

/// What a request came to.
pub(crate) enum Step {
    Done(ResultBody),
    Asks(Round),
}

impl<'a> Running<'a> {
    pub(crate) fn start(client: &Client, asked: Asked, options: Options<'a>) -> Self {
        let inner = &client.inner;
        Self {
            client: client.clone(),
            asked,
            clock: Clock::start(inner.timeouts, options.idle, options.total),
            options,
            version: inner.version(),
            retried: false,
            mrtr: Mrtr::new(inner.input_rounds),
            input: None,
        }
    }

    pub(crate) fn failed(&self, kind: impl Into<Kind>) -> Error {
        Error::of(&self.client.inner.channel.peer(), &self.asked, kind.into())
    }

    /// Makes the request; once more when the server wants another version.
    pub(crate) async fn step(&mut self) -> Result<Step, Error> {
        self.clock.resume();
        loop {
            let answer = self.attempt().await;
            let (reply, status) = answer.map_err(|kind| self.failed(kind))?;
            let kind = match reply {
                Reply::Complete { body, .. } => {
                    if self.retried {
                        let version = self.version;
                        self.client.inner.learn(|known| known.version = version);
                    }
                    return Ok(Step::Done(body));
                }
                Reply::InputRequired(required) => match self.mrtr.round(&self.asked, required) {
                    Ok(round) => {
                        // What users do takes its time, which is not the server's.
                        self.clock.pause();
                        return Ok(Step::Asks(round));
                    }
                    Err(error) => InputError::from(error).into(),
                },
                Reply::Fault(fault) if self.corrects(&fault) => continue,
                Reply::Fault(fault) => Kind::of_fault(fault, status, &self.client.inner.spoken),
                Reply::Extended { result_type, .. } => Kind::Extended(result_type),
                _ => Kind::OtherResult,
            };
            return Err(self.failed(kind));
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
        let inner = &self.client.inner;
        let asker = Arc::new(Asker {
            server: inner.channel.peer().into_owned(),
            info: self.client.server_info(),
            method: Some(self.asked.method_name().to_owned()),
            item: self.asked.item().map(ToOwned::to_owned),
        });
        let declared = &inner.profile.capabilities;
        let answers = inner.inputs.answer_all(round, &asker, declared).await;
        let answers = answers.map_err(|error| self.failed(error))?;
        self.answer(round, &answers)
    }

    /// Takes the answers along with the next request.
    pub(crate) fn answer(
        &mut self,
        round: &Round,
        answers: &BTreeMap<String, InputResponse>,
    ) -> Result<(), Error> {
        let input = round.answer(answers);
        self.input = Some(input.map_err(|error| self.failed(InputError::from(error)))?);
        Ok(())
    }

    /// One request and its answer.
    async fn attempt(&mut self) -> Result<(Reply, Option<StatusCode>), Kind> {
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
        let mut closed = pin!(client.inner.closing.wait());
        let mut frames = self.send(&id, token.as_ref());
        let mut deadline = self.clock.deadline();
        loop {
            let next = select(frames.next(), &mut closed);
            let frame = match timeout_at(deadline, next).await {
                Ok(Either::Left((Some(frame), _))) => frame.map_err(Kind::Channel)?,
                Ok(Either::Left((None, _))) => return Err(Kind::Unanswered),
                Ok(Either::Right((reason, _))) => return Err(Kind::closed(reason)),
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
                    check_id(&response, &id)?;
                    let wire = self.client.inner.wire;
                    let reply = wire
                        .decode_reply(&self.asked, &response)
                        .map_err(Kind::Decode)?;
                    finish(&mut frames).await;
                    return Ok((reply, frame.status));
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
        outgoing.log_level = self.options.log_level;
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
        match self.client.inner.wire.decode_note(note) {
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
                if let Some(hook) = &mut self.options.on_log {
                    hook.run(message);
                }
                false
            }
            _ => false,
        }
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
    let mut out = OutCall::new(outgoing.id.clone(), body, mirror);
    out.headers.clone_from(headers);
    inner.channel.call(out)
}

/// A response without an id is an error about a request whose id could not be read: ours, since
/// nothing else comes on this stream.
// spec: BASE-06, BASE-11
pub(crate) fn check_id(response: &Response<'_>, id: &RequestId) -> Result<(), Kind> {
    match &response.id {
        Some(answered) if answered != id => Err(Kind::WrongId {
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
async fn finish(frames: &mut Frames) {
    let _ = timeout(GRACE, frames.next()).await;
}
