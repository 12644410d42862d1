//! One request, one response: JSON when the call ends in silence, events when it speaks or takes
//! its time.
//!
//! The call is polled inside of the response future, without a task and without a channel. Only
//! once there is something to stream does it move into a task of its own, where a client that
//! does not read cannot hold it up.

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, StatusCode, request};
use mcp_core::InboundRequest;
use mcp_core::ReplyTarget;
use mcp_core::wire::Wire;
use mcp_core::{BoxFuture, NotificationBuffer, Principal, Reply, Service};
use tokio::runtime::Handle;
use tokio::time::{Sleep, sleep};

use super::call::{Call, Outcome, encode_event};
use super::config::Config;
use super::in_flight::{Stopped, Ticket};
use super::kept::Kept;
use super::respond::{self, Answer};
use super::sessions::AnswerMode;
use super::stream::{self, Leaving};
use crate::status;

/// What a request has come to.
pub(super) enum Begun {
    /// It is answered.
    Answered(Answer),
    /// It makes us wait.
    Later(Later),
}

/// An answer that is still to come.
pub(super) enum Later {
    /// That of a call at work.
    Call(Box<InPlace>),
    Boxed(BoxFuture<'static, Answer>),
}

impl Begun {
    /// Begins with what may have to wait.
    pub(super) fn with(
        answer: impl Future<Output = Answer> + Send + 'static,
        cx: &mut Context<'_>,
    ) -> Self {
        let mut answer: BoxFuture<'static, _> = Box::pin(answer);
        match answer.as_mut().poll(cx) {
            Poll::Ready(answer) => Self::Answered(answer),
            Poll::Pending => Self::Later(Later::Boxed(answer)),
        }
    }

    /// Begins, and waits until there is an answer.
    pub(super) async fn answer(begin: impl FnOnce(&mut Context<'_>) -> Self) -> Answer {
        let mut begin = Some(begin);
        let begun = poll_fn(|cx| match begin.take() {
            Some(begin) => Poll::Ready(begin(cx)),
            None => Poll::Pending,
        });
        match begun.await {
            Self::Answered(answer) => answer,
            Self::Later(later) => later.await,
        }
    }
}

impl Future for Later {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        let begun = match &mut *self {
            Self::Call(call) => ready!(call.poll_begun(cx)),
            Self::Boxed(answer) => return answer.as_mut().poll(cx),
        };
        match begun {
            Begun::Answered(answer) => Poll::Ready(answer),
            Begun::Later(later) => {
                *self = later;
                Poll::Pending
            }
        }
    }
}

/// How a request is answered.
#[derive(Debug)]
pub(super) struct Manner {
    pub(super) mode: AnswerMode,
    pub(super) leaving: Leaving,
    /// Where the call's notifications gather, when that is made already.
    pub(super) notes: Option<Arc<NotificationBuffer>>,
    /// Its place among the calls of its session.
    pub(super) ticket: Option<Ticket>,
    /// Where its events are kept.
    pub(super) kept: Option<Arc<dyn Kept>>,
    /// The id of its session, which the answer names.
    pub(super) session: Option<HeaderValue>,
}

impl Manner {
    /// Of requests that stand for themselves.
    pub(super) fn alone(mode: AnswerMode) -> Self {
        Self {
            mode,
            leaving: Leaving::Cancels,
            notes: None,
            ticket: None,
            kept: None,
            session: None,
        }
    }
}

/// Begins a call that may be served. One whose answer is there at once needs no room anywhere.
pub(super) fn begin(
    service: &dyn Service,
    config: &Arc<Config>,
    to: ReplyTarget,
    mut inbound: InboundRequest,
    parts: Box<request::Parts>,
    manner: Manner,
    cx: &mut Context<'_>,
) -> Begun {
    if let Some(gate) = &config.gate
        && let Err(fault) = inbound.authorize(gate, parts.extensions.get::<Principal>())
    {
        let answer = respond::fault(to.wire, Some(&to.id), &fault);
        return Begun::Answered(answer.naming(manner.session));
    }
    if inbound.is_subscription() {
        lend(&mut inbound, config);
    }
    let (notes, ticket) = (manner.notes, manner.ticket);
    let mut call = Call::begin(service, to, inbound, parts.into(), notes, ticket);
    if let Poll::Ready(outcome) = call.poll(cx) {
        let answered = answer_at_once(&call, outcome, manner.mode, manner.kept);
        return answered.begun(config, manner.session, cx);
    }
    let mut call = Box::new(InPlace {
        call: Some(call),
        config: Arc::clone(config),
        mode: manner.mode,
        timer: None,
        leaving: manner.leaving,
        kept: manner.kept,
        session: manner.session,
    });
    match call.poll_stream(cx) {
        Poll::Ready(answered) => answered.begun(config, call.session.take(), cx),
        Poll::Pending => Begun::Later(Later::Call(call)),
    }
}

/// The answer of a reply that is there, and that nothing was said before.
pub(super) fn ready_made(mode: AnswerMode, to: &ReplyTarget, reply: Reply) -> Answer {
    match mode {
        AnswerMode::AlwaysSse => respond::finished_events(encode_event(to, reply, respond::room())),
        _ => respond::json(StatusCode::OK, to.encode(reply, respond::room())),
    }
}

/// How a call was answered.
enum Answered {
    Now(Answer),
    /// By events that have to be kept first.
    Kept {
        kept: Arc<dyn Kept>,
        wire: &'static dyn Wire,
        events: Bytes,
    },
}

impl Answered {
    fn begun(
        self,
        config: &Arc<Config>,
        session: Option<HeaderValue>,
        cx: &mut Context<'_>,
    ) -> Begun {
        match self {
            Self::Now(answer) => Begun::Answered(answer.naming(session)),
            Self::Kept { kept, wire, events } => {
                let answer = kept.finish(wire, events, Arc::clone(config));
                Begun::with(async move { answer.await.naming(session) }, cx)
            }
        }
    }
}

/// How long changes gather between two rounds of them.
const PACE: Duration = Duration::from_millis(50);

/// Lends a subscription what has a clock: it ends in good order when the server drains, and when
/// its stream has had its time.
// spec: SUB-09
#[inline(never)]
fn lend(inbound: &mut InboundRequest, config: &Config) {
    let (max_age, shutdown) = (config.streams.max_age, config.ended_by());
    inbound.end_subscription_on(async move {
        let mut draining = pin!(async {
            match shutdown {
                Some(shutdown) => shutdown.draining().await,
                None => pending().await,
            }
        });
        let mut unsupported_legacy = pin!(stream::after(max_age));
        poll_fn(|cx| match draining.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => unsupported_legacy.as_mut().poll(cx),
        })
        .await;
    });
    inbound.pace_subscription(|| Box::pin(sleep(PACE)));
}

/// The answer of a call that did not make us wait.
// spec: HTTP-SM-12, HTTP-SM-14, GAP-12
fn answer_at_once(
    call: &Call,
    outcome: Outcome,
    mode: AnswerMode,
    kept: Option<Arc<dyn Kept>>,
) -> Answered {
    let to = call.to();
    let status = match &outcome {
        Outcome::Stopped(Stopped::Ended) => StatusCode::GONE,
        Outcome::Reply(Reply::Fault(fault)) => status::of_reply(fault, to.wire.version()),
        _ => StatusCode::OK,
    };
    let Some(reply) = outcome.reply() else {
        return Answered::Now(respond::no_events());
    };
    let notes = call.running.notifications().map(|notes| notes.drain());
    let notes = notes.unwrap_or_default();
    // An event stream has no status but 200; where the error needs another one, the
    // notifications before it are given up.
    let is_silent = notes.is_empty() && mode != AnswerMode::AlwaysSse;
    if is_silent || status != StatusCode::OK {
        let text = to.encode(reply, respond::room());
        return Answered::Now(respond::json(status, text));
    }
    let before = match notes.is_empty() {
        true => respond::room(),
        false => notes.into(),
    };
    let events = encode_event(to, reply, before);
    match kept {
        None => Answered::Now(respond::finished_events(events)),
        Some(kept) => Answered::Kept {
            kept,
            wire: to.wire,
            events: events.into_bytes(),
        },
    }
}

/// A call that is polled where it was begun.
pub(super) struct InPlace {
    call: Option<Call>,
    config: Arc<Config>,
    mode: AnswerMode,
    timer: Option<Pin<Box<Sleep>>>,
    leaving: Leaving,
    kept: Option<Arc<dyn Kept>>,
    session: Option<HeaderValue>,
}

impl InPlace {
    /// Works until there is an answer, or something else to wait for.
    fn poll_begun(&mut self, cx: &mut Context<'_>) -> Poll<Begun> {
        let answered = ready!(self.poll_answer(cx));
        Poll::Ready(answered.begun(&self.config, self.session.take(), cx))
    }

    /// Works until the answer is there, or until it is time for a stream.
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Answered> {
        let Some(call) = &mut self.call else {
            return Poll::Ready(Answered::Now(respond::no_events()));
        };
        if let Poll::Ready(outcome) = call.poll(cx) {
            let answered = answer_at_once(call, outcome, self.mode, self.kept.take());
            self.call = None;
            return Poll::Ready(answered);
        }
        self.poll_stream(cx)
    }

    /// The call makes us wait. Works until it is time for a stream.
    fn poll_stream(&mut self, cx: &mut Context<'_>) -> Poll<Answered> {
        let Some(call) = &self.call else {
            return Poll::Ready(Answered::Now(respond::no_events()));
        };
        let first = match call.poll_notes(cx) {
            Poll::Ready(first) => first,
            Poll::Pending => {
                ready!(self.poll_patience(cx));
                Bytes::new()
            }
        };
        Poll::Ready(self.stream(first))
    }

    /// It is time for a stream. The timer is made when the call makes us wait, not before.
    fn poll_patience(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let patience = match self.mode {
            AnswerMode::Auto => self.config.streams.commit_after,
            AnswerMode::AlwaysSse => Duration::ZERO,
            AnswerMode::AlwaysJson => Duration::MAX,
        };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(patience)));
        match &self.kept {
            Some(kept) if kept.is_released() => Poll::Ready(()),
            _ => timer.as_mut().poll(cx),
        }
    }

    /// Moves the call into a task.
    #[inline(never)]
    fn stream(&mut self, first: Bytes) -> Answered {
        let Some(call) = self.call.take() else {
            return Answered::Now(respond::no_events());
        };
        let Some(kept) = self.kept.take() else {
            let events = stream::start(call, first, &self.config, self.leaving);
            return Answered::Now(respond::events(events));
        };
        Answered::Now(kept.follow(call, first, &self.config))
    }
}

/// The client has gone before there was anything to tell it. A call that is not cancelled by that
/// goes on in a task, unless there is no runtime any more.
// spec: HTTP-SL-07
impl Drop for InPlace {
    fn drop(&mut self) {
        if self.leaving == Leaving::CancelsNothing
            && self.call.is_some()
            && Handle::try_current().is_ok()
        {
            drop(self.stream(Bytes::new()));
        }
    }
}

#[cfg(test)]
mod tests;
