//! The task that assigns received messages to requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use mcp_core::wire::subscription_id;
use mcp_core::{ChannelError, CloseReason, Frame, ServerNotification};
use mcp_types::{Message, Notification, ProtocolVersion, RequestId, Response, escape_line};
use tokio::time::sleep;

use super::shared::{ChannelState, PendingCall};
use crate::lines::Line;
use crate::pipe::{Ended, Pipe, excerpt};

/// Time during which messages are still read after a write has failed.
const READ_AFTER_WRITE_ERROR: Duration = Duration::from_secs(1);

/// Routes messages until the input ends, and then closes the channel.
pub(super) async fn run(
    mut pipe: Pipe,
    shared: Arc<ChannelState>,
    close_reason: impl Future<Output = CloseReason>,
) {
    let mut written = None;
    loop {
        tokio::select! {
            biased;
            batch = pipe.incoming.recv() => match batch {
                Some(batch) => batch.into_iter().for_each(|line| shared.route_line(line)),
                None => break,
            },
            ended = pipe.writer.ended(), if written.is_none() => {
                shared.written.close(());
                written = Some(ended);
            }
            () = sleep(READ_AFTER_WRITE_ERROR), if matches!(written, Some(Err(_))) => break,
        }
    }
    let ended = match written {
        Some(Err(error)) => Err(error),
        _ => pipe.reader.ended().await,
    };
    let reason = match close_reason.await {
        CloseReason::Remote => pipe_close_reason(ended),
        reason => reason,
    };
    shared.close(&reason);
}

fn pipe_close_reason(ended: Ended) -> CloseReason {
    match ended {
        Ok(()) => CloseReason::Remote,
        Err(error) => CloseReason::broken(error),
    }
}

impl ChannelState {
    fn route_line(&self, line: Line) {
        match line {
            Line::Text(message) => self.route_message(message),
            Line::TooLong(head) => {
                let limit = self.line_limit;
                tracing::warn!(
                    peer = &*self.peer,
                    limit,
                    line = excerpt(&head),
                    "a line is too long"
                );
                if let Some(call) = self.remove_only_call() {
                    call.mailbox.fail(ChannelError::TooLarge { limit });
                }
            }
        }
    }

    fn route_message(&self, message: Bytes) {
        let frame = Frame::new(message.clone());
        match Message::parse(&message) {
            Ok(Message::Response(response)) => self.route_response(&response, frame),
            Ok(Message::Notification(notification)) => {
                self.route_notification(&notification, frame)
            }
            Ok(Message::Request(request)) => {
                if !self.route_inbound(frame) {
                    tracing::warn!(
                        peer = &*self.peer,
                        method = &*request.method,
                        "a request of the server is dropped: `inbound` is not read"
                    );
                }
            }
            Ok(_) => {}
            Err(error) => {
                let line = excerpt(&message);
                tracing::warn!(
                    peer = &*self.peer,
                    error = %mcp_types::escaped(&error),
                    line,
                    "a line is not a message"
                );
                let response = error.as_response(&message);
                let answered = response.and_then(|response| response.id);
                let answered = answered.or_else(|| error.id().cloned());
                match answered.and_then(|id| self.pending.lock().remove(&id)) {
                    // The caller parses the message again and reports the error.
                    Some(call) if error.id().is_some() => call.mailbox.finish(Some(frame)),
                    Some(call) => {
                        let reason = format!("{error}; the line begins: {}", escape_line(&line));
                        call.mailbox.fail(ChannelError::Malformed(reason));
                    }
                    None => *self.unread_line.lock() = Some(line),
                }
            }
        }
    }

    // spec: BASE-06, BASE-11, CAN-06
    fn route_response(&self, response: &Response<'_>, frame: Frame) {
        let call = match &response.id {
            Some(id) => {
                let mut pending = self.pending.lock();
                let exact = pending.remove(id);
                exact.or_else(|| pending.remove(&id.spelled_number()?))
            }
            None => self.remove_only_call(),
        };
        if call.is_some() {
            self.unread_line.lock().take();
        }
        match (call, &response.id) {
            (Some(call), _) => call.mailbox.finish(Some(frame)),
            (None, Some(id)) if self.was_used(id) => {
                tracing::debug!(peer = &*self.peer, id = %mcp_types::escaped(&id), "a response arrives after its call has ended");
            }
            (None, _) => {
                tracing::debug!(
                    peer = &*self.peer,
                    line = excerpt(&frame.message),
                    "a response to no request is ignored"
                );
            }
        }
    }

    fn was_used(&self, id: &RequestId) -> bool {
        let latest = self.latest_id.load(Ordering::Relaxed);
        matches!(id, RequestId::Number(number) if *number <= latest)
    }

    fn route_notification(&self, notification: &Notification<'_>, frame: Frame) {
        match self.recipient(notification) {
            Some(NotificationTarget::Call(call)) => {
                let dropped = call.mailbox.push(frame);
                if dropped > 0 {
                    tracing::warn!(
                        peer = &*self.peer,
                        dropped,
                        "notifications are dropped: the caller reads too slowly"
                    );
                }
            }
            Some(NotificationTarget::EndedSubscription(call)) => call.mailbox.finish(Some(frame)),
            None => {
                if !self.route_inbound(frame) {
                    let method = &*notification.method;
                    tracing::debug!(
                        peer = &*self.peer,
                        method,
                        "a notification is dropped: `inbound` is not read"
                    );
                }
            }
        }
    }

    /// Returns the request that a notification belongs to.
    fn recipient(&self, notification: &Notification<'_>) -> Option<NotificationTarget> {
        let version = *self.version.lock();
        // Before negotiation the version is unknown. Progress is the same in all versions.
        let version = version.unwrap_or(ProtocolVersion::LATEST);
        let decoded = ServerNotification::decode(notification, version);
        if let Some(ServerNotification::Progress { token, .. }) = &decoded {
            // A request's progress token is its id.
            return self.pending_call(token.as_id());
        }
        if version.is_modern() {
            // spec: CAN-09
            if let Some(ServerNotification::Cancelled(cancelled)) = &decoded {
                let call = self.pending.lock().remove(cancelled.request_id.as_ref()?);
                return call.map(NotificationTarget::EndedSubscription);
            }
            // spec: STDIO-09, SUB-07
            if let Some(subscription) = subscription_id(notification) {
                return self.pending_call(&subscription);
            }
        }
        // These name no request. With a single pending call they belong to it: the caller reads them before the
        // response. Otherwise the order between the two is not known.
        let is_of_call = matches!(
            &decoded,
            Some(ServerNotification::Log(_) | ServerNotification::Other { .. })
        );
        if is_of_call {
            let pending = self.pending.lock();
            let (_, call) = only_call(&pending)?;
            return Some(NotificationTarget::Call(call.clone()));
        }
        None
    }

    fn pending_call(&self, id: &RequestId) -> Option<NotificationTarget> {
        let call = self.pending.lock().get(id).cloned();
        call.map(NotificationTarget::Call)
    }

    /// Queues a message that belongs to no request. Returns whether `inbound` was called.
    fn route_inbound(&self, frame: Frame) -> bool {
        let is_claimed = self.inbound_claimed.load(Ordering::Relaxed);
        if is_claimed && self.inbound.push(frame) > 0 {
            tracing::warn!(
                peer = &*self.peer,
                "messages are dropped: `inbound` is read too slowly"
            );
        }
        is_claimed
    }

    /// Removes the pending call if there is exactly one. An error without a request id must belong
    /// to it.
    fn remove_only_call(&self) -> Option<PendingCall> {
        let mut pending = self.pending.lock();
        let id = only_call(&pending)?.0.clone();
        pending.remove(&id)
    }
}

/// Returns the pending call if there is exactly one. Subscriptions are not calls.
fn only_call(pending: &HashMap<RequestId, PendingCall>) -> Option<(&RequestId, &PendingCall)> {
    let mut calls = pending.iter().filter(|(_, call)| !call.is_subscription);
    let only = calls.next()?;
    calls.next().is_none().then_some(only)
}

/// The request that a notification belongs to.
enum NotificationTarget {
    Call(PendingCall),
    /// The notification ends this subscription.
    EndedSubscription(PendingCall),
}
