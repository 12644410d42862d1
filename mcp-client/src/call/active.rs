//! The path of every call: requests are sent one after the other, until the server has received all
//! input that it requires and returns the result.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `retry` | repetitions of a request |
//! | `recovery` | failures from which a call recovers |
//! | `input` | rounds of input |
//! | `polls` | polls of a task |

mod input;
mod polls;
mod recovery;
mod retry;

use std::future::Future;
use std::pin::{Pin, pin};

use futures_util::future::{Either, select};
use http::{HeaderMap, StatusCode};
use mcp_core::{
    BoxFuture, ChannelError, ClientRequest, Fault, Frame, InputState, Reply, ResultBody,
};
use mcp_types::ext::tasks::{RESULT_TYPE, Task};
use mcp_types::{CacheHint, ProtocolVersion, RawObject, codes};

use crate::client::{Attempt, Client, ReceivedReply};
use crate::error::{Error, ErrorKind};
use crate::inputs::{InputRound, Mrtr, RequiredUrls, required_urls};
use crate::options::{CallId, CallOptions, CallTimer};
use crate::results::CacheSlot;
use crate::session;
pub(crate) use polls::{TaskPolls, cancel as cancel_task, get as get_task, task_request};
use retry::{RetryState, permitted};

/// Makes a call and waits for its result. Dropping the future cancels the call.
pub(crate) async fn run(
    client: &Client,
    request: ClientRequest,
    options: CallOptions<'_>,
) -> Result<ResultBody, Error> {
    ActiveCall::start(client, request, options).finish().await
}

/// A call in progress. It sends one request, or several when the server requires input or a request
/// is repeated.
pub(crate) struct ActiveCall<'a> {
    client: Client,
    pub(crate) request: ClientRequest,
    options: CallOptions<'a>,
    timer: CallTimer,
    version: ProtocolVersion,
    /// The number of the session that the latest request was sent in.
    session: u64,
    retry: RetryState,
    /// The server may have executed one of the requests so far.
    may_have_run: bool,
    mrtr: Mrtr,
    /// The input for the next request.
    input: Option<InputState>,
    required_urls: RequiredUrls,
    /// The length of the last response.
    pub(crate) response_bytes: usize,
}

/// The conversion of a result's body. Returns [`ErrorKind::WrongResult`] for the result of another
/// method.
pub(crate) type Reader<T> = fn(ResultBody) -> Result<T, ErrorKind>;

/// Reads the result of one method.
macro_rules! result_of {
    ($variant:ident) => {
        |body| match body {
            mcp_core::ResultBody::$variant(result) => Ok(result),
            _ => Err(crate::error::ErrorKind::WrongResult),
        }
    };
}
pub(crate) use result_of;

/// The outcome of one request: a [`Step`](crate::Step) whose result is not read yet.
pub(crate) enum CallStep {
    Done(ResultBody),
    InputRequired(InputRound),
    Extended {
        result_type: Box<str>,
        body: RawObject,
    },
}

impl<'a> ActiveCall<'a> {
    pub(crate) fn start(client: &Client, request: ClientRequest, options: CallOptions<'a>) -> Self {
        let timeouts = client.inner.timeouts;
        let timer = CallTimer::start(timeouts, options.idle_timeout, options.total_timeout);
        Self::with_timer(client, request, options, timer)
    }

    /// Starts a call with an earlier call's remaining time.
    pub(crate) fn with_timer(
        client: &Client,
        request: ClientRequest,
        options: CallOptions<'a>,
        timer: CallTimer,
    ) -> Self {
        let inner = &client.inner;
        Self {
            client: client.clone(),
            request,
            timer,
            options,
            version: inner.version(),
            session: 0,
            retry: RetryState::default(),
            may_have_run: false,
            mrtr: Mrtr::new(inner.max_input_rounds),
            input: None,
            required_urls: RequiredUrls::default(),
            response_bytes: 0,
        }
    }

    /// Returns the options and the paused timer for a further call.
    pub(crate) fn into_options_and_timer(mut self) -> (CallOptions<'a>, CallTimer) {
        self.timer.pause();
        (self.options, self.timer)
    }

    /// Returns the client, the request and the headers of the call.
    pub(crate) fn into_origin(self) -> (Client, ClientRequest, HeaderMap) {
        (self.client, self.request, self.options.headers)
    }

    /// Builds an error of this call.
    pub(crate) fn error(&self, kind: impl Into<ErrorKind>) -> Error {
        let mut kind = kind.into();
        if kind.is_timeout()
            && let Some(line) = self.client.inner.channel.unread_line()
        {
            let cause = Box::new(kind);
            kind = ErrorKind::UnreadLine { cause, line };
        }
        if self.may_have_run {
            let note = self.execution_note(&kind);
            let cause = Box::new(kind);
            kind = ErrorKind::MayHaveRun { cause, note };
        }
        Error::in_call(&self.client.inner.channel.peer(), &self.request, kind)
    }

    /// Returns the end of an error message that leaves open whether the call was executed. Nobody
    /// asks that of a call that may run twice.
    fn execution_note(&self, kind: &ErrorKind) -> &'static str {
        if !kind.is_unanswered() || self.is_idempotent() {
            ""
        } else if kind.is_interrupted() && self.input.is_none() {
            "; the server may have executed the call, so it was not repeated (allow that with `idempotent`)"
        } else {
            "; the server may have executed the call"
        }
    }

    /// Makes the call. The handlers of the client answer input requests, and a task is followed to its
    /// end.
    pub(crate) async fn finish(&mut self) -> Result<ResultBody, Error> {
        match self.run_until_task().await? {
            Either::Left(body) => Ok(body),
            // Boxed so that tasks do not enlarge every call future.
            Either::Right(task) => Box::pin(self.follow_or_cancel(&task)).await,
        }
    }

    /// Makes the call until it returns or becomes a task.
    pub(crate) async fn run_until_task(&mut self) -> Result<Either<ResultBody, Task>, Error> {
        loop {
            match self.step().await? {
                CallStep::Done(body) => return Ok(Either::Left(body)),
                // Boxed so that input rounds do not enlarge every call future.
                CallStep::InputRequired(round) => Box::pin(self.run_handlers(&round)).await?,
                // spec: TASK-05
                CallStep::Extended { result_type, body }
                    if *result_type == *RESULT_TYPE && self.client.declares_tasks() =>
                {
                    let task = body.parse();
                    return task
                        .map(Either::Right)
                        .map_err(|error| self.error(ErrorKind::MalformedTask(error.to_string())));
                }
                CallStep::Extended { result_type, .. } => {
                    return Err(self.error(ErrorKind::UnknownResultType(result_type)));
                }
            }
        }
    }

    /// Sends the next request, unless the caller cancels the call.
    pub(crate) async fn step(&mut self) -> Result<CallStep, Error> {
        let mut cancel = self.options.cancel.take();
        let step = unless_cancelled(&mut cancel, pin!(self.send_until_step())).await;
        self.options.cancel = cancel;
        step.unwrap_or_else(|| Err(self.error(ErrorKind::Cancelled)))
    }

    /// Sends the request, and repeats it after recoverable failures: an unsupported version, missing
    /// headers, an expired session, or a lost connection of an idempotent call.
    async fn send_until_step(&mut self) -> Result<CallStep, Error> {
        self.timer.resume();
        self.required_urls.clear();
        let slot = self.cache_slot();
        if let Some(body) = self.read_cache(slot.as_ref()) {
            return self.done(body).map(CallStep::Done);
        }
        loop {
            let Some(received) = self.attempt_or_recover().await? else {
                continue;
            };
            let ReceivedReply { reply, frame, .. } = received;
            match reply {
                Reply::Complete { body, cache } => {
                    self.accept_result(&body, cache, slot.as_ref(), frame.message.len());
                    return self.done(body).map(CallStep::Done);
                }
                Reply::Fault(fault) if self.recovers_from(&fault).await => {}
                // The server was not ready.
                Reply::Fault(_)
                    if frame.status == Some(StatusCode::SERVICE_UNAVAILABLE)
                        && self.repeats_after_break() =>
                {
                    let waited = self.retry.wait(&self.timer, frame.retry_after).await;
                    waited.map_err(|kind| self.error(kind))?;
                }
                Reply::Fault(fault) => {
                    let is_unexplained = matches!(
                        &fault,
                        Fault::Protocol(error) if error.code == codes::INTERNAL_ERROR
                    );
                    let step = self.fault_step(fault, frame);
                    let step = step.map_err(|kind| self.error(kind));
                    return match step {
                        Err(error) if is_unexplained => Err(self.with_stderr(error).await),
                        step => step,
                    };
                }
                reply => {
                    let step = self.other_step(reply);
                    return step.map_err(|kind| self.error(kind));
                }
            }
        }
    }

    /// Returns the cached result, unless the caller wants a fresh one.
    fn read_cache(&mut self, slot: Option<&CacheSlot>) -> Option<ResultBody> {
        let slot = slot.filter(|_| !self.options.fresh)?;
        let (body, bytes) = slot.get()?;
        self.response_bytes = bytes;
        Some(body)
    }

    /// Sends the request once. Returns `None` after a connection failure from which the call
    /// has recovered, so that the request can be sent again.
    async fn attempt_or_recover(&mut self) -> Result<Option<ReceivedReply>, Error> {
        let was_open = self.client.inner.closing.reason().is_none();
        let ran_before = self.may_have_run;
        // While the request runs: a caller that cancels the call drops this future.
        self.may_have_run = true;
        let attempted = self.attempt().await;
        let may_have_run = match &attempted {
            Ok(received) => received.may_have_run(),
            Err(kind) => was_open && kind.may_have_run(),
        };
        self.may_have_run = ran_before || may_have_run;
        let kind = match attempted {
            Ok(received) => return Ok(Some(received)),
            Err(kind) => kind,
        };
        if was_open && kind.is_remote_close() {
            // Later calls fail at once.
            if let ErrorKind::Channel(ChannelError::Closed(reason)) = &kind {
                self.client.inner.closing.close(reason.clone());
            }
            return Err(self.error(kind));
        }
        // Any call can be sent again if it was not sent.
        let is_repeated = (kind.is_refused_connection() && self.retry.may_repeat())
            || (kind.is_interrupted() && self.repeats_after_break());
        if is_repeated {
            let waited = self.retry.wait(&self.timer, kind.retry_after()).await;
            waited.map_err(|kind| self.error(kind))?;
            return Ok(None);
        }
        let is_expired = matches!(kind, ErrorKind::Channel(ChannelError::SessionExpired));
        if is_expired && permitted(&mut self.retry.session_renewed) {
            let version = self.client.inner.version();
            // Boxed so that session renewal does not enlarge every call future.
            let renewed = Box::pin(session::open(&self.client, self.session, version)).await;
            renewed.map_err(|kind| self.error(kind))?;
            self.version = self.client.inner.version();
            return Ok(None);
        }
        Err(self.error(kind))
    }

    /// Records the version that the server has accepted, the length of the response, and the result
    /// in the cache.
    fn accept_result(
        &mut self,
        body: &ResultBody,
        cache: Option<CacheHint>,
        slot: Option<&CacheSlot>,
        bytes: usize,
    ) {
        if self.retry.version_switched {
            let version = self.version;
            let inner = &self.client.inner;
            inner.update_state(|state| state.version = version);
        }
        self.response_bytes = bytes;
        if let (Some(slot), Some(hint)) = (slot, cache) {
            slot.put(body, hint, bytes);
        }
    }

    /// Converts a fault: URLs that the user has to visit are a round of input, all others are errors.
    fn fault_step(&mut self, fault: Fault, frame: Frame) -> Result<CallStep, ErrorKind> {
        if let Fault::UrlElicitationRequired { elicitations } = &fault
            && self.accepts_required_urls(elicitations)
        {
            let required = required_urls::to_input_required(elicitations);
            let required = required.map_err(ErrorKind::Arguments)?;
            return Ok(self.start_input_round(required)?);
        }
        self.invalidate_pages(&fault);
        let versions = &self.client.inner.versions;
        Err(ErrorKind::from_fault(fault, frame, versions))
    }

    /// Adds the end of the server's standard error, which often has an internal error's cause.
    fn with_stderr(&self, error: Error) -> BoxFuture<'static, Error> {
        let stderr = self.client.inner.channel.stderr();
        Box::pin(async move {
            match stderr.await {
                Some(stderr) => error.with_stderr_tail(stderr),
                None => error,
            }
        })
    }

    /// Converts a reply that is neither a result nor a fault.
    fn other_step(&mut self, reply: Reply) -> Result<CallStep, ErrorKind> {
        match reply {
            Reply::InputRequired(required) => Ok(self.start_input_round(required)?),
            Reply::Extended { result_type, body } => Ok(CallStep::Extended { result_type, body }),
            _ => Err(ErrorKind::WrongResult),
        }
    }

    /// Sends the request once.
    async fn attempt(&mut self) -> Result<ReceivedReply, ErrorKind> {
        self.session = self.client.inner.session_number();
        let layers = &self.client.inner.layers;
        let number = self.options.id.as_mut().and_then(CallId::take_number);
        let attempt = Attempt {
            client: &self.client,
            request: &self.request,
            version: self.version,
            options: &mut self.options,
            timer: &mut self.timer,
            input: self.input.as_ref(),
            notifications: None,
            number: number.unwrap_or_else(|| self.client.inner.next_id()),
        };
        match &self.request {
            // Boxed so that layers do not enlarge every call future.
            ClientRequest::Call(call) if !layers.is_empty() => {
                Box::pin(attempt.run_layered(call, layers)).await
            }
            _ => attempt.run().await,
        }
    }

    /// Records the result in the tool index and returns it, unless it violates an output schema.
    fn done(&self, body: ResultBody) -> Result<ResultBody, Error> {
        let inner = &self.client.inner;
        let mirrors = inner.mirrors_arguments(inner.version());
        let body = inner
            .tools
            .process_result(&self.request, body, mirrors, &inner.omissions);
        body.map_err(|violation| self.error(ErrorKind::OutputSchema(violation)))
    }

    /// Returns the place of the response in the cache. A call with input has none.
    // spec: CACHE-04
    fn cache_slot(&self) -> Option<CacheSlot> {
        let method = self.request.method()?;
        if self.input.is_some() || !method.spec().cacheable {
            return None;
        }
        let inner = &self.client.inner;
        let meta = inner.request_meta(self.options.meta.as_ref());
        let part = self.options.cache_key_part(meta.as_deref());
        let server = inner.identity;
        inner
            .cache
            .slot(server, &inner.principal, &self.request, &part)
    }

    /// Forgets the cached pages of a list when the server refuses a cursor: the list has changed.
    // spec: CACHE-10
    fn invalidate_pages(&self, fault: &Fault) {
        let is_refused = match fault {
            Fault::BadParams { .. } => true,
            Fault::Protocol(error) => error.code == codes::INVALID_PARAMS,
            _ => false,
        };
        if let Some(method) = self.request.method().filter(|_| is_refused) {
            let inner = &self.client.inner;
            inner.cache.forget_list(inner.identity, method);
        }
    }

    /// Converts the result of the call.
    pub(crate) fn read<T>(&self, body: ResultBody, read: Reader<T>) -> Result<T, Error> {
        read(body).map_err(|kind| self.error(kind))
    }
}

/// Awaits `work`. Returns `None` when the caller cancels it first. `work` is pinned, because an
/// argument is stored twice in a function's future.
async fn unless_cancelled<T>(
    cancel: &mut Option<BoxFuture<'_, ()>>,
    work: Pin<&mut impl Future<Output = T>>,
) -> Option<T> {
    let Some(cancel) = cancel else {
        return Some(work.await);
    };
    match select(cancel, work).await {
        Either::Left(_) => None,
        Either::Right((done, _)) => Some(done),
    }
}
