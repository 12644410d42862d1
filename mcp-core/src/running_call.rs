//! A call at work: the service's future, and where its notifications gather.

use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;

use crate::panic::catch_panic_sync;
use crate::wire::EncodedReply;
use crate::{
    BoxFuture, Extensions, Fault, Framing, InboundRequest, NotificationBuffer, Outlet, Reply,
    ReplyTarget, Service,
};

/// A call at work. It is polled by whoever carries its messages to the client; dropping it cancels
/// the call.
///
/// A panic of the service is an error of this call and of nothing else. Nothing of it is told: it
/// may hold secrets.
pub struct RunningCall {
    to: ReplyTarget,
    work: Work,
    outlet: Outlet,
    /// Where its notifications gather, when the client wants any.
    notes: Option<Arc<NotificationBuffer>>,
}

enum Work {
    Going(BoxFuture<'static, Reply>),
    /// It waits for the notifications before it.
    Done(Box<EncodedReply>),
    Told,
}

/// What a call at work has to say.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallOutput {
    /// Notifications, each in its frame.
    Notifications(Bytes),
    /// The answer, without a frame. There is nothing after it.
    Reply(EncodedReply),
}

impl RunningCall {
    /// Begins a call. `framing` is what goes around its notifications.
    pub fn start(
        service: &dyn Service,
        inbound: InboundRequest,
        to: ReplyTarget,
        framing: Framing,
        extensions: Extensions,
    ) -> Self {
        let (outlet, notes) = inbound.open_outlet(&to.id, framing);
        Self::serve(service, inbound, to, outlet, notes, extensions)
    }

    /// Begins a call whose notifications gather in `notes`, if the client wants any. Calls may share
    /// a buffer, unless it is made for [what one wants](NotificationBuffer::for_call).
    pub fn start_with_buffer(
        service: &dyn Service,
        inbound: InboundRequest,
        to: ReplyTarget,
        notes: Arc<NotificationBuffer>,
        extensions: Extensions,
    ) -> Self {
        let outlet = match notes.is_for_one_call() {
            true => Outlet::from_buffer(Arc::clone(&notes)),
            false => {
                let (token, level) = inbound.requested_notifications();
                Outlet::new(token, level, || Arc::clone(&notes) as _)
            }
        };
        Self::serve(service, inbound, to, outlet, Some(notes), extensions)
    }

    fn serve(
        service: &dyn Service,
        inbound: InboundRequest,
        to: ReplyTarget,
        outlet: Outlet,
        notes: Option<Arc<NotificationBuffer>>,
        extensions: Extensions,
    ) -> Self {
        let serve = || inbound.serve(service, &to.profile, outlet.clone(), extensions);
        let work = match catch_panic_sync(serve) {
            Ok(reply) => Work::Going(reply),
            Err(_) => Work::Going(Box::pin(ready(panicked()))),
        };
        Self {
            to,
            work,
            outlet,
            notes,
        }
    }

    /// Whom its answer goes to.
    pub fn target(&self) -> &ReplyTarget {
        &self.to
    }

    /// Where its notifications gather, when the client wants any.
    pub fn notifications(&self) -> Option<&Arc<NotificationBuffer>> {
        self.notes.as_ref()
    }

    /// Works on the call until its reply is there, which is given once. Nothing is notified after
    /// it.
    // spec: PROG-02
    pub fn poll_reply(&mut self, cx: &mut Context<'_>) -> Poll<Reply> {
        let Work::Going(going) = &mut self.work else {
            return Poll::Pending;
        };
        let Poll::Ready(reply) = poll(going, cx) else {
            return Poll::Pending;
        };
        self.work = Work::Told;
        self.close();
        Poll::Ready(reply)
    }

    /// Works on the call, until it has something to say. Notifications come before the answer;
    /// while their reader is busy (`takes_notes` is false) both wait.
    pub fn poll_output(&mut self, cx: &mut Context<'_>, takes_notes: bool) -> Poll<CallOutput> {
        if let Poll::Ready(reply) = self.poll_reply(cx) {
            let answer = self.to.encode(reply, Vec::new());
            if self.notes.is_none() {
                return Poll::Ready(CallOutput::Reply(answer));
            }
            self.work = Work::Done(Box::new(answer));
        }
        let is_done = matches!(self.work, Work::Done(_));
        if let Some(notes) = &self.notes {
            if !takes_notes {
                return Poll::Pending;
            }
            if !notes.is_empty() {
                return Poll::Ready(CallOutput::Notifications(notes.drain()));
            }
            if !is_done {
                // Nothing is there: this leaves the waker.
                return notes
                    .poll_drain(cx)
                    .map(|text| CallOutput::Notifications(text.unwrap_or_default()));
            }
        }
        match std::mem::replace(&mut self.work, Work::Told) {
            Work::Done(answer) => Poll::Ready(CallOutput::Reply(*answer)),
            going => {
                self.work = going;
                Poll::Pending
            }
        }
    }

    /// Says that nobody takes the notifications: reports of progress stop waiting for it.
    pub fn mark_stalled(&self) {
        if let Some(notes) = &self.notes {
            notes.mark_stalled();
        }
    }

    /// Nothing is notified from here on: the call is given up.
    pub fn close(&self) {
        self.outlet.close();
    }
}

impl std::fmt::Debug for RunningCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running")
            .field("id", &self.to.id)
            .finish_non_exhaustive()
    }
}

fn poll(reply: &mut BoxFuture<'static, Reply>, cx: &mut Context<'_>) -> Poll<Reply> {
    catch_panic_sync(|| reply.as_mut().poll(cx)).unwrap_or_else(|_| Poll::Ready(panicked()))
}

#[cold]
fn panicked() -> Reply {
    Reply::Fault(Fault::internal("internal error"))
}
