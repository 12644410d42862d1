//! [`Request`]: the client's side of a call.

use std::time::Duration;

use mcp_client::PreparedCall;
use mcp_core::{Fault, NotificationSender};
use mcp_server::{Ask, CallContext, FromCall, Log, Progress, Rejection, RequestMeta, RouteSpec};
use mcp_types::{LoggingLevel, Meta};
use tokio::sync::mpsc;

use super::caller::Caller;
use super::state::{RequestState, to_fault};
use crate::sessions::questions::{CallEvent, Question};
use crate::settings::claims::ExtensionClaims;

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

/// A client request without its arguments: its item, its caller, and the ways back to the client. The gateway's server
/// makes it for each request, the route's handler holds it, and it ends with the reply.
pub(crate) struct Request {
    /// The name or URI as the client sent it.
    pub(crate) item: String,
    pub(crate) caller: Caller,
    pub(crate) ask: Option<Ask>,
    pub(crate) meta: Option<Meta>,
    progress: Progress,
    pub(super) log: Log,
    notifications: NotificationSender,
}

impl FromCall for Request {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let meta = <Option<RequestMeta>>::from_call(call)?;
        Ok(Self {
            item: call.item().unwrap_or_default().to_owned(),
            caller: FromCall::from_call(call)?,
            ask: FromCall::from_call(call)?,
            meta: meta.map(|RequestMeta(meta)| meta),
            progress: FromCall::from_call(call)?,
            log: FromCall::from_call(call)?,
            notifications: call.notifications().clone(),
        })
    }

    fn describe(spec: &mut RouteSpec) {
        <Option<Ask>>::describe(spec);
        <Option<RequestMeta>>::describe(spec);
        Progress::describe(spec);
        Log::describe(spec);
    }
}

impl Request {
    /// Returns the way to ask the client.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Refused`] for a client that cannot be asked.
    pub(super) fn asker(&self) -> Result<&Ask, Fault> {
        self.ask.as_ref().ok_or(Fault::Refused(
            "this call has to ask its client, which cannot be asked".into(),
        ))
    }

    /// Returns true if a reply asks the client, so that the client repeats the request with its answers.
    pub(crate) fn runs_again(&self) -> bool {
        self.caller.facts.version.is_modern()
    }

    /// Returns the state with which the client repeats its request.
    pub(crate) fn state(&self) -> Result<Option<RequestState>, Fault> {
        let kept = self.ask.as_ref().map(Ask::kept);
        Ok(kept.transpose().map_err(to_fault)?.flatten())
    }

    /// Keeps a state for the client's next request. Returns the way to ask the client.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Refused`] for a client that cannot be asked.
    pub(crate) fn keep(&self, state: &RequestState) -> Result<&Ask, Fault> {
        let ask = self.asker()?;
        ask.keep(state).map_err(to_fault)?;
        Ok(ask)
    }

    /// Returns the time for which states are valid.
    pub(crate) fn state_lifetime(&self) -> Duration {
        self.ask
            .as_ref()
            .map_or(Duration::ZERO, Ask::state_lifetime)
    }

    /// Returns the lowest log level that the client wants. `None`: it wants no logs.
    fn log_level(&self) -> Option<LoggingLevel> {
        let mut levels = LEVELS.into_iter();
        levels.find(|level| self.log.is_wanted(*level))
    }

    /// Passes an event on to the client, except a question, which it returns.
    pub(super) async fn pass(
        &self,
        event: CallEvent,
        extensions: &ExtensionClaims,
    ) -> Option<Question> {
        match event {
            CallEvent::Progress(progress) => self.progress.send(progress).await,
            CallEvent::Log(message) => self.log.send(message),
            CallEvent::Custom { method, params } => {
                let declared = &self.caller.facts.capabilities;
                if extensions
                    .find(&method)
                    .is_some_and(|id| declared.has_extension(id))
                {
                    self.notifications.notify(&method, params).await;
                }
            }
            CallEvent::Question(question) => return Some(question),
        }
        None
    }

    /// Returns true if the client may want events of the call.
    pub(super) fn has_events(&self, extensions: &ExtensionClaims) -> bool {
        self.progress.is_wanted() || self.log_level().is_some() || !extensions.is_empty()
    }

    /// Adds the request's metadata and log level to a call, and asks for progress: each report restarts the time limit
    /// of the call, also if the client wants none.
    // spec: LIFE-13
    pub(super) fn apply<R>(&self, mut call: PreparedCall<'static, R>) -> PreparedCall<'static, R> {
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

    /// Sends the events that the client wants to `events`. `with_logs`: log messages are among them.
    pub(super) fn observe<R>(
        &self,
        mut call: PreparedCall<'static, R>,
        events: mpsc::Sender<CallEvent>,
        extensions: &ExtensionClaims,
        with_logs: bool,
    ) -> PreparedCall<'static, R> {
        if self.progress.is_wanted() {
            let events = events.clone();
            call = call.on_progress(move |progress| {
                // A full channel loses the report; a newer one follows.
                let _ = events.try_send(CallEvent::Progress(progress));
            });
        }
        if !extensions.is_empty() {
            let events = events.clone();
            call = call.on_custom(move |method, params| {
                let method = method.into();
                // Notifications may be lost.
                let _ = events.try_send(CallEvent::Custom { method, params });
            });
        }
        if with_logs && self.log_level().is_some() {
            call = call.on_log(move |message| {
                // Log messages may be lost.
                let _ = events.try_send(CallEvent::Log(message));
            });
        }
        call
    }
}
