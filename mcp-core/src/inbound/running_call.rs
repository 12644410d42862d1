//! A running call and its notifications.

use std::fmt;
use std::future::ready;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;

use super::request::InboundRequest;
use crate::call::{NotificationBuffer, NotificationSender, Service};
use crate::connection::{Connection, Extensions};
use crate::message::{Fault, Reply};
use crate::observe::NotificationObserver;
use crate::panic::catch_panic_sync;
use crate::wire::{EncodedReply, Framing, ReplyTarget};

/// A running call: a service's future, and its notification buffer.
///
/// The task that carries the messages to the client polls it. Dropping it cancels the call.
///
/// A panic of the service becomes an internal error of this call, and a panic while its future is
/// dropped has no effect on the transport. The panic message is not sent,
/// because it may contain secrets.
pub struct RunningCall {
    target: ReplyTarget,
    state: CallState,
    notifications: NotificationSender,
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
    /// Starts a call. `framing` is written around its notifications. They go to `buffer`, which several
    /// calls may share. Without one, the call creates a buffer if the client wants notifications.
    pub fn start(
        service: &dyn Service,
        inbound: InboundRequest,
        target: ReplyTarget,
        framing: Framing,
        buffer: Option<Arc<NotificationBuffer>>,
        extensions: Extensions,
    ) -> Self {
        let (mut notifications, buffer) = match buffer {
            Some(buffer) => {
                let notifications = inbound.notifications(&target.profile, buffer.clone());
                (notifications, Some(buffer))
            }
            None => inbound.open_sender(&target.id, framing, &target.profile),
        };
        notifications.observe(|| {
            Some(NotificationObserver {
                observer: service.observer()?,
                version: inbound.version(),
                connection: extensions.transport.map(Connection::of),
                session: extensions.get().cloned(),
            })
        });
        let serve = || inbound.serve(service, &target.profile, notifications.clone(), extensions);
        let future = catch_panic_sync(serve).unwrap_or_else(|_| Box::pin(ready(panicked())));
        Self {
            target,
            state: CallState::Running(future),
            notifications,
            buffer,
        }
    }

    /// Returns the addressee of the reply.
    pub fn target(&self) -> &ReplyTarget {
        &self.target
    }

    /// Returns the notification buffer, or `None` when the client wants none.
    pub fn notifications(&self) -> Option<&Arc<NotificationBuffer>> {
        self.buffer.as_ref()
    }

    /// Polls the call until its reply is ready. The reply is returned once; afterwards this is
    /// pending.
    pub fn poll_reply(&mut self, cx: &mut Context<'_>) -> Poll<Reply> {
        let CallState::Running(future) = &mut self.state else {
            return Poll::Pending;
        };
        let polled = catch_panic_sync(|| future.as_mut().poll(cx));
        let Poll::Ready(reply) = polled.unwrap_or_else(|_| Poll::Ready(panicked())) else {
            return Poll::Pending;
        };
        self.drop_future();
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

    /// Drops the service's future, and catches a panic of the values in it.
    fn drop_future(&mut self) {
        if let CallState::Running(future) = mem::replace(&mut self.state, CallState::Finished) {
            let _ = catch_panic_sync(|| drop(future));
        }
    }

    /// Marks the reader of the notifications as stalled: reports of progress stop waiting for it.
    pub fn mark_stalled(&self) {
        if let Some(buffer) = &self.buffer {
            buffer.mark_stalled();
        }
    }

    /// Closes the notifications: later notifications are dropped.
    pub fn close(&self) {
        self.notifications.close();
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.drop_future();
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

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::{Context, Poll, Waker};

    use futures_util::future::BoxFuture;
    use mcp_types::{Implementation, Page, ProtocolVersion, RequestId};

    use super::RunningCall;
    use crate::call::{Exchange, Service};
    use crate::connection::{ClientContext, Extensions, ServerProfile};
    use crate::inbound::InboundRequest;
    use crate::message::{Call, ClientRequest, Fault, Reply};
    use crate::wire::{DecodedRequest, LINE_FRAMING, ReplyTarget};

    static DROPS: AtomicU32 = AtomicU32::new(0);

    /// A value of a handler that panics when it is dropped.
    struct PanicsOnDrop;

    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            DROPS.fetch_add(1, Ordering::Relaxed);
            panic!("hunter2");
        }
    }

    /// A future that keeps its value after it was ready.
    struct Kept(PanicsOnDrop);

    impl Future for Kept {
        type Output = Reply;

        fn poll(self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Reply> {
            let _ = &self.0;
            Poll::Ready(Reply::Fault(Fault::Deadline))
        }
    }

    struct Server {
        is_ready: bool,
    }

    impl Service for Server {
        fn profile(&self) -> Arc<ServerProfile> {
            Arc::new(ServerProfile::new(Implementation::new("s", "1")))
        }

        fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
            if self.is_ready {
                return Box::pin(Kept(PanicsOnDrop));
            }
            let value = PanicsOnDrop;
            Box::pin(async move {
                pending::<()>().await;
                drop(value);
                ready(Reply::Fault(Fault::Deadline)).await
            })
        }
    }

    #[test]
    fn panic_while_a_call_is_dropped_is_caught() {
        for (drops, is_ready) in [(1, false), (2, true)] {
            let server = Server { is_ready };
            let call = Call::ListTools(Page::default());
            let decoded = DecodedRequest::new(ClientRequest::Call(call));
            let facts = Arc::new(ClientContext::new(ProtocolVersion::LATEST));
            let id = RequestId::from(1);
            let inbound = InboundRequest::from_legacy(id.clone(), decoded, facts);
            let target = ReplyTarget {
                id,
                profile: server.profile(),
                version: ProtocolVersion::LATEST,
            };
            let extensions = Extensions::default();
            let mut running =
                RunningCall::start(&server, inbound, target, LINE_FRAMING, None, extensions);
            let polled = running.poll_reply(&mut Context::from_waker(Waker::noop()));
            assert_eq!(polled.is_ready(), is_ready);
            drop(running);
            assert_eq!(DROPS.load(Ordering::Relaxed), drops);
        }
    }
}
