//! The one path that every call takes: one request after the other, until the server has all that it
//! asks for and the answer is there.

mod again;
mod tools;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use mcp_core::backoff::Backoff;
use mcp_core::mrtr::{InputRound, Mrtr};
use mcp_core::{BoxFuture, ChannelError, ClientRequest, Fault, InputState, Reply, ResultBody};
use mcp_types::{ElicitUrlParams, InputRequired, InputResponse, ProtocolVersion, codes};

use crate::attempt::{Answer, Attempt};
use crate::cache::Slot;
use crate::clock::Clock;
use crate::error::Kind;
use crate::options::Options;
use crate::visiting::{self, Visiting};
use crate::{Asker, Client, Error, InputError, session};

/// Makes a call with all that belongs to it and waits for its result. Dropping the future cancels
/// the call.
pub(crate) async fn run(
    client: &Client,
    asked: ClientRequest,
    options: Options<'_>,
) -> Result<ResultBody, Error> {
    Running::start(client, asked, options).finish().await
}

/// A call on its way: one request, or several when the server asks for input.
pub(crate) struct Running<'a> {
    client: Client,
    asked: ClientRequest,
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

/// What a request came to.
pub(crate) enum Step {
    Done(ResultBody),
    Asks(InputRound),
}

impl<'a> Running<'a> {
    pub(crate) fn start(client: &Client, asked: ClientRequest, options: Options<'a>) -> Self {
        let clock = Clock::start(client.inner.timeouts, options.idle, options.total);
        Self::go_on(client, asked, options, clock)
    }

    /// Starts with the time that an earlier call has left.
    pub(crate) fn go_on(
        client: &Client,
        asked: ClientRequest,
        options: Options<'a>,
        clock: Clock,
    ) -> Self {
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
                Reply::Fault(Fault::UrlElicitationRequired { elicitations })
                    if self.visits(&elicitations) =>
                {
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

    /// One request and its answer.
    async fn attempt(&mut self) -> Result<Answer, Kind> {
        self.session = self.client.inner.session();
        let attempt = Attempt {
            client: &self.client,
            asked: &self.asked,
            version: self.version,
            options: &mut self.options,
            clock: &mut self.clock,
            input: self.input.as_ref(),
        };
        attempt.run().await
    }

    /// The server asks something.
    fn asks(&mut self, required: InputRequired) -> Result<Step, InputError> {
        let round = self.mrtr.start_round(&self.asked, required)?;
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

    /// Reads the result of the call.
    pub(crate) fn read<T>(
        &self,
        body: ResultBody,
        read: fn(ResultBody) -> Option<T>,
    ) -> Result<T, Error> {
        read(body).ok_or_else(|| self.failed(Kind::OtherResult))
    }

    /// Has the handlers of the client answer, on this task.
    async fn fulfil(&mut self, round: &InputRound) -> Result<(), Error> {
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
        let (over, closed) = (pin!(self.visiting.wait()), pin!(inner.closing.closed()));
        let over = unless(&mut self.options.cancel, select(over, closed)).await;
        over.map(drop).ok_or_else(|| self.failed(Kind::Cancelled))
    }

    /// Takes the answers along with the next request.
    pub(crate) fn answer(
        &mut self,
        round: &InputRound,
        answers: &BTreeMap<String, InputResponse>,
    ) -> Result<(), Error> {
        let input = round.respond(answers);
        let input = input.map_err(|error| self.failed(InputError::from(error)))?;
        if self.visiting.is_open() {
            // What goes along with the next request is nothing: the server knows.
            return visiting::check(round, answers).map_err(|error| self.failed(error));
        }
        self.input = Some(input);
        Ok(())
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
