//! A call of an HTTP client: the core's call, and its entry among the calls of a session.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use mcp_core::wire::EncodedReply;
use mcp_core::{
    Extensions, InboundRequest, NotificationBuffer, Reply, ReplyTarget, RunningCall, Service,
};
use mcp_types::ProtocolVersion;

use super::running_calls::{self, CallPermit, StopReason};
use crate::sse::encode as sse;

/// A running call of an HTTP client.
pub(super) struct HttpCall {
    call: RunningCall,
    /// Entry among a session's running calls.
    permit: Option<CallPermit>,
}

/// End of a call.
pub(super) enum CallEnd {
    Reply(Reply),
    Stopped(StopReason),
}

impl CallEnd {
    /// Returns the reply to send. The client does not expect one after it cancelled the call or deleted
    /// its session.
    // spec: CAN-04
    pub(super) fn into_reply(self) -> Option<Reply> {
        match self {
            Self::Reply(reply) => Some(reply),
            Self::Stopped(StopReason::SessionEnded) => Some(running_calls::session_ended().into()),
            Self::Stopped(StopReason::Cancelled | StopReason::SessionDeleted) => None,
        }
    }
}

impl HttpCall {
    /// Starts a call. Its notifications go to `notifications`. Without one, the call creates a
    /// buffer when the client requested notifications.
    pub(super) fn start(
        service: &dyn Service,
        target: ReplyTarget,
        request: InboundRequest,
        extensions: Extensions,
        notifications: Option<Arc<NotificationBuffer>>,
        permit: Option<CallPermit>,
    ) -> Self {
        let framing = sse::FRAMING;
        let call = RunningCall::start(service, request, target, framing, notifications, extensions);
        Self { call, permit }
    }

    pub(super) fn target(&self) -> &ReplyTarget {
        self.call.target()
    }

    pub(super) fn notifications(&self) -> Option<&Arc<NotificationBuffer>> {
        self.call.notifications()
    }

    /// Polls the call until it has a reply or must stop.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<CallEnd> {
        if let Poll::Ready(reply) = self.call.poll_reply(cx) {
            return Poll::Ready(CallEnd::Reply(reply));
        }
        let Some(permit) = &mut self.permit else {
            return Poll::Pending;
        };
        let reason = ready!(Pin::new(permit).poll(cx));
        self.close();
        Poll::Ready(CallEnd::Stopped(reason))
    }

    /// Waits until the call has a reply or must stop.
    pub(super) async fn end(&mut self) -> CallEnd {
        poll_fn(|cx| self.poll_end(cx)).await
    }

    /// Polls for the first notifications.
    pub(super) fn poll_notifications(&self, cx: &mut Context<'_>) -> Poll<Bytes> {
        match self.notifications().map(|buffer| buffer.poll_drain(cx)) {
            Some(Poll::Ready(Some(events))) => Poll::Ready(events),
            _ => Poll::Pending,
        }
    }

    /// Discards all further notifications.
    pub(super) fn close(&self) {
        self.call.close();
    }
}

/// Creates a buffer for messages that are encoded as events.
// spec: HTTP-SL-12
pub(super) fn new_buffer(version: ProtocolVersion) -> NotificationBuffer {
    NotificationBuffer::new(version, sse::FRAMING)
}

/// Encodes `reply` as an event behind `events`.
pub(super) fn encode_event(
    target: &ReplyTarget,
    reply: Reply,
    mut events: Vec<u8>,
) -> EncodedReply {
    events.extend_from_slice(sse::MESSAGE_PREFIX);
    let mut encoded = target.encode(reply, events);
    encoded.push(sse::MESSAGE_SUFFIX);
    encoded
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use mcp_core::{ResultBody, ServerProfile};
    use mcp_types::{Implementation, RawObject};

    use super::*;

    fn target() -> ReplyTarget {
        let profile = Arc::new(ServerProfile::new(Implementation::new("test", "1.0.0")));
        ReplyTarget {
            id: 1.into(),
            profile,
            version: ProtocolVersion::LATEST,
        }
    }

    #[test]
    fn encode_event_json_with_line_breaks_is_one_event() {
        let raw = RawObject::from_text("{\n  \"a\": \"x\\ny\",\r\n  \"b\": [\n1]\n}").unwrap();
        let before = b"event: message\ndata: {}\n\n".to_vec();
        let encoded = encode_event(&target(), ResultBody::Other(raw).into(), before).into_bytes();
        let encoded = std::str::from_utf8(&encoded).unwrap();
        let (_, last) = encoded.split_once("\n\n").unwrap();
        let data = last
            .strip_prefix("event: message\ndata: ")
            .unwrap()
            .strip_suffix("\n\n")
            .unwrap();
        assert!(!data.contains(['\n', '\r']));
        let message: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(message["result"]["a"], "x\ny");
        assert_eq!(message["result"]["b"][0], 1);
    }

    #[test]
    fn encode_reply_alone_is_json() {
        let raw = RawObject::from_text(r#"{"a":1}"#).unwrap();
        let encoded = target()
            .encode(ResultBody::Other(raw).into(), Vec::new())
            .into_bytes();
        assert!(encoded.starts_with(br#"{"jsonrpc":"2.0","id":1,"result":{"#));
        assert_ne!(encoded, Bytes::new());
    }
}
