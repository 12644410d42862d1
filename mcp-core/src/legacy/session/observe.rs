//! Observes a session and the messages that it handles.

use std::sync::{Arc, OnceLock};

use mcp_types::{Meta, Method, Notification, Request};
use parking_lot::Mutex;

use crate::call::Service;
use crate::connection::{Connection, SessionId, Transport};
use crate::message::{Fault, ServerNotification, ServerRequest, SessionRequest};
use crate::observe::{NotificationObserver, Observation, ObservedMessage, Observer};
use mcp_types::{ProtocolVersion, RawObject, RequestId};

/// The observer of a session. Few servers have one.
pub(super) struct SessionObserver {
    observer: Arc<dyn Observer>,
    version: ProtocolVersion,
    connection: Option<&'static Connection>,
    /// The id of the session over HTTP.
    id: OnceLock<SessionId>,
    /// `None` after the end of the session, and for a session that another node has opened.
    session: Mutex<Option<Box<dyn Observation>>>,
}

impl SessionObserver {
    pub(super) fn new(
        service: &dyn Service,
        version: ProtocolVersion,
        transport: Option<Transport>,
    ) -> Option<Box<Self>> {
        Some(Box::new(Self {
            observer: service.observer()?,
            version,
            connection: transport.map(Connection::of),
            id: OnceLock::new(),
            session: Mutex::new(None),
        }))
    }

    /// Sets the session id, once.
    pub(super) fn set_id(&self, id: SessionId) {
        let _ = self.id.set(id);
    }

    /// Starts the observation of the whole session.
    pub(super) fn open(&self) {
        let session = self.observer.session(self.version, false, self.connection);
        *self.session.lock() = Some(session);
    }

    /// Ends the observation of the session.
    pub(super) fn close(&self) {
        if let Some(session) = self.session.lock().take() {
            session.end(Ok(()));
        }
    }

    /// Starts the observation of `initialize`. The revision is that of the session.
    pub(super) fn initialize(&self, id: Option<&RequestId>, meta: Option<&RawObject>) {
        let mut message = self.received(Method::Initialize.as_str());
        (message.id, message.meta) = (id, meta);
        self.observer.message(&message).end(Ok(()));
    }

    /// Observes a request that the session answers at once.
    pub(super) fn request(
        &self,
        id: &RequestId,
        request: &SessionRequest,
        meta: Option<&RawObject>,
        handle: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let uri = match request {
            SessionRequest::Subscribe(params) | SessionRequest::Unsubscribe(params) => {
                Some(&*params.uri)
            }
            _ => None,
        };
        let mut message = self.received(request.method().as_str());
        (message.id, message.uri, message.meta) = (Some(id), uri, meta);
        let observation = self.observer.message(&message);
        let span = observation.span();
        let result = span.in_scope(handle);
        observation.end(result.as_ref().map(|_| ()));
        result
    }

    /// Observes a request that the session refuses.
    pub(super) fn refused(&self, request: &Request<'_>, fault: &Fault) {
        let meta = request.params.object("_meta").ok().flatten();
        let mut message = self.received(&request.method);
        (message.id, message.meta) = (Some(&request.id), meta.as_ref());
        let observation = self.observer.message(&message);
        observation.end(Err(fault));
    }

    /// Observes a notification that the session handles at once.
    pub(super) fn notification(&self, notification: &Notification<'_>) {
        let meta = notification.params.object("_meta").ok().flatten();
        let mut message = self.received(&notification.method);
        message.meta = meta.as_ref();
        self.observer.message(&message).end(Ok(()));
    }

    /// Starts to observe a notification to the client. Returns it with the keys that are added
    /// to `_meta`.
    pub(super) fn notify(
        &self,
        notification: &ServerNotification,
    ) -> (Box<dyn Observation>, Option<Meta>) {
        let observer = NotificationObserver {
            observer: self.observer.clone(),
            version: self.version,
            connection: self.connection,
            session: self.id.get().cloned(),
        };
        observer.start(notification)
    }

    /// Starts to observe a request to the client.
    pub(super) fn send(&self, id: &RequestId, request: &ServerRequest) -> Box<dyn Observation> {
        let mut message = ObservedMessage::sent(request.method_name(), self.version);
        (message.id, message.session) = (Some(id), self.id.get());
        message.connection = self.connection;
        self.observer.message(&message)
    }

    fn received<'a>(&'a self, method: &'a str) -> ObservedMessage<'a> {
        let mut message = ObservedMessage::received(method, self.version);
        (message.session, message.connection) = (self.id.get(), self.connection);
        message
    }
}
