//! Reading one stream of events, over as many connections as it takes.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>

use std::sync::Arc;

use futures_util::StreamExt;
use http::{HeaderMap, StatusCode};
use mcp_core::backoff::random_fraction;
use mcp_core::{ChannelError, Frame};
use tokio::time::{Instant, sleep};

use super::resume::{Next, Outcome, Resume};
use super::session::{OpenCall, Session};
use crate::client::answer::{self, Events};
use crate::sse::{SseError, SseItem, SseStreamError};

/// A stream of a session: that of a call, or the one outside of all calls.
pub(super) struct Follow {
    session: Arc<Session>,
    call: Option<Arc<OpenCall>>,
    /// Headers of the caller, which go with every request for the stream.
    caller: HeaderMap,
    resume: Resume,
    /// The server has this stream, or had it.
    exists: bool,
}

impl Follow {
    pub(super) fn of_call(session: Arc<Session>, call: Arc<OpenCall>, caller: HeaderMap) -> Self {
        Self {
            session,
            call: Some(call),
            caller,
            resume: Resume::default(),
            exists: true,
        }
    }

    /// The stream outside of all calls.
    fn standalone(session: Arc<Session>) -> Self {
        Self {
            session,
            call: None,
            caller: HeaderMap::new(),
            resume: Resume::default(),
            exists: false,
        }
    }

    /// Reads the stream to its proper end: that of a call is over with its answer, the other one
    /// never.
    // spec: RSM-03, RSM-07, RSM-09
    pub(super) async fn run(
        mut self,
        first: Result<Events, ChannelError>,
    ) -> Result<(), ChannelError> {
        let error = self.until_broken(first).await;
        match (self.call, error) {
            (Some(call), _) if call.is_answered() => Ok(()),
            // That asking for the rest was refused, too, is told as the cause.
            (Some(_), refused @ ChannelError::Status { .. }) => Err(ChannelError::Broken {
                source: Some(refused.into()),
            }),
            (_, error) => Err(error),
        }
    }

    /// Why the stream cannot be read any more. Nobody looks at it when the answer is there.
    async fn until_broken(&mut self, first: Result<Events, ChannelError>) -> ChannelError {
        let mut connection = first;
        loop {
            let (outcome, error) = match connection {
                Ok(events) => match self.read(events).await {
                    Ok(over) => over,
                    Err(error) => return error,
                },
                Err(error) => match outcome_of(&error) {
                    Some(outcome) => (outcome, error),
                    None => return error,
                },
            };
            let is_answered = self.call.as_ref().is_some_and(|call| call.is_answered());
            let is_lost = self.call.is_some() && self.resume.last_id().is_none();
            if is_answered || is_lost {
                return error;
            }
            let Next::After(wait) = self.resume.next(outcome, random_fraction()) else {
                return error;
            };
            let call = self.call.clone();
            let answer = async {
                match &call {
                    Some(call) => call.has_answer.notified().await,
                    None => std::future::pending().await,
                }
            };
            connection = tokio::select! {
                () = answer => return error,
                again = async { sleep(wait).await; self.connect().await } => again,
            };
        }
    }

    async fn connect(&self) -> Result<Events, ChannelError> {
        let connection = self.session.get(self.resume.last_id(), &self.caller).await;
        if let Err(ChannelError::Status { status, .. }) = &connection
            && self.exists
        {
            self.session.check_known(*status)?;
        }
        let is_anew = self.exists && self.resume.last_id().is_none();
        if connection.is_ok() && self.call.is_none() && is_anew {
            // What the server said while there was no stream comes from nobody.
            self.session.inbox.mark_gap();
        }
        connection
    }

    /// Reads one connection; how it ended and as what error that counts, or an error that another
    /// connection would not mend.
    async fn read(&mut self, mut events: Events) -> Result<(Outcome, ChannelError), ChannelError> {
        self.exists = true;
        let begun = Instant::now();
        let (mut news, mut polls) = (false, false);
        let error = loop {
            match events.next().await {
                Some(Ok(SseItem::Event(event))) => {
                    if let Some(retry) = event.retry {
                        self.resume.retry(retry);
                    }
                    let known = event.id.is_some_and(|id| self.resume.event(&id));
                    // spec: RSM-09
                    let has_message = event.name == answer::MESSAGE_EVENT && !event.data.is_empty();
                    if has_message && !known {
                        news = true;
                        let frame = Frame::new(event.data).status(StatusCode::OK);
                        self.session.deliver(self.call.as_deref(), frame).await;
                    }
                }
                Some(Ok(SseItem::Retry(retry))) => {
                    self.resume.retry(retry);
                    polls = true;
                }
                // The stream outside of calls goes on behind an event that cannot be read.
                Some(Err(SseStreamError::Sse(SseError::NotUtf8))) if self.call.is_none() => {}
                Some(Err(SseStreamError::Body(error))) => break error,
                Some(Err(error)) => return Err(answer::failed(error)),
                None => break ChannelError::Broken { source: None },
            }
        };
        // Also that of an event without a message.
        // spec: RSM-05
        let last_id = events.last_event_id();
        if !last_id.is_empty() {
            self.resume.mark(last_id);
            polls = true;
        }
        let open = begun.elapsed();
        Ok((Outcome::Over { news, polls, open }, error))
    }
}

/// Keeps the stream outside of calls open, once the server knows that the client is ready. A
/// server that refuses it has none, and one that cannot be reached any more is tried again when it
/// has answered something else.
// spec: HTTP-C-11, HTTP-SL-08
pub(super) async fn standalone(session: &Arc<Session>) {
    session.ready.notified().await;
    let mut stream = Follow::standalone(Arc::clone(session));
    loop {
        let first = stream.connect().await;
        session.standalone_answered.notify_one();
        match stream.until_broken(first).await {
            ChannelError::Connect { .. } | ChannelError::Broken { .. } => {}
            _ => return,
        }
        session.alive.notified().await;
    }
}

/// What an error says about a stream that may be opened again; `None` for one that ends it.
fn outcome_of(error: &ChannelError) -> Option<Outcome> {
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
