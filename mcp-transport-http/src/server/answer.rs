//! One request, one response: JSON when the call ends in silence, events when it speaks or takes
//! its time.
//!
//! The call is polled inside of the response future, without a task and without a channel. Only
//! once there is something to stream does it move into a task of its own, where a client that
//! does not read cannot hold it up.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::select;
use http::{Extensions, Response, StatusCode, request};
use mcp_core::front::modern::Inbound;
use mcp_core::{NoteBuffer, Principal, Reply, Service};
use tokio::runtime::Handle;
use tokio::time::sleep;

use super::call::{Call, Outcome, Recipient, Sign};
use super::config::Config;
use super::in_flight::{Stopped, Ticket};
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
}

impl Manner {
    /// Of requests that stand for themselves.
    pub(super) fn alone(mode: AnswerMode) -> Self {
        Self {
            mode,
            leaving: Leaving::Cancels,
            notes: None,
            ticket: None,
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
        Sign::End(Outcome::Reply(reply)) => answer_at_once(call, reply, manner.mode),
        Sign::End(Outcome::Cancelled) => respond::no_events(),
        Sign::Events(first) => respond::events(here.stream(call, first)),
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
fn answer_at_once(call: Call, reply: Reply, mode: AnswerMode) -> Response<Body> {
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
    respond::finished_events(call.to.encode_event(reply, notes.into()))
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
}

impl InPlace<'_> {
    async fn first_sign(&mut self, patience: Duration) -> Sign {
        match &mut self.call {
            Some(call) => call.first_sign(patience).await,
            None => Sign::End(Outcome::Cancelled),
        }
    }

    fn stream(&mut self, call: Call, first: Bytes) -> stream::Events {
        let shutdown = self.shutdown.take();
        stream::start(call, first, self.config, shutdown, self.leaving)
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
