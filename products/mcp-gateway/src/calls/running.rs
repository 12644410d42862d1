//! [`UpstreamCall`]: a call to a server while it runs.

use std::future::ready;
use std::sync::Arc;

use futures_util::future::OptionFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use mcp_client::{Client, Error, PreparedCall, Step};
use mcp_core::{BoxFuture, ClientContext, Fault, NotificationSender, ServerNotification};
use mcp_server::{Log, Progress};
use mcp_types::{LogMessage, LoggingLevel, Meta};
use tokio::sync::mpsc::{self, Receiver};

use super::usage::InUse;
use crate::limits::quota::Place;
use crate::sessions::pool::Lease;
use crate::sessions::questions::{CallerRoots, Question, Questions, Turn, UpstreamEvent};
use crate::settings::claims::ExtensionClaims;

/// Maximum number of events that a call buffers for the gateway. Further ones are dropped, except questions.
const MAX_EVENTS: usize = 64;

/// All log levels, the least severe first.
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
pub(crate) enum CallEvent<R> {
    /// The server has answered the request.
    Ended(Step<'static, R>),
    /// The server asks the client while the request runs.
    Asked(Question),
}

/// A call to a server while it runs.
pub(crate) struct UpstreamCall<R> {
    call: BoxFuture<'static, Result<Step<'static, R>, Error>>,
    /// `None` if the client answers no questions and wants no other events.
    events: Option<Receiver<UpstreamEvent>>,
    /// The session's log messages. `None` for a shared session: its logs arrive as events.
    logs: Option<BoxStream<'static, LogMessage>>,
    /// The number of questions that the server has asked so far.
    pub(crate) asked: usize,
    /// The call's turn to receive the session's questions. Declared before `session`, so that it is dropped first.
    turn: Option<Turn>,
    session: Option<CallSession>,
    /// The session's client, which stays after the session is given back.
    pub(crate) client: Client,
    extensions: Arc<ExtensionClaims>,
    _in_use: InUse,
}

/// The session that a call uses.
pub(crate) enum CallSession {
    /// The session that all calls share. A call whose client can be asked waits for its turn there.
    Shared {
        client: Client,
        turn: Option<(Questions, Place)>,
    },
    /// A session for this call alone.
    Own(Box<Lease>),
}

/// The parts of a client request that a call receives.
pub(crate) struct Context {
    pub(crate) meta: Option<Meta>,
    pub(crate) progress: Progress,
    pub(crate) log: Log,
    pub(crate) notifications: NotificationSender,
    pub(crate) facts: Arc<ClientContext>,
}

impl<R: Send + 'static> UpstreamCall<R> {
    /// Starts the call that `prepare` creates.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Overloaded`] when other calls keep their turn for too long.
    pub(crate) async fn start(
        (mut session, in_use): (CallSession, InUse),
        prepare: impl FnOnce(&Client) -> PreparedCall<'static, R>,
        context: &Context,
        (extensions, roots): (Arc<ExtensionClaims>, CallerRoots),
    ) -> Result<Self, Fault> {
        let questions = session.take_questions();
        let has_events = questions.is_some() || context.has_events(&extensions);
        let (sender, events) = has_events.then(|| mpsc::channel(MAX_EVENTS)).unzip();
        let turn = match (questions, &sender) {
            (Some((questions, place)), Some(sender)) => {
                let turn = questions.turn(sender.clone(), place).await?;
                if roots != CallerRoots::Unknown {
                    questions.set_roots(roots, session.client()).await;
                }
                Some(turn)
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

    /// Notes that the call asks its client.
    ///
    /// # Errors
    ///
    /// Returns the fault of [`Lease::ask`].
    pub(crate) fn ask(&mut self) -> Result<(), Fault> {
        self.asked += 1;
        match &mut self.session {
            Some(CallSession::Own(lease)) => lease.ask(),
            _ => Ok(()),
        }
    }

    /// Waits for the server's answer or its next question, and passes on all other events meanwhile.
    ///
    /// # Errors
    ///
    /// Returns the call's error.
    pub(crate) async fn next(&mut self, context: &Context) -> Result<CallEvent<R>, Error> {
        loop {
            let event = tokio::select! {
                biased;
                Some(Some(event)) = OptionFuture::from(self.events.as_mut().map(Receiver::recv)) => event,
                Some(Some(message)) = OptionFuture::from(self.logs.as_mut().map(BoxStream::next)) => {
                    UpstreamEvent::Log(message)
                }
                step = &mut self.call => {
                    // A fault is an answer, too. After other errors the server may still work in the session.
                    if step.as_ref().err().is_none_or(|error| error.fault().is_some()) {
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

    /// Passes on the events that came before the answer, and gives the session back.
    async fn end(&mut self, context: &Context) {
        while let Some(Ok(event)) = self.events.as_mut().map(Receiver::try_recv) {
            context.pass(event, &self.extensions).await;
        }
        while let Some(Some(Some(message))) =
            self.logs.as_mut().map(|logs| logs.next().now_or_never())
        {
            context.log.send(message);
        }
        self.turn = None;
        if let Some(session) = self.session.take() {
            session.end();
        }
    }
}

impl CallSession {
    /// Returns the log messages of a session that is not shared.
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

    pub(crate) fn client(&self) -> &Client {
        match self {
            Self::Shared { client, .. } => client,
            Self::Own(lease) => lease.client(),
        }
    }

    /// Gives back a session that is not shared, for the next call.
    pub(crate) fn end(self) {
        if let Self::Own(lease) = self {
            lease.end();
        }
    }

    /// Takes the queue of the session's questions, and in a shared session also the call's place in it.
    /// `None` if the client cannot be asked.
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
    /// Returns the lowest log level that the gateway's client wants. `None`: it wants no logs.
    fn log_level(&self) -> Option<LoggingLevel> {
        let mut levels = LEVELS.into_iter();
        levels.find(|level| self.log.is_wanted(*level))
    }

    /// Passes an event on to the gateway's client, except a question, which it returns.
    async fn pass(&self, event: UpstreamEvent, extensions: &ExtensionClaims) -> Option<Question> {
        match event {
            UpstreamEvent::Progress(progress) => self.progress.send(progress).await,
            UpstreamEvent::Log(message) => self.log.send(message),
            UpstreamEvent::Custom { method, params } => {
                let declared = &self.facts.capabilities;
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

    /// Returns true if the gateway's client may want events of the call.
    fn has_events(&self, extensions: &ExtensionClaims) -> bool {
        self.progress.is_wanted() || self.log_level().is_some() || !extensions.is_empty()
    }

    /// Adds the request's metadata and log level to a call, and asks for progress: each report restarts the time limit
    /// of the call, also if the gateway's client wants none.
    // spec: LIFE-13
    fn apply<R>(&self, mut call: PreparedCall<'static, R>) -> PreparedCall<'static, R> {
        if !self.progress.is_wanted() {
            call = call.on_progress(drop);
        }
        for (key, value) in self.meta.iter().flat_map(|meta| &**meta) {
            call = call.meta(key.clone(), value.clone());
        }
        match self.log_level() {
            Some(level) => call.log_level(level),
            None => call,
        }
    }

    /// Sends the events that the gateway's client wants to `events`.
    fn observe<R>(
        &self,
        mut call: PreparedCall<'static, R>,
        events: mpsc::Sender<UpstreamEvent>,
        (with_logs, extensions): (bool, &ExtensionClaims),
    ) -> PreparedCall<'static, R> {
        if self.progress.is_wanted() {
            let events = events.clone();
            call = call.on_progress(move |progress| {
                // A full channel loses the report; a newer one follows.
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
