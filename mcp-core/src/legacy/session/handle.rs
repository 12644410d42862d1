//! Handles client messages.

use std::sync::Arc;
use std::task::Waker;

use mcp_types::{Cancelled, Method, Notification, Request, Response};

use super::Session;
use crate::call::BackChannelError;
use crate::changes::Subscriber;
use crate::inbound::InboundRequest;
use crate::message::{ClientNotification, ClientRequest, Fault, Reply, ResultBody, SessionRequest};
use crate::wire;

/// The outcome of a client's request.
#[derive(Debug)]
#[non_exhaustive]
pub enum HandledRequest {
    /// A call for the service.
    Call(InboundRequest),
    /// The reply of the session itself.
    Reply(Reply),
}

/// The outcome of a client's notification.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum HandledNotification {
    /// The notification needs no further action.
    Ignored,
    /// The session is ready. A store should save it.
    Ready,
    /// The client has cancelled a call.
    Cancel(Cancelled),
    /// A notification for the service.
    Other(ClientNotification),
}

impl Session {
    /// Handles a client request. Session requests are answered at once, also before
    /// `notifications/initialized`, because the order of these two messages is easily lost.
    ///
    /// `subscriber` is called for `resources/subscribe` only.
    ///
    /// # Errors
    ///
    /// Returns the [`Fault`] to answer the request with.
    pub fn handle_request(
        &self,
        request: &Request<'_>,
        subscriber: impl Fn() -> Subscriber,
    ) -> Result<HandledRequest, Fault> {
        let observer = self.observer.as_deref();
        let decoded = wire::decode_request(request, self.version).inspect_err(|fault| {
            if let Some(observer) = observer {
                observer.refused(request, fault);
            }
        })?;
        match decoded.request {
            ClientRequest::Call(_) => Ok(HandledRequest::Call(InboundRequest::from_legacy(
                request.id.clone(),
                decoded,
                self.facts(),
            ))),
            ClientRequest::Session(asked) => {
                let handle = || self.handle_session_request(&asked, subscriber);
                match observer {
                    Some(observer) => {
                        observer.request(&request.id, &asked, decoded.meta.as_ref(), handle)
                    }
                    None => handle(),
                }?;
                Ok(HandledRequest::Reply(ResultBody::Empty.into()))
            }
            other => Err(Fault::no_such_method(other.method_name())),
        }
    }

    fn handle_session_request(
        &self,
        request: &SessionRequest,
        subscriber: impl Fn() -> Subscriber,
    ) -> Result<(), Fault> {
        match request {
            // spec: PING-01
            SessionRequest::Ping => Ok(()),
            SessionRequest::Initialize(_) => Err(Fault::InvalidRequest(
                "this session is initialized already; open another one".into(),
            )),
            // spec: LOG-01, LOG-03
            SessionRequest::SetLevel(_) if self.profile.capabilities.logging.is_none() => {
                Err(Fault::no_such_method(Method::SetLevel.as_str()))
            }
            SessionRequest::SetLevel(level) => {
                let mut state = self.state.lock();
                Arc::make_mut(&mut state.facts).log_level = Some(*level);
                Ok(())
            }
            SessionRequest::Subscribe(params) => self.subscribe(&params.uri, &subscriber()),
            SessionRequest::Unsubscribe(params) => self.unsubscribe(&params.uri),
        }
    }

    /// Handles a client notification.
    pub fn handle_notification(&self, notification: &Notification<'_>) -> HandledNotification {
        let decoded = ClientNotification::decode(notification, self.version);
        // Layers see the extension notifications.
        if let (Some(observer), Some(known)) = (&self.observer, &decoded)
            && !matches!(known, ClientNotification::Other { .. })
        {
            observer.notification(notification);
        }
        match decoded {
            // spec: LIFE-03
            Some(ClientNotification::Initialized) => {
                let reader = self.state.lock().set_ready();
                reader.into_iter().for_each(Waker::wake);
                HandledNotification::Ready
            }
            // spec: CAN-07
            Some(ClientNotification::Cancelled(cancelled)) => {
                HandledNotification::Cancel(cancelled)
            }
            Some(ClientNotification::Progress { token, .. }) => {
                let now = (self.limits.clock)();
                if let Some(sent) = &mut self.state.lock().sent {
                    sent.touch(token.as_id(), now);
                }
                HandledNotification::Ignored
            }
            Some(other @ ClientNotification::Other { .. }) => HandledNotification::Other(other),
            _ => HandledNotification::Ignored,
        }
    }

    /// Handles a client response. Returns false if no request was pending under its id.
    // spec: CAN-06
    pub fn handle_response(&self, response: &Response<'_>) -> bool {
        let Some(id) = &response.id else {
            return false;
        };
        let sent = self.remove_sent(id);
        let Some(sent) = sent.or_else(|| self.remove_sent(&id.spelled_number()?)) else {
            return false;
        };
        let decoded = wire::read_response(&sent.request, response, self.version)
            .map_err(|error| BackChannelError::Malformed(error.to_string()));
        sent.settle(decoded);
        true
    }
}
