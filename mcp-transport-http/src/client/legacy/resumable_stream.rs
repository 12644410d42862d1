//! An event stream that is resumed over several connections.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::OptionFuture;
use http::{HeaderMap, StatusCode};
use mcp_core::ChannelError;
use mcp_core::backoff::random_fraction;
use tokio::time::{Instant, sleep};

use super::resume_policy::{Decision, Outcome, ResumePolicy};
use super::session::{PendingCall, Session};
use crate::client::response::{self, ResponseEvents};
use crate::sse::{SseError, SseItem, SseStreamError};

/// An event stream of a session: the stream of a call, or the standalone stream.
pub(super) struct ResumableStream {
    session: Arc<Session>,
    /// `None` for the standalone stream.
    call: Option<Arc<PendingCall>>,
    call_headers: HeaderMap,
    policy: ResumePolicy,
    /// The stream has been open at least once.
    was_open: bool,
}

impl ResumableStream {
    pub(super) fn for_call(
        session: Arc<Session>,
        call: Arc<PendingCall>,
        call_headers: HeaderMap,
    ) -> Self {
        Self {
            session,
            call: Some(call),
            call_headers,
            policy: ResumePolicy::for_call(),
            was_open: true,
        }
    }

    fn standalone(session: Arc<Session>) -> Self {
        Self {
            session,
            call: None,
            call_headers: HeaderMap::new(),
            policy: ResumePolicy::default(),
            was_open: false,
        }
    }

    /// Reads the stream of a call until its response has arrived.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError::Broken`] when the stream breaks and cannot be resumed.
    // spec: RSM-03, RSM-07, RSM-09
    pub(super) async fn run(
        mut self,
        first: Result<ResponseEvents, ChannelError>,
    ) -> Result<(), ChannelError> {
        let error = self.read_until_failure(first).await;
        match (self.call, error) {
            (Some(call), _) if call.has_response() => Ok(()),
            // The refused resumption is reported as the broken stream's cause.
            (Some(_), refused @ ChannelError::Status { .. }) => Err(ChannelError::Broken {
                source: Some(refused.into()),
            }),
            (_, error) => Err(error),
        }
    }

    /// Reads the stream over several connections. Returns the error of the last connection, which
    /// is meaningless when the response has arrived.
    async fn read_until_failure(
        &mut self,
        first: Result<ResponseEvents, ChannelError>,
    ) -> ChannelError {
        let mut connection = first;
        loop {
            let (outcome, error) = match connection {
                Ok(events) => {
                    self.set_interrupted(false);
                    let ended = self.read_connection(events).await;
                    self.set_interrupted(true);
                    match ended {
                        Ok(ended) => ended,
                        Err(error) => return error,
                    }
                }
                Err(error) => match retryable_outcome(&error) {
                    Some(outcome) => (outcome, error),
                    None => return error,
                },
            };
            let has_response = self.call.as_ref().is_some_and(|call| call.has_response());
            let cannot_resume = self.call.is_some() && self.policy.last_id().is_none();
            if has_response || cannot_resume {
                return error;
            }
            let Decision::RetryAfter(delay) = self.policy.decide(outcome, random_fraction()) else {
                return error;
            };
            let call = self.call.clone();
            let arrival = call.as_ref().map(|call| call.response_arrived.notified());
            connection = tokio::select! {
                Some(()) = OptionFuture::from(arrival) => return error,
                reopened = async { sleep(delay).await; self.open().await } => reopened,
            };
        }
    }

    /// Records whether the standalone stream is interrupted. The call streams do not count.
    fn set_interrupted(&self, interrupted: bool) {
        if self.call.is_none() {
            self.session.interrupted.send_replace(interrupted);
        }
    }

    async fn open(&self) -> Result<ResponseEvents, ChannelError> {
        let last_id = self.policy.last_id();
        let connection = self.session.open_stream(last_id, &self.call_headers).await;
        if let Err(ChannelError::Status { status, .. }) = &connection
            && self.was_open
        {
            self.session.check_expired(*status)?;
        }
        let restarted = self.was_open && last_id.is_none();
        if connection.is_ok() && self.call.is_none() && restarted {
            // Messages that the server sent between the two connections are lost.
            self.session.inbox.mark_gap();
        }
        connection
    }

    /// Reads one connection to its end. Returns the outcome and the error that stands for it.
    ///
    /// # Errors
    ///
    /// Returns an error that another connection would not repair.
    async fn read_connection(
        &mut self,
        mut events: ResponseEvents,
    ) -> Result<(Outcome, ChannelError), ChannelError> {
        self.was_open = true;
        let opened = Instant::now();
        let (mut had_message, mut may_resume) = (false, false);
        let error = loop {
            match events.next().await {
                Some(Ok(SseItem::Event(event))) => {
                    if let Some(retry) = event.retry {
                        self.policy.set_retry(retry);
                    }
                    let repeated = event.id.is_some_and(|id| self.policy.record_event(&id));
                    // spec: RSM-09
                    let is_message =
                        event.name == response::MESSAGE_EVENT && !event.data.is_empty();
                    if is_message && !repeated {
                        had_message = true;
                        let frame = response::frame(event.data, StatusCode::OK);
                        self.session.deliver(self.call.as_deref(), frame).await;
                    }
                }
                Some(Ok(SseItem::Retry(retry))) => {
                    self.policy.set_retry(retry);
                    may_resume = true;
                }
                // The standalone stream skips an event that is not UTF-8.
                Some(Err(SseStreamError::Sse(SseError::NotUtf8))) if self.call.is_none() => {}
                Some(Err(SseStreamError::Body(error))) => break error,
                Some(Err(error)) => return Err(response::stream_error(error)),
                None => break ChannelError::Broken { source: None },
            }
        };
        // Includes the id of an event without a message.
        // spec: RSM-05
        let last_id = events.last_event_id();
        if !last_id.is_empty() {
            self.policy.set_last_id(last_id);
            may_resume = true;
        }
        let outcome = Outcome::Ended {
            had_message,
            may_resume,
            open_for: opened.elapsed(),
        };
        Ok((outcome, error))
    }
}

/// Keeps the standalone stream open, starting when the session is initialized. Returns when the
/// server refuses the stream. When the server is unreachable, the stream is opened again after the
/// server has answered another request.
// spec: HTTP-C-11
pub(super) async fn read_standalone(session: &Arc<Session>) {
    session.initialized.notified().await;
    let mut stream = ResumableStream::standalone(Arc::clone(session));
    loop {
        let first = stream.open().await;
        session.standalone_answered.notify_one();
        match stream.read_until_failure(first).await {
            ChannelError::Connect { .. } | ChannelError::Broken { .. } => {}
            // The stream stays closed, so nothing waits for it.
            _ => return stream.set_interrupted(false),
        }
        session.responded.notified().await;
    }
}

/// Converts an error after which the stream may be opened again. Returns `None` for a final error.
fn retryable_outcome(error: &ChannelError) -> Option<Outcome> {
    match error {
        ChannelError::Connect { .. } | ChannelError::Broken { .. } => Some(Outcome::Unreachable),
        ChannelError::Status {
            status,
            retry_after,
            ..
        } => Some(Outcome::Refused {
            status: *status,
            retry_after: *retry_after,
        }),
        _ => None,
    }
}
