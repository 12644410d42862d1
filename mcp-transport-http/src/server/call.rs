//! A call of HTTP: it may be one of a session, and what it says are events.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use mcp_core::InboundRequest;
use mcp_core::wire::{EncodedReply, Wire};
use mcp_core::{Extensions, NotificationBuffer, Reply, Service};
use mcp_core::{ReplyTarget, RunningCall};

use super::in_flight::{self, Stopped, Ticket};
use crate::sse::encode as sse;

/// A call at work.
pub(super) struct Call {
    pub(super) running: RunningCall,
    /// Its place among the calls of a session, whose client can stop it by a message.
    ticket: Option<Ticket>,
}

/// What becomes of a call.
pub(super) enum Outcome {
    Reply(Reply),
    Stopped(Stopped),
}

impl Outcome {
    /// What its client is told. One that waits no longer gets no answer.
    // spec: CAN-04
    pub(super) fn reply(self) -> Option<Reply> {
        match self {
            Self::Reply(reply) => Some(reply),
            Self::Stopped(Stopped::Ended) => Some(in_flight::ended().into()),
            Self::Stopped(Stopped::Cancelled) => None,
        }
    }
}

impl Call {
    /// Begins a call. `notes` is where its notifications gather; it is made here when there is
    /// none and the client wants any.
    pub(super) fn begin(
        service: &dyn Service,
        to: ReplyTarget,
        inbound: InboundRequest,
        extensions: Extensions,
        notes: Option<Arc<NotificationBuffer>>,
        ticket: Option<Ticket>,
    ) -> Self {
        let running = match notes {
            None => RunningCall::start(service, inbound, to, sse::FRAMING, extensions),
            Some(notes) => RunningCall::start_with_buffer(service, inbound, to, notes, extensions),
        };
        Self { running, ticket }
    }

    /// Whom its answer goes to.
    pub(super) fn to(&self) -> &ReplyTarget {
        self.running.target()
    }

    /// Works on the call, until it is answered or must not go on.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        if let Poll::Ready(reply) = self.running.poll_reply(cx) {
            return Poll::Ready(Outcome::Reply(reply));
        }
        let Some(ticket) = &self.ticket else {
            return Poll::Pending;
        };
        let why = ready!(ticket.poll_stopped(cx));
        self.running.close();
        Poll::Ready(Outcome::Stopped(why))
    }

    /// The first notifications of a call that goes on.
    pub(super) fn poll_notes(&self, cx: &mut Context<'_>) -> Poll<Bytes> {
        match self
            .running
            .notifications()
            .map(|notes| notes.poll_drain(cx))
        {
            Some(Poll::Ready(Some(first))) => Poll::Ready(first),
            _ => Poll::Pending,
        }
    }
}

/// A buffer for notifications and the answer, written as events.
pub(super) fn new_buffer(wire: &'static dyn Wire) -> NotificationBuffer {
    NotificationBuffer::new(wire, sse::FRAMING)
}

/// Writes an answer as an event behind `head`.
pub(super) fn encode_event(to: &ReplyTarget, reply: Reply, mut head: Vec<u8>) -> EncodedReply {
    // A short answer gets all its room at once.
    head.reserve(sse::MESSAGE_PREFIX.len() + 300 + sse::MESSAGE_SUFFIX.len());
    head.extend_from_slice(sse::MESSAGE_PREFIX);
    let mut text = to.encode(reply, head);
    text.push(sse::MESSAGE_SUFFIX);
    text
}

#[cfg(test)]
mod tests;
