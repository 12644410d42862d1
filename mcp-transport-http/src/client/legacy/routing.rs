//! Delivery of received messages: each goes to the call that it belongs to, or to the session's
//! inbox.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_core::Frame;
use mcp_types::{Message, Method, ParseError, ProgressToken, ProtocolVersion, RequestId};

use super::ended::refuses_session;
use super::session::{EndReason, PendingCall, Session};

/// The recipient of a message. "Own" means the call whose stream carried the message.
enum Destination {
    OwnResponse,
    /// A response by which the server refuses the session.
    OwnRefusal,
    Response(Arc<PendingCall>),
    OwnNotification,
    Notification(Arc<PendingCall>),
    /// Messages that belong to no call.
    Inbox,
    Discard,
}

impl Session {
    /// Delivers a message. `stream_owner` is the call whose stream carried it.
    pub(super) async fn deliver(&self, stream_owner: Option<&PendingCall>, frame: Frame) {
        let allows_batch = self.version().is_some_and(ProtocolVersion::allows_batch);
        if allows_batch && Message::parse(&frame.message).err() == Some(ParseError::Batch) {
            // spec: BASE-14
            for message in Message::split_batch(&frame.message).unwrap_or_default() {
                let mut part = Frame::new(frame.message.slice_ref(message.as_bytes()));
                part.status = frame.status;
                self.deliver_one(stream_owner, part).await;
            }
            return;
        }
        self.deliver_one(stream_owner, frame).await;
    }

    async fn deliver_one(&self, stream_owner: Option<&PendingCall>, frame: Frame) {
        match self.destination(stream_owner, &frame) {
            Destination::Response(call) => call.respond(frame),
            Destination::OwnResponse => {
                if let Some(call) = stream_owner {
                    call.respond(frame);
                }
            }
            Destination::OwnRefusal => {
                if let Some(call) = stream_owner {
                    call.respond(frame);
                }
                // The next call opens a new session.
                self.end(EndReason::Expired);
            }
            Destination::OwnNotification => {
                if let Some(call) = stream_owner {
                    call.queue.push(frame).await;
                }
            }
            // Waiting for the consumer of another call would block this stream, so a notification
            // that does not fit is dropped.
            Destination::Notification(call) => drop(call.queue.try_push(frame)),
            Destination::Inbox if self.inbox_claimed.load(Ordering::Acquire) => {
                self.inbox.push(frame).await;
            }
            // The inbox has no consumer yet. Waiting could block forever.
            Destination::Inbox => drop(self.inbox.try_push(frame)),
            Destination::Discard => {}
        }
    }

    fn destination(&self, stream_owner: Option<&PendingCall>, frame: &Frame) -> Destination {
        let (message, status) = (&*frame.message, frame.status);
        let own_response = if stream_owner.is_some() {
            Destination::OwnResponse
        } else {
            Destination::Discard
        };
        match Message::parse(message) {
            Ok(Message::Response(response)) => match response.id {
                Some(id) if stream_owner.is_none_or(|call| call.id != id) => {
                    let found = self.pending_call(&id, stream_owner.is_none());
                    if let Some(call) = found {
                        return Destination::Response(call);
                    }
                    // A response with an unknown id answers a call that was cancelled, or the server
                    // invented the id. The stream continues: the right response may follow. Only an
                    // error status answers this POST whatever the id is.
                    // spec: BASE-06, CAN-06, COMPAT-11
                    let is_refusal = response.outcome.is_err()
                        && status.is_some_and(|status| !status.is_success());
                    match stream_owner {
                        Some(_) if is_refusal => Destination::OwnResponse,
                        // The caller ignores it, and reports it when no other response follows.
                        Some(_) => Destination::OwnNotification,
                        None => Destination::Discard,
                    }
                }
                _ if stream_owner.is_some()
                    && self.may_expire()
                    && response.outcome.as_ref().err().is_some_and(refuses_session) =>
                {
                    Destination::OwnRefusal
                }
                _ => own_response,
            },
            Ok(Message::Notification(notification)) => {
                match Method::from_name(&notification.method) {
                    Some(Method::Progress) => {
                        let params = &notification.params;
                        let token = params.required::<ProgressToken>("progressToken").ok();
                        self.progress_destination(stream_owner, token.as_ref())
                    }
                    // Log messages, and extension notifications.
                    // spec: HTTP-SL-03
                    Some(Method::LogMessage) | None if stream_owner.is_some() => {
                        Destination::OwnNotification
                    }
                    // HTTP+SSE has one stream. With a single call they belong to it.
                    Some(Method::LogMessage) | None if self.is_http_sse() => self
                        .only_call()
                        .map_or(Destination::Inbox, Destination::Notification),
                    _ => Destination::Inbox,
                }
            }
            Ok(Message::Request(request)) => {
                // On the standalone stream, the request of a session with a single call belongs to it.
                match stream_owner {
                    Some(call) => call.add_request(&request.id),
                    None => {
                        if let Some(call) = self.only_call() {
                            call.add_request(&request.id);
                        }
                    }
                }
                Destination::Inbox
            }
            Ok(_) => Destination::Inbox,
            // The caller parses the message again and reports the error.
            Err(_) => own_response,
        }
    }

    /// Returns the call that a response with this id answers. With `is_tolerant`, the id may be a number as text: on
    /// the stream of a call, the caller decides about it when no other response follows.
    fn pending_call(&self, id: &RequestId, is_tolerant: bool) -> Option<Arc<PendingCall>> {
        let calls = self.calls.lock();
        let exact = calls.get(id);
        let spelled = || calls.get(&id.spelled_number().filter(|_| is_tolerant)?);
        exact.or_else(spelled).cloned()
    }

    fn progress_destination(
        &self,
        stream_owner: Option<&PendingCall>,
        token: Option<&ProgressToken>,
    ) -> Destination {
        let Some(token) = token else {
            return Destination::Discard;
        };
        let has_token = |call: &PendingCall| call.progress_token.as_ref() == Some(token);
        if stream_owner.is_some_and(has_token) {
            return Destination::OwnNotification;
        }
        let calls = self.calls.lock();
        let other = calls.values().find(|call| has_token(call));
        other
            .cloned()
            .map_or(Destination::Inbox, Destination::Notification)
    }
}
