//! One call of a server.

use std::sync::Arc;

use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use mcp_client::{Client, Error, PreparedCall, Step};
use mcp_core::{BoxFuture, ClientContext, Fault, NotificationSender};
use mcp_server::{Log, Progress};
use mcp_types::{LogMessage, LoggingLevel, Meta};
use tokio::sync::mpsc;

use super::claims::ExtensionClaims;
use super::questions::{Question, Questions, Turn, UpstreamEvent};
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

/// Next event of a running call.
pub(super) enum Next<R> {
    /// The request has ended.
    Step(Step<'static, R>),
    /// The server asks while it works.
    Question(Question),
}

/// A call of a server that runs.
pub(super) struct UpstreamCall<R> {
    call: BoxFuture<'static, Result<Step<'static, R>, Error>>,
    events: mpsc::Receiver<UpstreamEvent>,
    /// The log messages of a session of its own. On a pipe they do not say which call they belong to.
    logs: Option<BoxStream<'static, LogMessage>>,
    /// Number of questions of the server.
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
        questions: Option<Questions>,
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
        (session, in_use): (CallSession, InUse),
        prepare: impl FnOnce(&Client) -> PreparedCall<'static, R>,
        context: &Context,
        extensions: Arc<ExtensionClaims>,
    ) -> Result<Self, Fault> {
        let (sender, events) = mpsc::channel(MAX_EVENTS);
        let turn = match session.questions() {
            Some(questions) => Some(questions.turn(sender.clone()).await?),
            None => None,
        };
        let call = prepare(session.client());
        let logs = session.logs();
        let call = context.apply(call, &sender, (logs.is_none(), &extensions));
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
    pub(super) async fn next(&mut self, context: &Context) -> Result<Next<R>, Error> {
        loop {
            let event = tokio::select! {
                biased;
                Some(event) = self.events.recv() => event,
                Some(message) = next_log(&mut self.logs) => UpstreamEvent::Log(message),
                step = &mut self.call => {
                    let step = step?;
                    self.end(context).await;
                    return Ok(Next::Step(step));
                }
            };
            if let Some(question) = context.pass(event, &self.extensions).await {
                return Ok(Next::Question(question));
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
        while let Ok(event) = self.events.try_recv() {
            context.pass(event, &self.extensions).await;
        }
        while let Some(Some(message)) = next_log(&mut self.logs).now_or_never() {
            context.log.send(message);
        }
        self.end_session();
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
            Self::Own(lease) => Some(lease.client().logs().boxed()),
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

    fn questions(&self) -> Option<&Questions> {
        match self {
            Self::Shared { questions, .. } => questions.as_ref(),
            Self::Own(lease) => Some(lease.questions()),
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

    /// Adds the metadata of the request to a call, and asks for progress and log messages if the client
    /// of the gateway wants them.
    fn apply<R>(
        &self,
        mut call: PreparedCall<'static, R>,
        events: &mpsc::Sender<UpstreamEvent>,
        (with_logs, extensions): (bool, &ExtensionClaims),
    ) -> PreparedCall<'static, R> {
        for (key, value) in self.meta.iter().flat_map(Meta::as_object) {
            call = call.meta(key.clone(), value.clone());
        }
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
        if let Some(level) = self.log_level() {
            call = call.log_level(level);
        }
        if with_logs && self.log_level().is_some() {
            let events = events.clone();
            call = call.on_log(move |message| {
                // Log messages may be lost.
                let _ = events.try_send(UpstreamEvent::Log(message));
            });
        }
        call
    }
}
