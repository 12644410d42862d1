//! One call of a server.

use std::future::IntoFuture;

use mcp_client::{Client, Error, PreparedCall, Turn as CallTurn};
use mcp_core::BoxFuture;
use mcp_server::{Log, Progress};
use mcp_types::{InputRequired, LoggingLevel, Meta};
use tokio::sync::mpsc;

use super::questions::{CallEvent, Question, Questions, Turn};

/// Events of a call that wait. Progress and log messages beyond them are dropped.
const MAX_EVENTS: usize = 64;

/// All levels, the least severe first.
const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

/// The result of a call, or the input that the server requires for it.
pub(super) enum Outcome<R> {
    Done(R),
    Required(InputRequired),
}

/// The next step of a call.
pub(super) enum Step<R> {
    Done(R),
    /// The server requires input with the next request.
    Required(InputRequired),
    /// The server asks while it works.
    Question(Question),
}

/// A call of a server that runs.
pub(super) struct Running<R> {
    call: BoxFuture<'static, Result<Outcome<R>, Error>>,
    events: mpsc::Receiver<CallEvent>,
    /// Number of questions of the server.
    pub(super) asked: usize,
    _turn: Option<Turn>,
}

/// The parts of a request that are passed on with the call.
pub(super) struct Context {
    pub(super) meta: Option<Meta>,
    pub(super) progress: Progress,
    pub(super) log: Log,
}

impl<R: Send + 'static> Running<R> {
    /// Starts a call. A call whose client can be asked waits for its turn, if the server asks in a session.
    pub(super) async fn start(
        client: &Client,
        call: PreparedCall<'static, R>,
        context: &Context,
        questions: Option<&Questions>,
    ) -> Self {
        let (sender, events) = mpsc::channel(MAX_EVENTS);
        let questions = questions.filter(|_| !client.protocol_version().is_modern());
        let turn = match questions {
            Some(questions) => questions.turn(sender.clone()).await,
            None => None,
        };
        let call = context.apply(call, &sender).manual();
        let call = Box::pin(async move {
            Ok(match call.into_future().await? {
                CallTurn::Done(result) => Outcome::Done(result),
                CallTurn::Asks(asks) => Outcome::Required(asks.required().clone()),
            })
        });
        Self {
            call,
            events,
            asked: 0,
            _turn: turn,
        }
    }

    /// Waits for the next step. Passes on progress and log messages meanwhile.
    pub(super) async fn next(&mut self, context: &Context) -> Result<Step<R>, Error> {
        loop {
            let event = tokio::select! {
                biased;
                Some(event) = self.events.recv() => event,
                outcome = &mut self.call => return self.end(outcome?, context).await,
            };
            if let Some(question) = context.pass(event).await {
                return Ok(Step::Question(question));
            }
        }
    }

    /// Passes on what came before the result.
    async fn end(&mut self, outcome: Outcome<R>, context: &Context) -> Result<Step<R>, Error> {
        while let Ok(event) = self.events.try_recv() {
            context.pass(event).await;
        }
        Ok(match outcome {
            Outcome::Done(result) => Step::Done(result),
            Outcome::Required(required) => Step::Required(required),
        })
    }
}

impl Context {
    /// Passes an event on to the client of the gateway. Returns a question.
    async fn pass(&self, event: CallEvent) -> Option<Question> {
        match event {
            CallEvent::Progress(progress) => self.progress.send(progress).await,
            CallEvent::Log(message) => self.log.send(message),
            CallEvent::Question(question) => return Some(question),
        }
        None
    }

    /// Adds the metadata of the request to a call, and asks for progress and log messages if the client
    /// of the gateway wants them.
    fn apply<R>(
        &self,
        mut call: PreparedCall<'static, R>,
        events: &mpsc::Sender<CallEvent>,
    ) -> PreparedCall<'static, R> {
        for (key, value) in self.meta.iter().flat_map(Meta::as_object) {
            call = call.meta(key.clone(), value.clone());
        }
        if self.progress.is_wanted() {
            let events = events.clone();
            call = call.on_progress(move |progress| {
                // A report that does not fit is followed by a newer one.
                let _ = events.try_send(CallEvent::Progress(progress));
            });
        }
        let mut levels = LEVELS.into_iter();
        if let Some(level) = levels.find(|level| self.log.is_wanted(*level)) {
            let events = events.clone();
            call = call.log_level(level).on_log(move |message| {
                // Log messages may be lost.
                let _ = events.try_send(CallEvent::Log(message));
            });
        }
        call
    }
}
