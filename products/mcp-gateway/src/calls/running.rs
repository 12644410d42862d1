//! [`RunningCall`]: one call at its server, from the request to the answer.

use std::sync::Arc;

use futures_util::future::OptionFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use mcp_client::{Client, Error, PreparedCall, Step};
use mcp_core::{BoxFuture, Fault};
use mcp_types::{InputResponse, LogMessage};
use tokio::sync::mpsc::{self, Receiver};

use super::request::Request;
use super::usage::InUse;
use crate::sessions::lease::Lease;
use crate::sessions::questions::{CallEvent, Question};
use crate::sessions::roots::CallerRoots;
use crate::settings::claims::ExtensionClaims;

/// Maximum number of events that a call buffers for the gateway. Further ones are dropped, except questions.
const MAX_EVENTS: usize = 64;

/// A call while it runs at its server. [`Forwarded`](super::forward::Forwarded) makes one for each request to the server,
/// and holds it, or parks it while the client answers. It ends with the server's answer, or when it is dropped.
pub(crate) struct RunningCall<R> {
    call: BoxFuture<'static, Result<Step<'static, R>, Error>>,
    /// `None` if the client answers no questions and wants no other events.
    events: Option<Receiver<CallEvent>>,
    /// The session's log messages. `None` for a shared session: its logs arrive as events.
    logs: Option<BoxStream<'static, LogMessage>>,
    /// The number of questions that the server has asked so far.
    pub(super) asked: usize,
    /// `None` when the server has answered.
    lease: Option<Lease>,
    /// The question that waits for its answer.
    pub(super) question: Option<Question>,
    /// The session's client, which stays after the session is given back.
    pub(super) client: Client,
    extensions: Arc<ExtensionClaims>,
    _in_use: InUse,
}

impl<R: Send + 'static> RunningCall<R> {
    /// Starts the call that `prepare` creates. A server that asks is told `roots`.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::Overloaded`] when other calls keep their turn for too long.
    pub(super) async fn start(
        request: &Request,
        mut lease: Lease,
        in_use: InUse,
        extensions: Arc<ExtensionClaims>,
        roots: CallerRoots,
        prepare: impl FnOnce(&Client) -> PreparedCall<'static, R>,
    ) -> Result<Self, Fault> {
        let has_events = lease.has_questions() || request.has_events(&extensions);
        let (sender, events) = has_events.then(|| mpsc::channel(MAX_EVENTS)).unzip();
        if let Some(sender) = &sender {
            lease.begin_turn(sender, roots).await?;
        }
        let mut call = request.apply(prepare(&lease.client));
        let logs = lease.logs();
        if let Some(sender) = sender {
            call = request.observe(call, sender, &extensions, logs.is_none());
        }
        Ok(Self {
            call: Box::pin(call.step()),
            events,
            logs,
            question: None,
            asked: 0,
            client: lease.client.clone(),
            lease: Some(lease),
            extensions,
            _in_use: in_use,
        })
    }

    /// Notes that the call asks its client.
    ///
    /// # Errors
    ///
    /// Returns the fault of [`Lease::ask`].
    pub(super) fn ask(&mut self) -> Result<(), Fault> {
        self.asked += 1;
        self.lease.as_mut().map_or(Ok(()), Lease::ask)
    }

    /// Answers the question.
    pub(super) fn answer(&mut self, answer: Result<InputResponse, Fault>) {
        if let Some(question) = self.question.take() {
            // The server may have ended the call.
            let _ = question.response.send(answer);
        }
    }

    /// Waits for the server's answer, and passes on events meanwhile. `None`: the server asks, see
    /// [`question`](Self::question).
    ///
    /// # Errors
    ///
    /// Returns the call's error.
    pub(super) async fn next(
        &mut self,
        request: &Request,
    ) -> Result<Option<Step<'static, R>>, Error> {
        while self.question.is_none() {
            let event = tokio::select! {
                biased;
                Some(Some(event)) = OptionFuture::from(self.events.as_mut().map(Receiver::recv)) => event,
                Some(Some(message)) = OptionFuture::from(self.logs.as_mut().map(BoxStream::next)) => {
                    CallEvent::Log(message)
                }
                step = &mut self.call => {
                    // A fault is an answer, too. After other errors the server may still work in the session.
                    if step.as_ref().err().is_none_or(|error| error.fault().is_some()) {
                        self.end(request).await;
                    }
                    return step.map(Some);
                }
            };
            self.question = request.pass(event, &self.extensions).await;
        }
        Ok(None)
    }

    /// Passes on the events that came before the answer, and gives the session back.
    async fn end(&mut self, request: &Request) {
        while let Some(Ok(event)) = self.events.as_mut().map(Receiver::try_recv) {
            request.pass(event, &self.extensions).await;
        }
        while let Some(Some(Some(message))) =
            self.logs.as_mut().map(|logs| logs.next().now_or_never())
        {
            request.log.send(message);
        }
        if let Some(lease) = self.lease.take() {
            lease.end();
        }
    }
}
