//! Observation of the messages that the layers of a client do not see.

use std::sync::Arc;

use mcp_core::{
    CancelHook, ClientRequest, Connection, Exchange, Fault, Observation, ObservedMessage, Observer,
    SessionRequest,
};
use mcp_types::{
    InputRequest, Meta, Method, Notification, ProtocolVersion, RawObject, Request, RequestId,
};
use serde::Deserialize;
use tracing::Span;

use super::ClientInner;

impl ClientInner {
    fn observer(&self) -> Option<&Arc<dyn Observer>> {
        self.layers.observer()
    }

    fn connection(&self) -> Option<&Connection> {
        let connection = &self.connection;
        connection
            .get_or_init(|| self.channel.connection())
            .as_ref()
    }

    /// Adds the connection to a call, for its layers.
    pub(crate) fn describe_connection(&self, exchange: &mut Exchange) {
        if let Some(connection) = self.connection() {
            exchange.extensions.transport = Some(connection.transport);
            exchange.extensions.insert(connection.clone());
        }
    }

    /// Starts the observation of a request that layers do not see. Adds keys to its `_meta`.
    pub(crate) fn observe_request(
        &self,
        request: &ClientRequest,
        id: &RequestId,
        version: ProtocolVersion,
        meta: &mut Option<Meta>,
    ) -> Option<Box<dyn Observation>> {
        if matches!(request, ClientRequest::Call(_)) {
            return None;
        }
        let uri = match request {
            ClientRequest::Session(
                SessionRequest::Subscribe(params) | SessionRequest::Unsubscribe(params),
            ) => Some(&*params.uri),
            _ => None,
        };
        let mut message = ObservedMessage::sent(request.method_name(), version);
        (message.id, message.uri) = (Some(id), uri);
        message.connection = self.connection();
        let observation = self.observer()?.message(&message);
        *meta = Some(observation.inject(meta.take().unwrap_or_default()));
        Some(observation)
    }

    /// Starts the observation of a notification that is sent.
    pub(crate) fn observe_notification(&self, method: &str) -> Option<Box<dyn Observation>> {
        let mut message = ObservedMessage::sent(method, self.version());
        message.connection = self.connection();
        Some(self.observer()?.message(&message))
    }

    /// Returns a hook that observes a request's cancellation, inside the present span.
    pub(crate) fn cancel_hook(&self, version: ProtocolVersion) -> Option<CancelHook> {
        let observer = Arc::clone(self.observer()?);
        let connection = self.connection().cloned();
        let span = Span::current();
        Some(Arc::new(move || {
            let mut message = ObservedMessage::sent(Method::Cancelled.as_str(), version);
            message.connection = connection.as_ref();
            let observation = span.in_scope(|| observer.message(&message));
            let meta = observation.inject(Meta::default());
            observation.end(Ok(()));
            Some(meta).filter(|meta| !meta.is_empty())
        }))
    }

    /// Observes a server notification.
    pub(crate) fn observe_server_notification(&self, notification: &Notification<'_>) {
        let Some(observer) = self.observer() else {
            return;
        };
        let params = &notification.params;
        let meta = params.object("_meta").ok().flatten();
        let is_update = notification.method == Method::ResourceUpdated.as_str();
        let uri: Option<String> = params.required("uri").ok().filter(|_| is_update);
        let mut message = ObservedMessage::received(&notification.method, self.version());
        (message.meta, message.uri) = (meta.as_ref(), uri.as_deref());
        message.connection = self.connection();
        observer.message(&message).end(Ok(()));
    }

    /// Starts the observation of a server's request in a session.
    pub(crate) fn observe_server_request(
        &self,
        request: &Request<'_>,
    ) -> Option<Box<dyn Observation>> {
        let observer = self.observer()?;
        let meta = request.params.object("_meta").ok().flatten();
        let mut message = ObservedMessage::received(&request.method, self.version());
        (message.id, message.meta) = (Some(&request.id), meta.as_ref());
        message.connection = self.connection();
        Some(observer.message(&message))
    }

    /// Starts the observation of a request for input in a result.
    pub(crate) fn observe_input(&self, request: &InputRequest) -> Option<Box<dyn Observation>> {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "_meta")]
            meta: Option<RawObject>,
        }

        let observer = self.observer()?;
        let params = request.params_to_raw().ok();
        let meta = params.and_then(|params| params.parse::<Params>().ok()?.meta);
        let mut message = ObservedMessage::received(request.method(), self.version());
        (message.meta, message.connection) = (meta.as_ref(), self.connection());
        Some(observer.message(&message))
    }

    /// Observes the session that was opened, in place of the former one. `is_lost`: the server has
    /// forgotten the former one.
    pub(crate) fn observe_session(&self, version: ProtocolVersion, is_lost: bool) {
        let Some(observer) = self.observer() else {
            return;
        };
        let session = observer.session(version, true, self.connection());
        let former = self.observed_session.lock().replace(session);
        if let Some(former) = former {
            let fault = Fault::InvalidRequest("the session has expired".into());
            former.end(if is_lost { Err(&fault) } else { Ok(()) });
        }
    }

    /// Ends the observation of the session.
    pub(crate) fn end_observed_session(&self) {
        if let Some(session) = self.observed_session.lock().take() {
            session.end(Ok(()));
        }
    }
}
