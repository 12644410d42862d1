//! A call at work: the service's future, and where its notifications gather.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::CatchUnwind;
use mcp_core::front::modern::Inbound;
use mcp_core::wire::{Encoded, Outbound, Wire};
use mcp_core::{BoxFuture, Fault, NoteBuffer, Outlet, Reply, ServerProfile, Service};
use mcp_types::RequestId;

use super::in_flight::{self, Stopped, Ticket};
use crate::sse::encode as sse;

/// Whom an answer goes to, and from whom.
#[derive(Debug)]
pub(super) struct Recipient {
    pub(super) id: RequestId,
    pub(super) profile: Arc<ServerProfile>,
    /// Of the revision that the client speaks.
    pub(super) wire: &'static dyn Wire,
}

impl Recipient {
    /// Writes the answer behind `head`.
    pub(super) fn encode(&self, reply: Reply, head: Vec<u8>) -> Encoded {
        self.wire
            .encode_reply(reply, &Outbound::new(&self.id, &self.profile), head)
    }

    /// Writes the answer as an event behind `head`.
    pub(super) fn encode_event(&self, reply: Reply, mut head: Vec<u8>) -> Encoded {
        // A short answer gets all its room at once.
        head.reserve(sse::MESSAGE_PREFIX.len() + 300 + sse::MESSAGE_SUFFIX.len());
        head.extend_from_slice(sse::MESSAGE_PREFIX);
        let mut text = self.encode(reply, head);
        text.push(sse::MESSAGE_SUFFIX);
        text
    }
}

/// A call at work.
pub(super) struct Call {
    pub(super) to: Recipient,
    handler: Handler,
    pub(super) outlet: Outlet,
    /// Where its notifications gather, when the client wants any.
    pub(super) notes: Option<Arc<NoteBuffer>>,
    /// Its place among the calls of a session, whose client can stop it by a message.
    pub(super) ticket: Option<Ticket>,
}

/// What becomes of a call.
pub(super) enum Outcome {
    Reply(Reply),
    /// Its client waits no longer and gets no answer.
    // spec: CAN-04
    Cancelled,
}

/// The service's future. A panic in it is an error of this call and of nothing else.
struct Handler(CatchUnwind<AssertUnwindSafe<BoxFuture<'static, Reply>>>);

impl Handler {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Reply> {
        self.0
            .poll_unpin(cx)
            .map(|outcome| outcome.unwrap_or_else(|_| panicked()))
    }
}

/// What is told about a panic: nothing of it, it may hold secrets.
fn panicked() -> Reply {
    Reply::Fault(Fault::internal("internal error"))
}

/// What a call shows first.
pub(super) enum Sign {
    End(Outcome),
    /// Notifications.
    Events(Bytes),
}

impl Call {
    /// Begins a call. `notes` is where its notifications gather; it is made here when there is
    /// none and the client wants any.
    pub(super) fn begin<S: Service + ?Sized>(
        service: &S,
        to: Recipient,
        inbound: Box<Inbound>,
        extensions: http::Extensions,
        notes: Option<Arc<NoteBuffer>>,
    ) -> Self {
        let (outlet, notes) = match notes {
            None => inbound.notes(&to.id, sse::FRAMING),
            Some(notes) => {
                let (token, level) = (inbound.progress_token.clone(), inbound.facts.log_level);
                let outlet = Outlet::new(token, level, || Arc::clone(&notes) as _);
                (outlet, Some(notes))
            }
        };
        let serve = AssertUnwindSafe(|| inbound.serve(service, outlet.clone(), extensions));
        let future =
            catch_unwind(serve).unwrap_or_else(|_| Box::pin(std::future::ready(panicked())));
        Self {
            to,
            handler: Handler(AssertUnwindSafe(future).catch_unwind()),
            outlet,
            notes,
            ticket: None,
        }
    }

    /// Works on the call.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Outcome> {
        if let Some(ticket) = &self.ticket
            && let Poll::Ready(why) = ticket.poll_stopped(cx)
        {
            return Poll::Ready(match why {
                Stopped::Cancelled => Outcome::Cancelled,
                Stopped::Ended => Outcome::Reply(in_flight::ended().into()),
            });
        }
        self.handler.poll(cx).map(Outcome::Reply)
    }

    /// Looks whether the answer is there, or the first notifications.
    pub(super) fn poll_sign(&mut self, cx: &mut Context<'_>) -> Poll<Sign> {
        if let Poll::Ready(outcome) = self.poll(cx) {
            return Poll::Ready(Sign::End(outcome));
        }
        match self.notes.as_ref().map(|notes| notes.poll_take(cx)) {
            Some(Poll::Ready(Some(first))) => Poll::Ready(Sign::Events(first)),
            _ => Poll::Pending,
        }
    }
}

/// A buffer for notifications and the answer, written as events.
pub(super) fn new_buffer(wire: &'static dyn Wire) -> NoteBuffer {
    NoteBuffer::new(wire, sse::FRAMING)
}

#[cfg(test)]
mod tests;
