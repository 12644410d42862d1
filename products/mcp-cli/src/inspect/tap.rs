//! A channel that keeps all messages.

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::StreamExt as _;
use mcp::core::{
    BoxFuture, Channel, ChannelError, CloseReason, Connection, Frame, Frames, MirroredHeaders,
    OneWayMessage, OutgoingRequest, ServerIdentity, with_causes,
};
use mcp::types::{ProtocolVersion, RequestId};
use serde_json::json;

use super::exchanges::Exchanges;
use super::history::History;
use super::rules::Rules;
use crate::session_file::Side;

tokio::task_local! {
    /// The key of the page's request in whose task a message is sent, or a question is asked.
    static PAGE_REQUEST: Arc<str>;
}

/// Runs a request of the page: its messages and questions carry its key.
pub(super) async fn in_request<F: Future>(key: &str, request: F) -> F::Output {
    PAGE_REQUEST.scope(key.into(), request).await
}

/// Returns the key of the page's request that runs in this task. `None` for what the client sends on its own, and for
/// questions in a legacy session, which do not name their call.
pub(super) fn page_request() -> Option<Arc<str>> {
    PAGE_REQUEST.try_with(Arc::clone).ok()
}

/// A channel whose messages go to the history.
pub(super) struct Tap {
    pub(super) inner: Box<dyn Channel>,
    pub(super) history: Arc<History>,
    pub(super) exchanges: Arc<Exchanges>,
    pub(super) rules: Arc<Rules>,
}

impl Tap {
    fn sent(&self, body: &[u8], mirrored: &MirroredHeaders) {
        // Only what the protocol puts into headers: those of the user may be secrets.
        let mut head = if self.inner.is_pipe() {
            json!({})
        } else {
            json!({
                "version": mirrored.version.as_str(),
                "method": mirrored.method,
                "name": mirrored.name,
            })
        };
        head["call"] = json!(page_request());
        let violations = self.rules.sent(body, mirrored.version);
        violations.write_into(&mut head);
        let number = self.history.add_message(Side::Client, body, &head);
        if !self.inner.is_pipe() {
            self.exchanges.message_sent(body, number);
        }
    }

    fn received(&self, frames: Frames) -> Frames {
        let (history, exchanges) = (self.history.clone(), self.exchanges.clone());
        let rules = self.rules.clone();
        let is_pipe = self.inner.is_pipe();
        let call = page_request();
        Box::pin(frames.inspect(move |frame| match frame {
            Ok(Frame {
                message, status, ..
            }) => {
                let violations = rules.check(message);
                let mut head = if is_pipe {
                    json!({})
                } else {
                    json!({
                        "status": status.map(|status| status.as_u16()),
                        "sse": exchanges.event_of(message),
                    })
                };
                head["call"] = json!(call);
                violations.write_into(&mut head);
                history.add_message(Side::Server, message, &head);
            }
            Err(error) => history.add("failure", json!({"text": with_causes(error)})),
        }))
    }
}

impl Channel for Tap {
    fn call(&self, request: OutgoingRequest) -> Frames {
        self.sent(&request.body, &request.mirrored);
        self.received(self.inner.call(request))
    }

    fn peer(&self) -> Cow<'_, str> {
        self.inner.peer()
    }

    fn identity(&self) -> Option<ServerIdentity> {
        self.inner.identity()
    }

    fn connection(&self) -> Option<Connection> {
        self.inner.connection()
    }

    fn mirrors_arguments(&self) -> bool {
        self.inner.mirrors_arguments()
    }

    fn set_headers(&mut self, headers: http::HeaderMap) {
        self.inner.set_headers(headers);
    }

    fn notify(&self, message: OneWayMessage) -> BoxFuture<'static, Result<(), ChannelError>> {
        self.sent(&message.body, &message.mirrored);
        self.inner.notify(message)
    }

    fn fail_call(&self, id: &RequestId, error: ChannelError) {
        self.inner.fail_call(id, error);
    }

    fn inbound(&self) -> Option<Frames> {
        let frames = self.inner.inbound()?;
        Some(self.received(frames))
    }

    fn inbound_restored(&self) -> BoxFuture<'static, bool> {
        self.inner.inbound_restored()
    }

    fn set_version(&self, version: ProtocolVersion) {
        self.inner.set_version(version);
    }

    fn is_pipe(&self) -> bool {
        self.inner.is_pipe()
    }

    fn reopen(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        self.inner.reopen()
    }

    fn closed(&self) -> BoxFuture<'static, CloseReason> {
        self.inner.closed()
    }

    fn stderr(&self) -> BoxFuture<'static, Option<String>> {
        self.inner.stderr()
    }

    fn close(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        self.inner.close()
    }
}
