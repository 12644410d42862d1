//! A call at work: the service's future, and where its notifications gather.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use mcp_types::RequestId;

use super::modern::Inbound;
use crate::guard::catch_panic_now;
use crate::wire::{self, Encoded, Outbound, Wire};
use crate::{BoxFuture, Fault, Framing, NoteBuffer, Outlet, Reply, ServerProfile, Service};

/// A call at work. It is polled by whoever carries its messages to the client; dropping it cancels
/// the call.
///
/// A panic of the service is an error of this call and of nothing else. Nothing of it is told: it
/// may hold secrets.
pub struct Running {
    id: RequestId,
    profile: Arc<ServerProfile>,
    wire: &'static dyn Wire,
    work: Work,
    outlet: Outlet,
    /// Where its notifications gather, when the client wants any.
    notes: Option<Arc<NoteBuffer>>,
}

enum Work {
    Going(BoxFuture<'static, Reply>),
    Done(Reply),
    Told,
}

/// What a call at work has to say.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step {
    /// Notifications, each in its frame.
    Notes(Bytes),
    /// The answer, without a frame. There is nothing after it.
    Answer(Encoded),
}

impl Running {
    /// Begins a call. `framing` is what goes around its notifications.
    pub fn begin<S: Service + ?Sized>(
        service: &S,
        inbound: Inbound,
        id: RequestId,
        framing: Framing,
        extensions: http::Extensions,
    ) -> Self {
        let profile = service.profile();
        let wire = wire::of(inbound.version());
        let (outlet, notes) = inbound.notes(&id, framing);
        let serve = || inbound.serve(service, outlet.clone(), extensions);
        let work = match catch_panic_now(serve) {
            Ok(reply) => Work::Going(reply),
            Err(_) => Work::Done(panicked()),
        };
        Self {
            id,
            profile,
            wire,
            work,
            outlet,
            notes,
        }
    }

    /// Works on the call, until it has something to say. Notifications come before the answer;
    /// while their reader is busy (`takes_notes` is false) both wait.
    // spec: PROG-02
    pub fn poll_step(&mut self, cx: &mut Context<'_>, takes_notes: bool) -> Poll<Step> {
        if let Work::Going(reply) = &mut self.work
            && let Poll::Ready(reply) = poll(reply, cx)
        {
            self.outlet.close();
            self.work = Work::Done(reply);
        }
        let is_done = matches!(self.work, Work::Done(_));
        if let Some(notes) = &self.notes {
            if !takes_notes {
                return Poll::Pending;
            }
            if !notes.is_empty() {
                return Poll::Ready(Step::Notes(notes.take_now()));
            }
            if !is_done {
                // Nothing is there: this leaves the waker.
                return notes
                    .poll_take(cx)
                    .map(|text| Step::Notes(text.unwrap_or_default()));
            }
        }
        match std::mem::replace(&mut self.work, Work::Told) {
            Work::Done(reply) => {
                let to = Outbound::new(&self.id, &self.profile);
                Poll::Ready(Step::Answer(self.wire.encode_reply(reply, &to, Vec::new())))
            }
            other => {
                self.work = other;
                Poll::Pending
            }
        }
    }

    /// Says that nobody takes the notifications: reports of progress stop waiting for it.
    pub fn stall(&self) {
        if let Some(notes) = &self.notes {
            notes.stall();
        }
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

fn poll(reply: &mut BoxFuture<'static, Reply>, cx: &mut Context<'_>) -> Poll<Reply> {
    catch_panic_now(|| reply.as_mut().poll(cx)).unwrap_or_else(|_| Poll::Ready(panicked()))
}

fn panicked() -> Reply {
    Reply::Fault(Fault::internal("internal error"))
}
