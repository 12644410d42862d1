//! A question as a future of its answer.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcp_core::close_signal::Closed;
use mcp_core::{BackChannelError, BoxFuture};
use mcp_types::{InputRequest, InputResponse};

use crate::input_round::{AskError, InputKey, InputRound, InputStatus};

/// A question to the client: a future of its answer. The question is sent when the future is first
/// polled.
///
/// [`Ask::all`](super::Ask::all) asks several questions at once, and so does every other way to poll
/// several futures concurrently.
#[must_use = "a question is asked when it is awaited"]
pub struct Asking<A> {
    round: Arc<InputRound>,
    key: InputKey,
    request: Result<InputRequest, AskError>,
    stage: Stage,
    decode: Decode<A>,
}

/// Function that decodes the response to a request.
pub(super) type Decode<A> = fn(&InputRequest, InputResponse) -> Result<A, String>;

enum Stage {
    Unasked,
    /// The reply will contain the question. The handler is dropped then; a question on a task of its
    /// own ends with the call.
    Open(Closed),
    /// The session or the task has sent the question.
    Sent {
        answer: BoxFuture<'static, Result<InputResponse, BackChannelError>>,
        call_closed: Closed,
    },
    Done,
}

impl<A> Asking<A> {
    pub(super) fn new(
        round: Arc<InputRound>,
        key: InputKey,
        request: Result<InputRequest, AskError>,
        decode: Decode<A>,
    ) -> Self {
        Self {
            round,
            key,
            request,
            stage: Stage::Unasked,
            decode,
        }
    }

    fn ask(&mut self) -> Result<Poll<A>, AskError> {
        let request = self.request.as_ref().map_err(Clone::clone)?;
        let status = self.round.ask(&self.key, request)?;
        let call_closed = self.round.call_closed().closed();
        self.stage = match status {
            InputStatus::Answered(answer) => return self.decode(answer).map(Poll::Ready),
            InputStatus::Open => Stage::Open(call_closed),
            InputStatus::Sent(answer) => Stage::Sent {
                answer,
                call_closed,
            },
        };
        Ok(Poll::Pending)
    }

    // spec: MRTR-14, ELIC-13
    fn decode(&self, answer: InputResponse) -> Result<A, AskError> {
        let request = self.request.as_ref().map_err(Clone::clone)?;
        let decoded = (self.decode)(request, answer);
        self.round.finish_question(&self.key, decoded.is_ok());
        decoded.map_err(|reason| self.round.invalid_answer(&self.key, reason))
    }

    fn poll_stage(&mut self, cx: &mut Context<'_>) -> Poll<Result<A, AskError>> {
        if matches!(self.stage, Stage::Unasked) {
            match self.ask() {
                Ok(Poll::Ready(answer)) => return Poll::Ready(Ok(answer)),
                Ok(Poll::Pending) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        if let (Stage::Open(_), Ok(request)) = (&self.stage, &self.request)
            && let Some(answer) = self.round.poll_open(&self.key, request, cx)
        {
            self.stage = Stage::Sent {
                answer,
                call_closed: self.round.call_closed().closed(),
            };
        }
        let call_closed = match &mut self.stage {
            Stage::Open(call_closed) => call_closed,
            Stage::Sent {
                answer,
                call_closed,
            } => match answer.as_mut().poll(cx) {
                Poll::Ready(Ok(answer)) => return Poll::Ready(self.decode(answer)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
                Poll::Pending => call_closed,
            },
            Stage::Unasked | Stage::Done => return Poll::Pending,
        };
        let closed = Pin::new(call_closed).poll(cx);
        closed.map(|()| Err(AskError::Closed))
    }
}

impl<A> Future for Asking<A> {
    type Output = Result<A, AskError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.poll_stage(cx);
        if polled.is_ready() {
            self.stage = Stage::Done;
        }
        polled
    }
}

impl<A> Drop for Asking<A> {
    fn drop(&mut self) {
        if let Stage::Open(_) = self.stage {
            self.round.remove_question(&self.key);
        }
    }
}

impl<A> fmt::Debug for Asking<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Asking({:?})", self.key)
    }
}
