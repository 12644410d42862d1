//! One call of a server.

use std::future::ready;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use mcp_client::{Client, Error, PreparedCall, Step};
use mcp_core::{BoxFuture, ClientContext, Fault, NotificationSender, ServerNotification};
use mcp_server::{Log, Progress};
use mcp_types::{LogMessage, LoggingLevel, Meta};
use tokio::sync::mpsc;

use super::claims::ExtensionClaims;
use super::questions::{Question, Questions, Turn, UpstreamEvent};
use super::quota::Place;
use super::sessions::Lease;
use super::usage::InUse;

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

/// The next event of a running call.
pub(super) enum CallEvent<R> {
    /// The request has ended.
    Ended(Step<'static, R>),
    /// The server asks while it works.
    Asked(Question),
}

/// A call of a server that runs.
pub(super) struct UpstreamCall<R> {
    call: BoxFuture<'static, Result<Step<'static, R>, Error>>,
    /// `None` for a call without events.
    events: Option<mpsc::Receiver<UpstreamEvent>>,
    /// The log messages of the call's own session.
    logs: Option<BoxStream<'static, LogMessage>>,
    /// The number of the server's questions.
    pub(super) asked: usize,
    // Dropped before the session is given back.
    turn: Option<Turn>,
    session: Option<CallSession>,
    /// The client of the session, also after the call has given it back.
    pub(super) client: Client,
    extensions: Arc<ExtensionClaims>,
    _in_use: InUse,
}

/// The session that a call uses.
pub(super) enum CallSession {
    /// The session of all calls. A call whose client can be asked has its turn there.
    Shared {
        client: Client,
        turn: Option<(Questions, Place)>,
    },
    /// A session of its own.
    Own(Box<Lease>),
}

/// The parts of a request that are passed on with the call.
pub(super) struct Context {
    pub(super) meta: Option<Meta>,
    pub(super) progress: Progress,
    pub(super) log: Log,
    pub(super) notifications: NotificationSender,
    pub(super) facts: Arc<ClientContext>,
}

impl<R: Send + 'static> UpstreamCall<R> {
    /// Starts the call that `prepare` makes.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] when the call cannot have its turn.
    pub(super) async fn start(
        (mut session, in_use): (CallSession, InUse),
        prepare: impl FnOnce(&Client) -> PreparedCall<'static, R>,
        context: &Context,
        extensions: Arc<ExtensionClaims>,
    ) -> Result<Self, Fault> {
        let questions = session.take_questions();
        let has_events = questions.is_some() || context.has_events(&extensions);
        let (sender, events) = has_events.then(|| mpsc::channel(MAX_EVENTS)).unzip();
        let turn = match (questions, &sender) {
            (Some((questions, place)), Some(sender)) => {
                Some(questions.turn(sender.clone(), place).await?)
            }
            _ => None,
        };
        let mut call = context.apply(prepare(session.client()));
        let logs = session.logs();
        if let Some(sender) = sender {
            call = context.observe(call, sender, (logs.is_none(), &extensions));
        }
        Ok(Self {
            call: Box::pin(call.step()),
            events,
            logs,
            asked: 0,
            turn,
            client: session.client().clone(),
            session: Some(session),
            extensions,
            _in_use: in_use,
        })
    }

    /// Waits for the end of the request or the next question. Passes on progress and log messages
    /// meanwhile.
    pub(super) async fn next(&mut self, context: &Context) -> Result<CallEvent<R>, Error> {
        loop {
            let event = tokio::select! {
                biased;
                Some(event) = next_event(&mut self.events) => event,
                Some(message) = next_log(&mut self.logs) => UpstreamEvent::Log(message),
                step = &mut self.call => {
                    // The server has answered, also with an error: its session is free.
                    if step.as_ref().map_or_else(|error| error.fault().is_some(), |_| true) {
                        self.end(context).await;
                    }
                    return step.map(CallEvent::Ended);
                }
            };
            if let Some(question) = context.pass(event, &self.extensions).await {
                return Ok(CallEvent::Asked(question));
            }
        }
    }

    /// Gives a session back that the call had for itself.
    fn end_session(&mut self) {
        self.turn = None;
        if let Some(session) = self.session.take() {
            session.end();
        }
    }

    /// Passes on what came before the result.
    async fn end(&mut self, context: &Context) {
        while let Some(Some(event)) = next_event(&mut self.events).now_or_never() {
            context.pass(event, &self.extensions).await;
        }
        while let Some(Some(message)) = next_log(&mut self.logs).now_or_never() {
            context.log.send(message);
        }
        self.end_session();
    }
}

/// Waits for the next event. Never ends for a call without events.
async fn next_event(events: &mut Option<mpsc::Receiver<UpstreamEvent>>) -> Option<UpstreamEvent> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}

/// Waits for the next log message. Never ends for a call without log messages of its own.
async fn next_log(logs: &mut Option<BoxStream<'static, LogMessage>>) -> Option<LogMessage> {
    match logs {
        Some(logs) => logs.next().await,
        None => std::future::pending().await,
    }
}

impl CallSession {
    /// Returns the log messages of a session that the call has for itself.
    fn logs(&self) -> Option<BoxStream<'static, LogMessage>> {
        match self {
            Self::Shared { .. } => None,
            Self::Own(lease) => {
                let received = lease.client().notifications();
                let logs = received.filter_map(|received| {
                    ready(match received {
                        Ok(ServerNotification::Log(message)) => Some(message),
                        _ => None,
                    })
                });
                Some(logs.boxed())
            }
        }
    }

    pub(super) fn client(&self) -> &Client {
        match self {
            Self::Shared { client, .. } => client,
            Self::Own(lease) => lease.client(),
        }
    }

    /// Gives a session back that the call had for itself.
    pub(super) fn end(self) {
        if let Self::Own(lease) = self {
            lease.end();
        }
    }

    /// Returns the questions of a session in which the call has its turn. The place is that of a shared session.
    fn take_questions(&mut self) -> Option<(Questions, Option<Place>)> {
        match self {
            Self::Shared { turn, .. } => {
                let (questions, place) = turn.take()?;
                Some((questions, Some(place)))
            }
            Self::Own(lease) => Some((lease.questions().clone(), None)),
        }
    }
}

impl Context {
    /// Returns the least severe level of the log messages that the client of the gateway wants.
    fn log_level(&self) -> Option<LoggingLevel> {
        let mut levels = LEVELS.into_iter();
        levels.find(|level| self.log.is_wanted(*level))
    }

    /// Passes an event on to the client of the gateway. Returns a question.
    async fn pass(&self, event: UpstreamEvent, extensions: &ExtensionClaims) -> Option<Question> {
        match event {
            UpstreamEvent::Progress(progress) => self.progress.send(progress).await,
            UpstreamEvent::Log(message) => self.log.send(message),
            UpstreamEvent::Custom { method, params } => {
                let declared = &self.facts.capabilities;
                // spec: EXT-05
                if extensions
                    .find(&method)
                    .is_some_and(|id| declared.has_extension(id))
                {
                    self.notifications.notify(&method, params).await;
                }
            }
            UpstreamEvent::Question(question) => return Some(question),
        }
        None
    }

    /// Returns true if a call may have events that its client wants.
    fn has_events(&self, extensions: &ExtensionClaims) -> bool {
        self.progress.is_wanted() || self.log_level().is_some() || !extensions.is_empty()
    }

    /// Adds the metadata of the request to a call, and the level of its log messages.
    fn apply<R>(&self, mut call: PreparedCall<'static, R>) -> PreparedCall<'static, R> {
        for (key, value) in self.meta.iter().flat_map(Meta::as_object) {
            call = call.meta(key.clone(), value.clone());
        }
        match self.log_level() {
            Some(level) => call.log_level(level),
            None => call,
        }
    }

    /// Asks for the events that the gateway's client wants.
    fn observe<R>(
        &self,
        mut call: PreparedCall<'static, R>,
        events: mpsc::Sender<UpstreamEvent>,
        (with_logs, extensions): (bool, &ExtensionClaims),
    ) -> PreparedCall<'static, R> {
        if self.progress.is_wanted() {
            let events = events.clone();
            call = call.on_progress(move |progress| {
                // A report that does not fit is followed by a newer one.
                let _ = events.try_send(UpstreamEvent::Progress(progress));
            });
        }
        if !extensions.is_empty() {
            let events = events.clone();
            call = call.on_custom(move |method, params| {
                let method = method.into();
                // Notifications may be lost.
                let _ = events.try_send(UpstreamEvent::Custom { method, params });
            });
        }
        if with_logs && self.log_level().is_some() {
            call = call.on_log(move |message| {
                // Log messages may be lost.
                let _ = events.try_send(UpstreamEvent::Log(message));
            });
        }
        call
    }
}
