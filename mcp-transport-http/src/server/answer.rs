//! One request, one response: JSON when the call ends in silence, events when it speaks or takes
//! its time.
//!
//! The call is polled inside of the response future, without a task and without a channel. Only
//! once there is something to stream does it move into a task of its own, where a client that
//! does not read cannot hold it up.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::select;
use http::{Extensions, Response, StatusCode, request};
use mcp_core::front::modern::Inbound;
use mcp_core::wire::Wire;
use mcp_core::{NoteBuffer, Principal, Reply, Service};
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::call::{Call, Outcome, Recipient, Sign};
use super::config::Config;
use super::in_flight::{Stopped, Ticket};
use super::legacy::{self, Stream};
use super::respond::{self, Body};
use super::sessions::AnswerMode;
use super::stream::{self, Leaving};
use crate::{Shutdown, status};

/// How a request is answered.
#[derive(Debug)]
pub(super) struct Manner {
    pub(super) mode: AnswerMode,
    pub(super) leaving: Leaving,
    /// Where the call's notifications gather, when that is made already.
    pub(super) notes: Option<Arc<NoteBuffer>>,
    /// Its place among the calls of its session.
    pub(super) ticket: Option<Ticket>,
    /// Where its events are kept.
    pub(super) kept: Option<Arc<Stream>>,
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
        }
    }
}

/// Answers a request that may be served.
pub(super) async fn answer<S: Service + ?Sized>(
    service: &S,
    config: &Config,
    to: Recipient,
    mut inbound: Box<Inbound>,
    mut parts: request::Parts,
    manner: Manner,
) -> Response<Body> {
    let mut extensions = std::mem::take(&mut parts.extensions);
    if let Some(gate) = &config.gate
        && let Err(fault) = inbound.admit(gate, extensions.get::<Principal>())
    {
        return respond::fault(to.wire, Some(&to.id), &fault);
    }
    let shutdown = shutdown(&mut extensions, config);
    extensions.insert(parts);
    if inbound.is_listen() {
        lend(&mut inbound, config, shutdown.clone());
    }
    let mut call = Call::begin(service, to, inbound, extensions, manner.notes);
    call.ticket = manner.ticket;
    let mut here = InPlace {
        call: Some(call),
        config,
        shutdown,
        leaving: manner.leaving,
        kept: manner.kept,
    };
    let patience = match manner.mode {
        AnswerMode::Auto => config.streams.commit_after,
        AnswerMode::AlwaysSse => Duration::ZERO,
        AnswerMode::AlwaysJson => Duration::MAX,
    };
    let sign = here.first_sign(patience).await;
    let Some(call) = here.call.take() else {
        return respond::no_events();
    };
    match sign {
        Sign::End(Outcome::Reply(reply)) => {
            let kept = here.kept.take();
            answer_at_once(call, reply, manner.mode, kept, config).await
        }
        Sign::End(Outcome::Cancelled) => respond::no_events(),
        Sign::Events(first) => here.stream(call, first),
    }
}

/// How long changes gather between two rounds of them.
const PACE: Duration = Duration::from_millis(50);

/// Lends a subscription what has a clock: it ends in good order when the server drains, and when
/// its stream has had its time.
// spec: SUB-09
fn lend(inbound: &mut Inbound, config: &Config, shutdown: Option<Shutdown>) {
    let max_age = config.streams.max_age;
    inbound.end_listen_on(async move {
        let draining = pin!(async {
            match shutdown {
                Some(shutdown) => shutdown.draining().await,
                None => pending().await,
            }
        });
        select(draining, pin!(stream::after(max_age))).await;
    });
    inbound.pace_listen(|| Box::pin(sleep(PACE)));
}

/// The answer of a call that did not make us wait.
// spec: HTTP-SM-12, HTTP-SM-14, GAP-12
async fn answer_at_once(
    call: Call,
    reply: Reply,
    mode: AnswerMode,
    kept: Option<Arc<Stream>>,
    config: &Config,
) -> Response<Body> {
    call.outlet.close();
    let status = match (&reply, &call.ticket) {
        (_, Some(ticket)) if ticket.stopped() == Some(Stopped::Ended) => StatusCode::GONE,
        (Reply::Fault(fault), _) => status::of_reply(fault, call.to.wire.version()),
        _ => StatusCode::OK,
    };
    let notes = call.notes.map(|notes| notes.take_now()).unwrap_or_default();
    // An event stream has no status but 200; where the error needs another one, the
    // notifications before it are given up.
    let is_silent = notes.is_empty() && mode != AnswerMode::AlwaysSse;
    if is_silent || status != StatusCode::OK {
        return respond::json(status, call.to.encode(reply, Vec::new()));
    }
    let events = call.to.encode_event(reply, notes.into());
    let Some(kept) = kept else {
        return respond::finished_events(events);
    };
    prime(&kept, call.to.wire).await;
    kept.write(events.into_bytes(), true).await;
    legacy::read_kept(kept, config)
}

/// Gives the client an id to come again with, if it knows such.
// spec: RSM-05
async fn prime(kept: &Stream, wire: &dyn Wire) {
    if wire.version().has_stream_polling() {
        kept.prime().await;
    }
}

/// What ends the streams of this request.
pub(super) fn shutdown(extensions: &mut Extensions, config: &Config) -> Option<Shutdown> {
    extensions
        .remove::<Shutdown>()
        .or_else(|| config.shutdown.clone())
}

/// A call that is polled where it was begun.
struct InPlace<'a> {
    call: Option<Call>,
    config: &'a Config,
    shutdown: Option<Shutdown>,
    leaving: Leaving,
    kept: Option<Arc<Stream>>,
}

impl InPlace<'_> {
    async fn first_sign(&mut self, patience: Duration) -> Sign {
        let Some(call) = &mut self.call else {
            return Sign::End(Outcome::Cancelled);
        };
        let Some(kept) = &self.kept else {
            return call.first_sign(patience).await;
        };
        let mut sign = pin!(call.first_sign(patience));
        poll_fn(|cx| {
            let polled = sign.as_mut().poll(cx);
            if polled.is_pending() && kept.is_released() {
                return Poll::Ready(Sign::Events(Bytes::new()));
            }
            polled
        })
        .await
    }

    fn stream(&mut self, call: Call, first: Bytes) -> Response<Body> {
        let shutdown = self.shutdown.take();
        let Some(kept) = self.kept.take() else {
            let events = stream::start(call, first, self.config, shutdown, self.leaving);
            return respond::events(events);
        };
        let (stream, wire) = (Arc::clone(&kept), call.to.wire);
        stream::start_kept(call, self.config, shutdown, |notes| async move {
            prime(&stream, wire).await;
            stream.follow(first, notes).await;
        });
        legacy::read_kept(kept, self.config)
    }
}

/// The client has gone before there was anything to tell it. A call that is not cancelled by that
/// goes on in a task, unless there is no runtime any more.
// spec: HTTP-SL-07
impl Drop for InPlace<'_> {
    fn drop(&mut self) {
        if self.leaving == Leaving::CancelsNothing
            && let Some(call) = self.call.take()
            && Handle::try_current().is_ok()
        {
            drop(self.stream(call, Bytes::new()));
        }
    }
}

#[cfg(test)]
mod tests;
