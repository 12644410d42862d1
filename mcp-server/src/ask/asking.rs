//! A question on its way.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcp_core::close_signal::Closed;
use mcp_core::{BackChannelError, BoxFuture};
use mcp_types::{InputRequest, InputResponse};

use super::once;
use crate::round::{AskError, Asked, Key, Round};

/// A question: a future of its answer. Asked when it is awaited.
///
/// Several of them are asked at once by [`Ask::all`](super::Ask::all), or by any other way to await
/// several futures at once.
#[must_use = "a question is asked when it is awaited"]
pub struct Asking<A> {
    round: Arc<Round>,
    key: Key,
    request: Result<InputRequest, AskError>,
    stage: Stage,
    read: Read<A>,
}

/// Reads the answer to a request.
pub(super) type Read<A> = fn(&InputRequest, InputResponse) -> Result<A, String>;

enum Stage {
    Unasked,
    /// The reply asks it. This future is dropped then, unless it is on a task of its own.
    Open(Closed),
    Sent {
        answer: BoxFuture<'static, Result<InputResponse, BackChannelError>>,
        over: Closed,
    },
    Done,
}

impl<A> Asking<A> {
    pub(super) fn new(
        round: Arc<Round>,
        key: Key,
        request: Result<InputRequest, String>,
        read: Read<A>,
    ) -> Self {
        let request = request.map_err(|reason| AskError::InvalidQuestion {
            key: key.clone(),
            reason,
        });
        Self {
            round,
            key,
            request,
            stage: Stage::Unasked,
            read,
        }
    }

    fn ask(&mut self) -> Result<Poll<A>, AskError> {
        once::check_outside(&self.round, &self.key)?;
        let request = self.request.as_ref().map_err(Clone::clone)?;
        let over = || self.round.over().closed();
        match self.round.ask(&self.key, request)? {
            Asked::Answered(answer) => self.read(answer).map(Poll::Ready),
            Asked::Open => {
                self.stage = Stage::Open(over());
                Ok(Poll::Pending)
            }
            Asked::Sent(answer) => {
                let over = over();
                self.stage = Stage::Sent { answer, over };
                Ok(Poll::Pending)
            }
        }
    }

    // spec: MRTR-14, ELIC-13
    fn read(&self, answer: InputResponse) -> Result<A, AskError> {
        let request = self.request.as_ref().map_err(Clone::clone)?;
        let read = (self.read)(request, answer);
        self.round.settle(&self.key, read.is_ok());
        read.map_err(|reason| AskError::InvalidAnswer {
            key: self.key.clone(),
            reason,
        })
    }

    fn poll_stage(&mut self, cx: &mut Context<'_>) -> Poll<Result<A, AskError>> {
        if matches!(self.stage, Stage::Unasked) {
            match self.ask() {
                Ok(Poll::Ready(answer)) => return Poll::Ready(Ok(answer)),
                Ok(Poll::Pending) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        match &mut self.stage {
            Stage::Open(over) => Pin::new(over).poll(cx).map(|()| Err(AskError::Over)),
            Stage::Sent { answer, over } => match answer.as_mut().poll(cx) {
                Poll::Ready(Ok(answer)) => Poll::Ready(self.read(answer)),
                Poll::Ready(Err(error)) => Poll::Ready(Err(error.into())),
                Poll::Pending => Pin::new(over).poll(cx).map(|()| Err(AskError::Over)),
            },
            Stage::Unasked | Stage::Done => Poll::Pending,
        }
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
            self.round.withdraw(&self.key);
        }
    }
}

impl<A> fmt::Debug for Asking<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Asking({:?})", self.key)
    }
}

/// Questions that are asked in one round: a tuple of up to eight, or a `Vec` of one kind.
pub trait Questions: Send + sealed::Sealed {
    /// Their answers, in the same order.
    type Answers;

    /// Asks all of them.
    #[doc(hidden)]
    fn answers(self) -> impl Future<Output = Result<Self::Answers, AskError>> + Send;
}

mod sealed {
    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait Sealed {}
}

/// A question among others.
struct Slot<A> {
    asking: Asking<A>,
    answer: Option<A>,
}

impl<A> Slot<A> {
    fn new(asking: Asking<A>) -> Self {
        Self {
            asking,
            answer: None,
        }
    }

    /// Whether there is an answer.
    fn poll(&mut self, cx: &mut Context<'_>) -> Result<bool, AskError> {
        if self.answer.is_none()
            && let Poll::Ready(answer) = Pin::new(&mut self.asking).poll(cx)
        {
            self.answer = Some(answer?);
        }
        Ok(self.answer.is_some())
    }
}

macro_rules! tuples {
    ($(($($answer:ident $slot:ident),+);)*) => {
        $(
            impl<$($answer: Send),+> sealed::Sealed for ($(Asking<$answer>,)+) {}

            impl<$($answer: Send),+> Questions for ($(Asking<$answer>,)+) {
                type Answers = ($($answer,)+);

                async fn answers(self) -> Result<Self::Answers, AskError> {
                    let ($($slot,)+) = self;
                    $(let mut $slot = Slot::new($slot);)+
                    poll_fn(|cx| {
                        // All of them, so that all are asked.
                        let mut all = true;
                        $(match $slot.poll(cx) {
                            Ok(there) => all &= there,
                            Err(error) => return Poll::Ready(Err(error)),
                        })+
                        if !all {
                            return Poll::Pending;
                        }
                        match ($($slot.answer.take(),)+) {
                            ($(Some($slot),)+) => Poll::Ready(Ok(($($slot,)+))),
                            _ => Poll::Pending,
                        }
                    })
                    .await
                }
            }
        )*
    };
}

tuples! {
    (A a);
    (A a, B b);
    (A a, B b, C c);
    (A a, B b, C c, D d);
    (A a, B b, C c, D d, E e);
    (A a, B b, C c, D d, E e, F f);
    (A a, B b, C c, D d, E e, F f, G g);
    (A a, B b, C c, D d, E e, F f, G g, H h);
}

impl<A: Send> sealed::Sealed for Vec<Asking<A>> {}

impl<A: Send> Questions for Vec<Asking<A>> {
    type Answers = Vec<A>;

    async fn answers(self) -> Result<Vec<A>, AskError> {
        let mut slots: Vec<_> = self.into_iter().map(Slot::new).collect();
        poll_fn(|cx| {
            let mut all = true;
            for slot in &mut slots {
                match slot.poll(cx) {
                    Ok(there) => all &= there,
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            match all {
                true => Poll::Ready(Ok(slots.drain(..).filter_map(|slot| slot.answer).collect())),
                false => Poll::Pending,
            }
        })
        .await
    }
}
