//! A call at work: the service's future, and where its notifications gather.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::CatchUnwind;
use mcp_core::front::modern::Inbound;
use mcp_core::wire::{Encoded, MODERN, Outbound};
use mcp_core::{BoxFuture, Fault, NoteBuffer, Outlet, Reply, ServerProfile, Service};
use mcp_types::RequestId;

use crate::sse::encode as sse;

/// Whom an answer goes to, and from whom.
#[derive(Debug)]
pub(super) struct Recipient {
    pub(super) id: RequestId,
    pub(super) profile: Arc<ServerProfile>,
}

impl Recipient {
    /// Writes the answer behind `head`.
    pub(super) fn encode(&self, reply: Reply, head: Vec<u8>) -> Encoded {
        MODERN.encode_reply(reply, &Outbound::new(&self.id, &self.profile), head)
    }

    /// Writes the answer as an event behind `head`.
    pub(super) fn encode_event(&self, reply: Reply, mut head: Vec<u8>) -> Encoded {
        head.extend_from_slice(sse::MESSAGE_PREFIX);
        let mut text = self.encode(reply, head);
        text.push(sse::MESSAGE_SUFFIX);
        text
    }
}

/// A call at work.
pub(super) struct Call {
    pub(super) to: Recipient,
    pub(super) handler: Handler,
    pub(super) outlet: Outlet,
    /// Where its notifications gather, when the client wants any.
    pub(super) notes: Option<Arc<NoteBuffer>>,
}

/// The service's future. A panic in it is an error of this call and of nothing else.
pub(super) struct Handler(CatchUnwind<AssertUnwindSafe<BoxFuture<'static, Reply>>>);

impl Handler {
    pub(super) fn poll(&mut self, cx: &mut std::task::Context<'_>) -> Poll<Reply> {
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
    Answer(Reply),
    /// Notifications, or nothing for too long.
    Events(Bytes),
}

impl Call {
    pub(super) fn begin<S: Service + ?Sized>(
        service: &S,
        to: Recipient,
        inbound: Box<Inbound>,
        extensions: http::Extensions,
    ) -> Self {
        let (outlet, notes) = inbound.notes(&to.id, sse::FRAMING);
        let serve = AssertUnwindSafe(|| inbound.serve(service, outlet.clone(), extensions));
        let future =
            catch_unwind(serve).unwrap_or_else(|_| Box::pin(std::future::ready(panicked())));
        Self {
            to,
            handler: Handler(AssertUnwindSafe(future).catch_unwind()),
            outlet,
            notes,
        }
    }

    /// Works until the answer is there, or until it is time for a stream. The timer is made when
    /// the call makes us wait, not before.
    pub(super) async fn first_sign(&mut self, patience: Duration) -> Sign {
        let mut timer = None;
        std::future::poll_fn(|cx| {
            if let Poll::Ready(reply) = self.handler.poll(cx) {
                return Poll::Ready(Sign::Answer(reply));
            }
            if let Some(notes) = &self.notes
                && let Poll::Ready(Some(first)) = notes.poll_take(cx)
            {
                return Poll::Ready(Sign::Events(first));
            }
            let timer = timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
            timer.poll_unpin(cx).map(|()| Sign::Events(Bytes::new()))
        })
        .await
    }
}

/// A buffer for notifications and the answer, written as events.
pub(super) fn new_buffer() -> NoteBuffer {
    NoteBuffer::new(MODERN, sse::FRAMING)
}

#[cfg(test)]
mod tests;
