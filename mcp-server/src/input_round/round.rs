//! One run of a handler.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

use mcp_core::close_signal::CloseSignal;
use mcp_core::{
    BackChannel, BackChannelError, BoxFuture, ClientContext, Exchange, Fault, Input, InputState,
    MessageSink, Reply, ServerNotification, TaskChannel,
};
use mcp_types::{
    ElicitParams, ElicitationComplete, InputRequest, InputRequests, InputRequired, InputResponse,
    RawObject,
};
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};

use super::capabilities;
use super::error::AskError;
use super::recorded::RecordedAnswers;
use crate::elicitation_id;
use crate::request_state::{Binding, SealError, Sealer, StateKeys};

/// Limit on the number of questions per call.
const MAX_QUESTIONS: usize = 100;

/// Name of a question or of a result within one call.
pub(crate) type InputKey = Cow<'static, str>;

/// Key for the value of `Ask::keep` in error messages.
const KEEP: InputKey = Cow::Borrowed("keep");

/// The binding of a request. It is computed for the first state: a digest of all arguments costs more than most calls,
/// and most calls have no state.
type LazyBinding = LazyLock<Binding, Box<dyn FnOnce() -> Binding + Send>>;

/// One run of a handler that asks its client.
pub(crate) struct InputRound {
    facts: Arc<ClientContext>,
    mode: InputMode,
    call_closed: CloseSignal,
    inputs: Mutex<PendingInputs>,
}

/// Route of questions to the client.
enum InputMode {
    /// The reply contains the questions, and the handler runs again with the answers (2026-07-28).
    Reply {
        binding: LazyBinding,
        sealer: Arc<Sealer>,
        /// The task that the call may become. A task asks while the handler waits.
        task: Option<Arc<dyn TaskChannel>>,
    },
    /// The session sends each question while the handler waits.
    Live {
        channel: Arc<dyn BackChannel>,
        sink: Arc<dyn MessageSink>,
    },
}

/// The state of a run: questions and answers so far.
#[derive(Default)]
struct PendingInputs {
    recorded: RecordedAnswers,
    /// Answers in this request, by key.
    received: BTreeMap<String, Box<RawValue>>,
    /// Keys of questions that the previous run asked.
    previously_asked: BTreeSet<String>,
    /// An earlier run asked, and recorded no result of `Ask::once` or `Ask::keep`.
    repeats_unrecorded_run: bool,
    /// Ids of elicitations with a URL, by key.
    elicitation_ids: BTreeMap<String, String>,
    /// Keys of `Ask::once` in this run.
    once_keys: BTreeSet<String>,
    /// Questions for the reply.
    open: InputRequests,
    /// Wakers of the open questions of a call that may become a task.
    open_wakers: BTreeMap<String, Waker>,
    /// Number of unfinished `Ask::once` futures.
    unfinished_work: usize,
    /// Threads that poll the future of an `Ask::once`. A question beside the work (`join!(ask, once)`) is
    /// allowed, so the number of unfinished works does not tell.
    polling_work: Vec<ThreadId>,
    /// Waker of the handler's task.
    waker: Option<Waker>,
}

/// Status of a question after [`InputRound::ask`].
pub(crate) enum InputStatus {
    Answered(InputResponse),
    /// The reply will contain the question.
    Open,
    /// The session sends the question.
    Sent(BoxFuture<'static, Result<InputResponse, BackChannelError>>),
}

impl InputRound {
    /// Starts a run for a call. Returns `None` when the client cannot be asked.
    ///
    /// # Errors
    ///
    /// Returns the [`Fault`] for a client that sent an invalid state or malformed answers.
    // spec: MRTR-07, MRTR-08, MRTR-16
    pub(crate) fn start(
        exchange: &Exchange,
        sealer: &Arc<Sealer>,
        call_closed: CloseSignal,
    ) -> Result<Option<Arc<Self>>, Fault> {
        let (mode, inputs) = match &exchange.input {
            Input::Recorded(input) => Self::replying(exchange, input.as_deref(), sealer, None)?,
            // spec: TASK-10
            Input::Task { recorded, channel } => {
                let task = Some(channel.clone());
                Self::replying(exchange, recorded.as_deref(), sealer, task)?
            }
            Input::Live { channel, sink } => {
                let (channel, sink) = (channel.clone(), sink.clone());
                (InputMode::Live { channel, sink }, PendingInputs::default())
            }
            _ => return Ok(None),
        };
        Ok(Some(Arc::new(Self {
            facts: exchange.facts.clone(),
            mode,
            call_closed,
            inputs: Mutex::new(inputs),
        })))
    }

    fn replying(
        exchange: &Exchange,
        input: Option<&InputState>,
        sealer: &Arc<Sealer>,
        task: Option<Arc<dyn TaskChannel>>,
    ) -> Result<(InputMode, PendingInputs), Fault> {
        let (call, principal) = (exchange.call.clone(), exchange.principal().cloned());
        let endpoint = sealer.endpoint(exchange.extensions.get());
        let binding: LazyBinding = LazyLock::new(Box::new(move || {
            let binding = Binding::new(&call, principal.as_ref());
            match endpoint {
                Some(endpoint) => binding.at_endpoint(endpoint),
                None => binding,
            }
        }));
        let inputs = PendingInputs::restore(input, &binding, sealer)?;
        let mode = InputMode::Reply {
            binding,
            sealer: sealer.clone(),
            task,
        };
        Ok((mode, inputs))
    }

    /// Returns the task that the call has become.
    fn task(&self) -> Option<&Arc<dyn TaskChannel>> {
        match &self.mode {
            InputMode::Reply { task, .. } => task.as_ref().filter(|task| task.is_task()),
            InputMode::Live { .. } => None,
        }
    }

    /// Returns the time for which a state of this call is valid.
    pub(crate) fn state_lifetime(&self) -> Duration {
        match &self.mode {
            InputMode::Reply { sealer, .. } => sealer.lifetime(),
            InputMode::Live { .. } => StateKeys::LIFETIME,
        }
    }

    pub(crate) fn facts(&self) -> &ClientContext {
        &self.facts
    }

    /// The signal that the call was answered or cancelled.
    pub(crate) fn call_closed(&self) -> &CloseSignal {
        &self.call_closed
    }

    /// Looks up the answer to a question, or sends the question.
    pub(crate) fn ask(
        &self,
        key: &InputKey,
        request: &InputRequest,
    ) -> Result<InputStatus, AskError> {
        if self.call_closed.is_closed() {
            return Err(AskError::Closed);
        }
        let mut inputs = self.inputs.lock();
        if inputs.polling_work.contains(&thread::current().id()) {
            return Err(AskError::InvalidQuestion {
                key: key.clone(),
                reason: "what `Ask::once` runs cannot ask; ask before or after it".to_owned(),
            });
        }
        capabilities::check_request(request, &self.facts)?;
        if inputs.recorded.asked.len() == MAX_QUESTIONS {
            return Err(AskError::InvalidQuestion {
                key: key.clone(),
                reason: format!("a call asks {MAX_QUESTIONS} questions at most"),
            });
        }
        // spec: MRTR-04, TASK-14
        if !inputs.recorded.asked.insert(key.to_string()) {
            return Err(AskError::KeyReused { key: key.clone() });
        }
        match &self.mode {
            InputMode::Live { channel, sink } => {
                let mut request = request.clone();
                if let InputRequest::Elicit(params) = &mut request
                    && let ElicitParams::Url(url) = &mut **params
                {
                    // An id that a gateway passes on is unique for another server only.
                    url.elicitation_id = inputs.elicitation_id(key, channel.topic().as_deref());
                }
                let answer = channel.clone().ask(request, sink.clone());
                Ok(InputStatus::Sent(answer))
            }
            InputMode::Reply { .. } => {
                if let Some(answer) = inputs.find_answer(key, request)? {
                    return Ok(InputStatus::Answered(answer));
                }
                if let Some(task) = self.task() {
                    let answer = task.clone().ask(key, request.clone());
                    return Ok(InputStatus::Sent(answer));
                }
                inputs.open.insert(key.to_string(), request.clone());
                inputs.wake_handler();
                Ok(InputStatus::Open)
            }
        }
    }

    /// Returns the elicitation `key`'s id, for `ask` or a fault.
    // spec: ELIC-10
    pub(crate) fn elicitation_id(&self, key: &str) -> Option<String> {
        let topic = match &self.mode {
            InputMode::Live { channel, .. } => channel.topic(),
            InputMode::Reply { .. } => None,
        };
        self.inputs.lock().elicitation_id(key, topic.as_deref())
    }

    /// Sends the client the notification that the user has finished at the question `key`'s URL. Returns false
    /// if the revision does not have it, if no such question was sent, or if the client is gone.
    // spec: ELIC-10
    pub(crate) fn send_elicitation_complete(&self, key: &str) -> bool {
        let InputMode::Live { sink, .. } = &self.mode else {
            return false;
        };
        let Some(id) = self.inputs.lock().elicitation_ids.remove(key) else {
            return false;
        };
        let complete = ServerNotification::ElicitationComplete(ElicitationComplete::from(id));
        let message = complete.encode(self.facts.version);
        message.is_some_and(|message| sink.send(message.into()))
    }

    /// Sends an open question through the task, if the call has become one since the question was
    /// asked. Else the task will wake `cx`.
    pub(crate) fn poll_open(
        &self,
        key: &InputKey,
        request: &InputRequest,
        cx: &Context<'_>,
    ) -> Option<BoxFuture<'static, Result<InputResponse, BackChannelError>>> {
        let InputMode::Reply {
            task: Some(task), ..
        } = &self.mode
        else {
            return None;
        };
        let mut inputs = self.inputs.lock();
        if !task.is_task() {
            let waker = cx.waker().clone();
            inputs.open_wakers.insert(key.to_string(), waker);
            return None;
        }
        inputs.open_wakers.remove(&**key);
        inputs.open.remove(&**key)?;
        Some(task.clone().ask(key, request.clone()))
    }

    /// Returns the error for an answer that does not fit its question. In a session the answer was a
    /// message of its own, and the call that asked is not malformed.
    // spec: MRTR-14, ELIC-13
    pub(crate) fn invalid_answer(&self, key: &InputKey, reason: String) -> AskError {
        match self.mode {
            InputMode::Reply { .. } => AskError::InvalidAnswer {
                key: key.clone(),
                reason,
            },
            InputMode::Live { .. } => {
                BackChannelError::Malformed(format!("`{key}`: {reason}")).into()
            }
        }
    }

    /// Records the received answer of a question if it is valid, else discards it.
    pub(crate) fn finish_question(&self, key: &InputKey, is_valid: bool) {
        let mut inputs = self.inputs.lock();
        if let (Some(answer), true) = (inputs.received.remove(&**key), is_valid) {
            let answers = &mut inputs.recorded.answers;
            answers.entry(key.to_string()).or_insert(answer);
        }
    }

    /// Removes a question whose future was dropped.
    pub(crate) fn remove_question(&self, key: &InputKey) {
        let mut inputs = self.inputs.lock();
        inputs.open.remove(&**key);
        inputs.open_wakers.remove(&**key);
    }

    /// Returns the result that an earlier run recorded under `key`. Each run may use a key once.
    pub(crate) fn recorded_result<T: DeserializeOwned>(
        &self,
        key: &InputKey,
    ) -> Result<Option<T>, AskError> {
        if self.call_closed.is_closed() {
            return Err(AskError::Closed);
        }
        let mut inputs = self.inputs.lock();
        if !inputs.once_keys.insert(key.clone().into_owned()) {
            return Err(AskError::KeyReused { key: key.clone() });
        }
        decode(key, inputs.recorded.results.get(&**key).map(|raw| &**raw))
    }

    /// Delays the reply until the returned guard is dropped, although questions may be open.
    pub(crate) fn start_work(self: &Arc<Self>) -> WorkGuard {
        self.inputs.lock().unfinished_work += 1;
        WorkGuard(self.clone())
    }

    /// Polls the work of an `Ask::once`. Questions from inside the poll are errors: the question
    /// would wait for the work, and the work for the question.
    pub(crate) fn poll_work<T>(&self, poll: impl FnOnce() -> T) -> T {
        let thread = thread::current().id();
        self.inputs.lock().polling_work.push(thread);
        let _guard = PollGuard {
            round: self,
            thread,
        };
        poll()
    }

    pub(crate) fn record_result<T: Serialize>(
        &self,
        key: &InputKey,
        result: &T,
    ) -> Result<(), AskError> {
        let raw = self.encode(key, result)?;
        let mut inputs = self.inputs.lock();
        inputs.recorded.results.insert(key.to_string(), raw);
        Ok(())
    }

    pub(crate) fn keep<T: Serialize>(&self, value: &T) -> Result<(), AskError> {
        let raw = self.encode(&KEEP, value)?;
        self.inputs.lock().recorded.kept = Some(raw);
        Ok(())
    }

    pub(crate) fn kept<T: DeserializeOwned>(&self) -> Result<Option<T>, AskError> {
        decode(&KEEP, self.inputs.lock().recorded.kept.as_deref())
    }

    fn encode<T: Serialize>(&self, key: &InputKey, value: &T) -> Result<Box<RawValue>, AskError> {
        let unkeepable = |reason| AskError::NotSerializable {
            key: key.clone(),
            reason,
        };
        let raw = to_raw_value(value).map_err(|error| unkeepable(error.to_string()))?;
        let most = match &self.mode {
            InputMode::Reply { sealer, .. } => sealer.size_limit(),
            InputMode::Live { .. } => StateKeys::MAX_BYTES,
        };
        let bytes = raw.get().len();
        if bytes > most {
            let error = SealError::TooLarge { bytes, most };
            return Err(unkeepable(error.to_string()));
        }
        Ok(raw)
    }

    /// Stores the waker of the handler's task, before the handler is polled.
    pub(crate) fn set_waker(&self, cx: &Context<'_>) {
        match &mut self.inputs.lock().waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
    }

    /// Returns the reply with the open questions, after the handler returned `Pending`. Returns
    /// `None` while there is no open question or while work of `Ask::once` is unfinished.
    ///
    /// Other futures that the handler awaits are dropped with it and start again in the next run.
    pub(crate) fn take_reply(&self) -> Option<Reply> {
        let mut inputs = self.inputs.lock();
        if self.task().is_some() {
            let open = std::mem::take(&mut inputs.open_wakers);
            open.into_values().for_each(Waker::wake);
            return None;
        }
        if inputs.open.is_empty() || inputs.unfinished_work > 0 {
            return None;
        }
        let open = std::mem::take(&mut inputs.open);
        inputs.record_unused_answers();
        let required = self.input_required(&open, &inputs.recorded);
        Some(required.map_or_else(Reply::Fault, Reply::InputRequired))
    }

    fn input_required(
        &self,
        open: &InputRequests,
        recorded: &RecordedAnswers,
    ) -> Result<InputRequired, Fault> {
        // Questions stay open only in this mode.
        let InputMode::Reply {
            binding, sealer, ..
        } = &self.mode
        else {
            return Err(Fault::internal("this call asks by its session"));
        };
        let state = recorded.seal(binding, sealer)?;
        let required = InputRequired::new(open);
        let mut required = required.map_err(|error| Fault::internal(error.to_string()))?;
        // spec: MRTR-03
        required.request_state = Some(state);
        Ok(required)
    }

    /// Warns in debug builds when the finished run did not repeat a question of the previous run:
    /// the user answered in vain, and the handler depends on something that changes between runs.
    pub(crate) fn warn_about_dropped_questions(&self, handler: &str) {
        if !cfg!(debug_assertions) {
            return;
        }
        let inputs = self.inputs.lock();
        let asked = &inputs.recorded.asked;
        let dropped: Vec<_> = inputs.previously_asked.difference(asked).collect();
        if !dropped.is_empty() && inputs.recorded.kept.is_none() {
            tracing::warn!(
                handler,
                ?dropped,
                "the handler did not repeat questions of its previous run; compute values that \
                 change between runs in `Ask::once`"
            );
        }
    }

    /// Warns in debug builds when a handler with effects was run again although no earlier run recorded
    /// work: side effects before the question happened twice.
    pub(crate) fn warn_about_repeated_effects(&self, handler: &str) {
        if cfg!(debug_assertions) && self.inputs.lock().repeats_unrecorded_run {
            tracing::warn!(
                handler,
                "the handler ran again from its beginning with the answer of the client; put side \
                 effects before a question into `Ask::once`, or mark the tool `read_only` or \
                 `idempotent`"
            );
        }
    }
}

impl PendingInputs {
    fn restore(
        input: Option<&InputState>,
        binding: &LazyBinding,
        sealer: &Sealer,
    ) -> Result<Self, Fault> {
        let Some(input) = input else {
            return Ok(Self::default());
        };
        let mut recorded = match &input.state {
            Some(state) => RecordedAnswers::unseal(state, binding, sealer)?,
            None => RecordedAnswers::default(),
        };
        let previously_asked = std::mem::take(&mut recorded.asked);
        // spec: MRTR-14, MRTR-15
        let received = input.responses.as_ref().map(RawObject::parse).transpose();
        let malformed = |error| Fault::bad_params(format!("`params.inputResponses`: {error}"));
        let mut received: BTreeMap<_, _> = received.map_err(malformed)?.unwrap_or_default();
        // An answer counts only with its question's state. Others are ignored, and the question
        // is asked again.
        if input.state.is_some() || !sealer.accepts_unsolicited_answers() {
            // spec: MRTR-06
            received.retain(|key, _| previously_asked.contains(key));
        }
        let has_results = !recorded.results.is_empty() || recorded.kept.is_some();
        Ok(Self {
            repeats_unrecorded_run: !previously_asked.is_empty() && !has_results,
            previously_asked,
            recorded,
            received,
            ..Self::default()
        })
    }

    /// Returns the id of an elicitation with a URL; creates it at the first use.
    fn elicitation_id(&mut self, key: &str, topic: Option<&str>) -> Option<String> {
        if let Some(id) = self.elicitation_ids.get(key) {
            return Some(id.clone());
        }
        let id = elicitation_id::random(topic)?;
        self.elicitation_ids.insert(key.to_owned(), id.clone());
        Some(id)
    }

    /// Returns the client's answer. A recorded answer takes precedence over one in this request, so
    /// the first answer counts.
    // spec: MRTR-14, MRTR-15, MRTR-17
    fn find_answer(
        &self,
        key: &InputKey,
        request: &InputRequest,
    ) -> Result<Option<InputResponse>, AskError> {
        let recorded = self.recorded.answers.get(&**key);
        let Some(raw) = recorded.or_else(|| self.received.get(&**key)) else {
            return Ok(None);
        };
        let invalid = |reason| AskError::InvalidAnswer {
            key: key.clone(),
            reason,
        };
        let answer = RawObject::from_value(raw).map_err(|error| invalid(error.to_string()))?;
        let answer = request.read(&answer);
        answer.map(Some).map_err(|error| invalid(error.to_string()))
    }

    /// Records received answers to questions that this run has not reached, so that the user is not
    /// asked again.
    fn record_unused_answers(&mut self) {
        for key in &self.previously_asked {
            if let Some(raw) = self.received.remove(key) {
                let answers = &mut self.recorded.answers;
                answers.entry(key.clone()).or_insert(raw);
            }
        }
    }

    fn wake_handler(&self) {
        self.waker.iter().for_each(Waker::wake_by_ref);
    }
}

fn decode<T: DeserializeOwned>(
    key: &InputKey,
    raw: Option<&RawValue>,
) -> Result<Option<T>, AskError> {
    let decoded = raw.map(|raw| serde_json::from_str(raw.get()));
    decoded.transpose().map_err(|error| AskError::Malformed {
        key: key.clone(),
        reason: error.to_string(),
    })
}

/// Guard of unfinished work; see [`InputRound::start_work`].
pub(crate) struct WorkGuard(Arc<InputRound>);

impl Drop for WorkGuard {
    fn drop(&mut self) {
        let mut inputs = self.0.inputs.lock();
        inputs.unfinished_work -= 1;
        // The work may have run on another task while questions waited for it.
        inputs.wake_handler();
    }
}

/// Guard while work is polled; see [`InputRound::poll_work`].
struct PollGuard<'a> {
    round: &'a InputRound,
    thread: ThreadId,
}

impl Drop for PollGuard<'_> {
    fn drop(&mut self) {
        let polling = &mut self.round.inputs.lock().polling_work;
        if let Some(index) = polling.iter().rposition(|thread| *thread == self.thread) {
            polling.swap_remove(index);
        }
    }
}

impl fmt::Debug for InputRound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inputs = self.inputs.lock();
        f.debug_struct("InputRound")
            .field("asked", &inputs.recorded.asked)
            .field("open", &inputs.open.keys())
            .finish_non_exhaustive()
    }
}
