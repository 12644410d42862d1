//! One modern request, one response: JSON when the call ends in silence, events when it speaks or
//! takes its time.
//!
//! The call is polled inside of the response future, without a task and without a channel. Only
//! once there is something to stream does it move into a task of its own, where a client that
//! does not read cannot hold it up.

use std::future::pending;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::select;
use http::{Response, StatusCode, request};
use mcp_core::front::modern::Inbound;
use mcp_core::{Principal, Reply, Service};
use tokio::time::sleep;

use super::call::{Call, Recipient, Sign};
use super::config::Config;
use super::respond::{self, Body};
use super::stream;
use crate::{Shutdown, status};

/// Answers a request that may be served.
pub(super) async fn answer<S: Service + ?Sized>(
    service: &S,
    config: &Config,
    to: Recipient,
    mut inbound: Box<Inbound>,
    mut parts: request::Parts,
) -> Response<Body> {
    let mut extensions = std::mem::take(&mut parts.extensions);
    if let Some(gate) = &config.gate
        && let Err(fault) = inbound.admit(gate, extensions.get::<Principal>())
    {
        return respond::fault(Some(&to.id), &fault);
    }
    let shutdown = extensions
        .remove::<Shutdown>()
        .or_else(|| config.shutdown.clone());
    extensions.insert(parts);
    if inbound.is_listen() {
        lend(&mut inbound, config, shutdown.clone());
    }
    let mut call = Call::begin(service, to, inbound, extensions);
    match call.first_sign(config.streams.commit_after).await {
        Sign::Answer(reply) => answer_at_once(call, reply),
        Sign::Events(first) => respond::events(stream::start(call, first, config, shutdown)),
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
fn answer_at_once(call: Call, reply: Reply) -> Response<Body> {
    call.outlet.close();
    let status = match &reply {
        Reply::Fault(fault) => status::of_reply(fault),
        _ => StatusCode::OK,
    };
    let notes = call.notes.map(|notes| notes.take_now()).unwrap_or_default();
    // An event stream has no status but 200; where the error needs another one, the
    // notifications before it are given up.
    if notes.is_empty() || status != StatusCode::OK {
        return respond::json(status, call.to.encode(reply, Vec::new()));
    }
    respond::finished_events(call.to.encode_event(reply, notes.into()))
}

#[cfg(test)]
mod tests;
