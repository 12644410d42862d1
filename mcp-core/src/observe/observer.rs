//! Observation of the messages that layers do not see: requests that this library answers, messages
//! that it sends, and sessions.

use std::fmt;
use std::sync::Arc;

use mcp_types::{Meta, ProtocolVersion, RawObject, RequestId};
use tracing::Span;

use crate::connection::{Connection, Extensions, SessionId};
use crate::message::{Fault, ServerNotification};

/// Receives the messages of a server or a client that its layers do not see: the handshake, `ping`,
/// `server/discover`, subscriptions, notifications, and requests to the other side. Telemetry uses
/// it; see [`Middleware::observer`](crate::tower::Middleware::observer).
///
/// The methods run on tasks that read messages, so they must not block.
pub trait Observer: Send + Sync + 'static {
    /// Starts to observe a message.
    fn message(&self, message: &ObservedMessage<'_>) -> Box<dyn Observation>;

    /// Starts the observation of a session (legacy era). `is_client` is true for a session that this
    /// side opens, as a client.
    fn session(
        &self,
        version: ProtocolVersion,
        is_client: bool,
        connection: Option<&Connection>,
    ) -> Box<dyn Observation>;
}

impl fmt::Debug for dyn Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// A running observation. Dropping it without [`end`](Self::end) means that the message was
/// cancelled, or that the session has ended.
pub trait Observation: Send + Sync + 'static {
    /// Returns the span in which the message is handled.
    fn span(&self) -> Span {
        Span::none()
    }

    /// Adds keys to the `_meta` of a message that is sent.
    fn inject(&self, meta: Meta) -> Meta {
        meta
    }

    /// Ends the observation.
    fn end(self: Box<Self>, outcome: Result<(), &Fault>);
}

impl fmt::Debug for dyn Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observation")
    }
}

/// Observes the notifications that a server sends on one stream or connection.
#[derive(Debug)]
pub(crate) struct NotificationObserver {
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) version: ProtocolVersion,
    pub(crate) connection: Option<&'static Connection>,
    pub(crate) session: Option<SessionId>,
}

impl NotificationObserver {
    /// Starts to observe a notification. Returns the observation with the keys that are added to `_meta`.
    pub(crate) fn start(
        &self,
        notification: &ServerNotification,
    ) -> (Box<dyn Observation>, Option<Meta>) {
        let mut message = ObservedMessage::sent(notification.method_name(), self.version);
        (message.uri, message.session) = (notification.uri(), self.session.as_ref());
        message.connection = self.connection;
        let observation = self.observer.message(&message);
        let meta = observation.inject(Meta::default());
        (observation, Some(meta).filter(|meta| !meta.is_empty()))
    }
}

/// A message that layers do not see.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ObservedMessage<'a> {
    /// The method name.
    pub method: &'a str,
    /// The connection's revision.
    pub version: ProtocolVersion,
    /// True for a message that this side sends.
    pub is_sent: bool,
    /// The request id. `None` for a notification.
    pub id: Option<&'a RequestId>,
    /// The URI of the resource that the message names.
    pub uri: Option<&'a str>,
    /// Protocol-level metadata (`_meta`) of a message that was received.
    pub meta: Option<&'a RawObject>,
    /// The connection that carries the message.
    pub connection: Option<&'a Connection>,
    /// The HTTP head of a message that was received.
    pub extensions: Option<&'a Extensions>,
    /// The legacy session of the message, on a server.
    pub session: Option<&'a SessionId>,
}

impl<'a> ObservedMessage<'a> {
    /// A message that was received.
    pub fn received(method: &'a str, version: ProtocolVersion) -> Self {
        Self {
            method,
            version,
            is_sent: false,
            id: None,
            uri: None,
            meta: None,
            connection: None,
            extensions: None,
            session: None,
        }
    }

    /// A message that is sent.
    pub fn sent(method: &'a str, version: ProtocolVersion) -> Self {
        Self {
            is_sent: true,
            ..Self::received(method, version)
        }
    }
}
