//! A running call and its notifications.

use std::fmt;
use std::future::ready;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;

use crate::panic::catch_panic_sync;
use crate::wire::EncodedReply;
use crate::{
    BoxFuture, Extensions, Fault, Framing, InboundRequest, NotificationBuffer, Outlet, Reply,
    ReplyTarget, Service,
};

/// A running call: the future of a service, and the buffer of its notifications.
///
/// The task that carries the messages to the client polls it. Dropping it cancels the call.
///
/// A panic of the service becomes an internal error of this call. The panic message is not sent,
/// because it may contain secrets.
pub struct RunningCall {
    target: ReplyTarget,
    state: CallState,
    outlet: Outlet,
    buffer: Option<Arc<NotificationBuffer>>,
}

enum CallState {
    Running(BoxFuture<'static, Reply>),
    /// The reply, which waits until the notifications before it are drained.
    Replied(Box<EncodedReply>),
    Finished,
}

/// A message of a running call.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallOutput {
    /// Notifications, each in its frame.
    Notifications(Bytes),
    /// The reply, without a frame. It is the last output.
    Reply(EncodedReply),
}

impl RunningCall {
    /// Starts a call. `framing` is written around its notifications.
    pub fn start(
        service: &dyn Service,
        inbound: InboundRequest,
        target: ReplyTarget,
        framing: Framing,
        extensions: Extensions,
    ) -> Self {
        let (outlet, buffer) = inbound.open_outlet(&target.id, framing);
        Self::serve(service, inbound, target, outlet, buffer, extensions)
    }

    /// Starts a call whose notifications are written to `buffer`, as far as the client wants any.
    /// Several calls may share a buffer.
    pub fn start_with_buffer(
        service: &dyn Service,
        inbound: InboundRequest,
        target: ReplyTarget,
        buffer: Arc<NotificationBuffer>,
        extensions: Extensions,
    ) -> Self {
        let (token, level) = inbound.requested_notifications();
        let outlet = Outlet::new(token, level, buffer.clone());
        Self::serve(service, inbound, target, outlet, Some(buffer), extensions)
    }

    fn serve(
        service: &dyn Service,
        inbound: InboundRequest,
        target: ReplyTarget,
        outlet: Outlet,
        buffer: Option<Arc<NotificationBuffer>>,
        extensions: Extensions,
    ) -> Self {
        let serve = || inbound.serve(service, &target.profile, outlet.clone(), extensions);
        let future = catch_panic_sync(serve).unwrap_or_else(|_| Box::pin(ready(panicked())));
        Self {
            target,
            state: CallState::Running(future),
            outlet,
            buffer,
        }
    }

    /// Returns the addressee of the reply.
    pub fn target(&self) -> &ReplyTarget {
        &self.target
    }

    /// Returns the buffer of the notifications, or `None` when the client wants none.
    pub fn notifications(&self) -> Option<&Arc<NotificationBuffer>> {
        self.buffer.as_ref()
    }

    /// Polls the call until its reply is ready. The reply is returned once; afterwards this is
    /// pending.
    // spec: PROG-02
    pub fn poll_reply(&mut self, cx: &mut Context<'_>) -> Poll<Reply> {
        let CallState::Running(future) = &mut self.state else {
            return Poll::Pending;
        };
        let polled = catch_panic_sync(|| future.as_mut().poll(cx));
        let Poll::Ready(reply) = polled.unwrap_or_else(|_| Poll::Ready(panicked())) else {
            return Poll::Pending;
        };
        self.state = CallState::Finished;
        self.close();
        Poll::Ready(reply)
    }

    /// Polls the call until it has output. Notifications come before the reply.
    ///
    /// While the transport cannot send notifications (`accepts_notifications` is false), both wait.
    pub fn poll_output(
        &mut self,
        cx: &mut Context<'_>,
        accepts_notifications: bool,
    ) -> Poll<CallOutput> {
        if let Poll::Ready(reply) = self.poll_reply(cx) {
            let reply = self.target.encode(reply, Vec::new());
            if self.buffer.is_none() {
                return Poll::Ready(CallOutput::Reply(reply));
            }
            self.state = CallState::Replied(Box::new(reply));
        }
        if let Some(buffer) = &self.buffer {
            if !accepts_notifications {
                return Poll::Pending;
            }
            if !buffer.is_empty() {
                return Poll::Ready(CallOutput::Notifications(buffer.drain()));
            }
            if !matches!(self.state, CallState::Replied(_)) {
                // The buffer is empty: this registers the waker.
                let drained = buffer.poll_drain(cx);
                return drained.map(|bytes| CallOutput::Notifications(bytes.unwrap_or_default()));
            }
        }
        match mem::replace(&mut self.state, CallState::Finished) {
            CallState::Replied(reply) => Poll::Ready(CallOutput::Reply(*reply)),
            other => {
                self.state = other;
                Poll::Pending
            }
        }
    }

    /// Marks the reader of the notifications as stalled: reports of progress stop waiting for it.
    pub fn mark_stalled(&self) {
        if let Some(buffer) = &self.buffer {
            buffer.mark_stalled();
        }
    }

    /// Closes the outlet: later notifications are dropped.
    pub fn close(&self) {
        self.outlet.close();
    }
}

impl fmt::Debug for RunningCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningCall")
            .field("id", &self.target.id)
            .finish_non_exhaustive()
    }
}

fn panicked() -> Reply {
    Reply::Fault(Fault::internal("internal error"))
}
