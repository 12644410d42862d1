//! One run of a handler that asks: the answers that there are, and the questions that are open.
//!
//! In the modern era a handler runs again with every answer, from its beginning. What it has learnt
//! before travels through the client as a sealed [`Memory`]. In a session it runs once, and each
//! question goes to the client at once.
//!
//! A program that asks nothing does not compile any of it: rounds, `ask` and `request_state` are
//! `#[inline]`, which leaves them to the crate that names `Ask`. They would be a fifth of this one.

mod error;
mod needs;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Waker};

use mcp_core::close_signal::CloseSignal;
use mcp_core::{
    BackChannel, BackChannelError, BoxFuture, ClientFacts, Exchange, Fault, Input, InputState,
    Reply,
};
use mcp_types::{InputRequest, InputRequests, InputRequired, InputResponse, RawObject};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::request_state::{Binding, SealError, StateKeys};
pub use error::AskError;
use error::{start_again, unsealed};
pub(crate) use needs::compare;

/// Questions that one call may ask: more than anybody answers.
const MAX_QUESTIONS: usize = 100;

pub(crate) type Key = Cow<'static, str>;

/// One run of a handler that asks.
pub(crate) struct Round {
    facts: Arc<ClientFacts>,
    way: Way,
    over: CloseSignal,
    board: Mutex<Board>,
}

enum Way {
    /// By the reply; the handler runs again.
    Reply {
        binding: Binding,
        keys: Option<Arc<StateKeys>>,
    },
    /// At once, while the handler waits.
    Channel(Arc<dyn BackChannel>),
}

/// What the handler does.
#[derive(Default)]
struct Board {
    memory: Memory,
    /// Answers that the client has sent along this time.
    sent: BTreeMap<String, Box<RawValue>>,
    /// Keys of questions in the round before.
    before: BTreeSet<String>,
    /// Keys of pieces of work in this run.
    works: BTreeSet<String>,
    open: InputRequests,
    /// Pieces of work that run now.
    at_work: usize,
    /// Who polls the handler.
    caller: Option<Waker>,
}

/// What travels through the client.
#[derive(Default, Serialize, Deserialize)]
struct Memory {
    /// Keys of questions that were asked.
    asked: BTreeSet<String>,
    answers: BTreeMap<String, Box<RawValue>>,
    /// Results of work that is done.
    done: BTreeMap<String, Box<RawValue>>,
    kept: Option<Box<RawValue>>,
}

/// A round, as it is seen by what stands around a handler. It is begun by what `Ask` names, and by nothing
/// else: the program of a server that never asks has no code of rounds.
pub(crate) trait AnyRound: fmt::Debug + Send + Sync {
    /// The handler is about to be polled.
    fn watch(&self, cx: &Context<'_>);

    /// The handler waits. When there are open questions, the reply that asks them.
    ///
    /// Whatever else the handler waits for begins anew in the next round, but for work that runs
    /// once: that is waited for.
    fn reply(&self) -> Option<Reply>;

    /// The run is at its end. In debug builds: has it asked again what it asked before? Else an
    /// answer was for nothing, and the handler decides by something that changes between rounds.
    fn end(&self, handler: &str);

    fn round(self: Arc<Self>) -> Arc<Round>;
}

/// See [`Round::begin`].
pub(crate) type BeginRound =
    fn(&Exchange, Option<&Arc<StateKeys>>, CloseSignal) -> Result<Option<Arc<dyn AnyRound>>, Fault>;

/// What became of a question.
pub(crate) enum Asked {
    Answered(InputResponse),
    /// It goes out with the reply.
    Open,
    /// It goes out now.
    Sent(BoxFuture<'static, Result<InputResponse, BackChannelError>>),
}

impl Round {
    /// The round of a call; `None` when its client cannot be asked.
    ///
    /// # Errors
    ///
    /// The [`Fault`] for a client whose state is not good.
    // spec: MRTR-07, MRTR-08, MRTR-16
    #[inline]
    pub(crate) fn begin(
        exchange: &Exchange,
        keys: Option<&Arc<StateKeys>>,
        over: CloseSignal,
    ) -> Result<Option<Arc<dyn AnyRound>>, Fault> {
        let (way, board) = match &exchange.input {
            Input::Recorded(input) => {
                let binding = Binding::of(&exchange.call, exchange.principal());
                let keys = keys.cloned();
                let board = Board::of(input.as_deref(), keys.as_ref(), &binding)?;
                (Way::Reply { binding, keys }, board)
            }
            Input::Live(channel) => (Way::Channel(channel.clone()), Board::default()),
            _ => return Ok(None),
        };
        Ok(Some(Arc::new(Self {
            facts: exchange.facts.clone(),
            way,
            over,
            board: Mutex::new(board),
        })))
    }

    #[inline]
    pub(crate) fn facts(&self) -> &ClientFacts {
        &self.facts
    }

    #[inline]
    pub(crate) fn over(&self) -> &CloseSignal {
        &self.over
    }

    /// Asks: looks for the answer, or sees to it that the question is sent.
    #[inline]
    pub(crate) fn ask(&self, key: &Key, request: &InputRequest) -> Result<Asked, AskError> {
        if self.over.is_closed() {
            return Err(AskError::Over);
        }
        needs::check(request, &self.facts)?;
        let mut board = self.board.lock();
        if board.memory.asked.len() == MAX_QUESTIONS {
            return Err(AskError::InvalidQuestion {
                key: key.clone(),
                reason: format!("a call asks {MAX_QUESTIONS} questions at most"),
            });
        }
        if !board.memory.asked.insert(key.to_string()) {
            return Err(AskError::KeyReused { key: key.clone() });
        }
        match &self.way {
            Way::Channel(channel) => Ok(Asked::Sent(channel.clone().ask(request.clone()))),
            Way::Reply { .. } => match board.answer(key, request)? {
                Some(answer) => Ok(Asked::Answered(answer)),
                None => {
                    board.open.insert(key.to_string(), request.clone());
                    board.call_caller();
                    Ok(Asked::Open)
                }
            },
        }
    }

    /// The handler has taken the answer, which counts from now on; or it is not one that fits.
    #[inline]
    pub(crate) fn settle(&self, key: &Key, fits: bool) {
        let mut board = self.board.lock();
        if let (Some(raw), true) = (board.sent.remove(&**key), fits) {
            let answers = &mut board.memory.answers;
            answers.entry(key.to_string()).or_insert(raw);
        }
    }

    /// Nobody waits for an answer any more.
    #[inline]
    pub(crate) fn withdraw(&self, key: &Key) {
        self.board.lock().open.remove(&**key);
    }

    /// The result of work that was done in an earlier round.
    pub(crate) fn done<T: DeserializeOwned>(&self, key: &Key) -> Result<Option<T>, AskError> {
        if self.over.is_closed() {
            return Err(AskError::Over);
        }
        let mut board = self.board.lock();
        if !board.works.insert(key.clone().into_owned()) {
            return Err(AskError::KeyReused { key: key.clone() });
        }
        read(key, board.memory.done.get(&**key).map(|raw| &**raw))
    }

    /// Work begins, which is not cut off by open questions until the guard is dropped.
    #[inline]
    pub(crate) fn work(self: &Arc<Self>) -> AtWork {
        self.board.lock().at_work += 1;
        AtWork(self.clone())
    }

    /// Work is done.
    pub(crate) fn record<T: Serialize>(&self, key: &Key, result: &T) -> Result<(), AskError> {
        let raw = self.write(key, result)?;
        self.board.lock().memory.done.insert(key.to_string(), raw);
        Ok(())
    }

    pub(crate) fn keep<T: Serialize>(&self, value: &T) -> Result<(), AskError> {
        let raw = self.write(&Cow::Borrowed("keep"), value)?;
        self.board.lock().memory.kept = Some(raw);
        Ok(())
    }

    pub(crate) fn kept<T: DeserializeOwned>(&self) -> Result<Option<T>, AskError> {
        read(
            &Cow::Borrowed("keep"),
            self.board.lock().memory.kept.as_deref(),
        )
    }

    fn write<T: Serialize>(&self, key: &Key, value: &T) -> Result<Box<RawValue>, AskError> {
        let unkeepable = |reason| AskError::Unkeepable {
            key: key.clone(),
            reason,
        };
        let raw = to_raw_value(value).map_err(|error| unkeepable(error.to_string()))?;
        let (bytes, most) = (raw.get().len(), self.most());
        if bytes > most {
            let error = SealError::TooLarge { bytes, most };
            return Err(unkeepable(error.to_string()));
        }
        Ok(raw)
    }

    #[inline]
    fn most(&self) -> usize {
        match &self.way {
            Way::Reply {
                keys: Some(keys), ..
            } => keys.most(),
            _ => StateKeys::MAX_BYTES,
        }
    }

    // spec: MRTR-01, MRTR-03, MRTR-04
    #[inline]
    fn seal(&self, open: &InputRequests, memory: &Memory) -> Result<InputRequired, Fault> {
        // A channel leaves no question open.
        let Way::Reply { binding, keys } = &self.way else {
            return Err(Fault::internal("this call asks by its session"));
        };
        let plain =
            serde_json::to_vec(memory).map_err(|error| Fault::internal(error.to_string()))?;
        let keys = keys.clone().map_or_else(StateKeys::of_process, Ok);
        let state = keys
            .and_then(|keys| keys.seal(&plain, binding))
            .map_err(|error| unsealed(&error))?;
        let asked = InputRequired::new(open).map_err(|error| Fault::internal(error.to_string()))?;
        Ok(asked.request_state(state))
    }
}

impl AnyRound for Round {
    #[inline]
    fn watch(&self, cx: &Context<'_>) {
        match &mut self.board.lock().caller {
            Some(caller) => caller.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
    }

    #[inline]
    fn reply(&self) -> Option<Reply> {
        let mut board = self.board.lock();
        if board.open.is_empty() || board.at_work > 0 {
            return None;
        }
        let open = std::mem::take(&mut board.open);
        board.carry();
        let asked = self.seal(&open, &board.memory);
        Some(asked.map_or_else(Reply::Fault, Reply::InputRequired))
    }

    #[inline]
    fn end(&self, handler: &str) {
        if !cfg!(debug_assertions) {
            return;
        }
        let board = self.board.lock();
        let forgotten: Vec<_> = board.before.difference(&board.memory.asked).collect();
        if !forgotten.is_empty() && board.memory.kept.is_none() {
            tracing::warn!(
                handler,
                ?forgotten,
                "run again, the handler did not ask what it had asked before; what changes between \
                 two rounds belongs into `Ask::once`"
            );
        }
    }

    #[inline]
    fn round(self: Arc<Self>) -> Arc<Self> {
        self
    }
}

impl Board {
    #[inline]
    fn of(
        input: Option<&InputState>,
        keys: Option<&Arc<StateKeys>>,
        binding: &Binding,
    ) -> Result<Self, Fault> {
        let mut memory = match input.and_then(|input| input.state.as_deref()) {
            Some(state) => {
                let keys = keys.cloned().map_or_else(StateKeys::of_process, Ok);
                let keys = keys.map_err(|error| unsealed(&error))?;
                let plain = keys.open(state, binding).map_err(|_| start_again())?;
                serde_json::from_slice(&plain).map_err(|_| start_again())?
            }
            None => Memory::default(),
        };
        Ok(Self {
            before: std::mem::take(&mut memory.asked),
            memory,
            sent: input.map_or_else(|| Ok(BTreeMap::new()), InputState::parse_responses)?,
            ..Self::default()
        })
    }

    /// What the client has answered: what it said first counts.
    // spec: MRTR-14, MRTR-15, MRTR-17
    #[inline]
    fn answer(&self, key: &Key, asked: &InputRequest) -> Result<Option<InputResponse>, AskError> {
        let known = self.memory.answers.get(&**key);
        let Some(raw) = known.or_else(|| self.sent.get(&**key)) else {
            return Ok(None);
        };
        let invalid = |reason| AskError::InvalidAnswer {
            key: key.clone(),
            reason,
        };
        let answer = RawObject::from_value(raw).map_err(|error| invalid(error.to_string()))?;
        let read = asked.read(&answer);
        read.map(Some).map_err(|error| invalid(error.to_string()))
    }

    /// Answers to questions of the round before are kept, even if the handler has not come to them
    /// in this run: nobody is asked twice.
    #[inline]
    fn carry(&mut self) {
        for key in &self.before {
            if let Some(raw) = self.sent.remove(key) {
                self.memory.answers.entry(key.clone()).or_insert(raw);
            }
        }
    }

    #[inline]
    fn call_caller(&self) {
        self.caller.iter().for_each(Waker::wake_by_ref);
    }
}

fn read<T: DeserializeOwned>(key: &Key, raw: Option<&RawValue>) -> Result<Option<T>, AskError> {
    let read = raw.map(|raw| serde_json::from_str(raw.get()));
    read.transpose().map_err(|error| AskError::Unreadable {
        key: key.clone(),
        reason: error.to_string(),
    })
}

/// Work that is not to be cut off.
pub(crate) struct AtWork(Arc<Round>);

impl Drop for AtWork {
    #[inline]
    fn drop(&mut self) {
        let mut board = self.0.board.lock();
        board.at_work -= 1;
        // It may run on a task of its own, and questions have waited for it.
        board.call_caller();
    }
}

impl fmt::Debug for Round {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let board = self.board.lock();
        f.debug_struct("Round")
            .field("asked", &board.memory.asked)
            .field("open", &board.open.keys())
            .finish_non_exhaustive()
    }
}
