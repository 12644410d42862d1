//! The task that handles a legacy server's requests and notifications. Requests are answered by
//! the same handlers as the modern era's input requests.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::StreamExt;
use http::StatusCode;
use mcp_core::{
    Backoff, ChannelError, ClientResponse, Fault, Frames, MirroredHeaders, Observation,
    OneWayMessage, ServerNotification, ServerRequest,
};
use mcp_types::{Message, Notification, Request, RequestId, escaped};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument, Span};

use crate::client::{Client, ClientInner};
use crate::notifications::{Change, QueuedNotification};

/// Requests that are answered concurrently. Further ones are refused.
const MAX_REQUESTS: usize = 32;

/// The time after which a server may repeat a refused request.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Refusals that are sent concurrently. Further requests are ignored.
const MAX_REFUSALS: usize = 32;

/// Timeout of sending a response, with all attempts.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// Delays before a response is sent again.
const RESPONSE_RETRY: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// Spawns the dispatcher if the channel has messages for it. It ends with the session or with the
/// client.
pub(crate) fn spawn(client: &Client) {
    let Some(frames) = client.inner.channel.inbound() else {
        return;
    };
    let dispatcher = Dispatcher {
        client: Arc::downgrade(&client.inner),
        responses: JoinSet::new(),
        running: HashMap::new(),
    };
    let task = tokio::spawn(dispatcher.run(frames));
    let task = AbortOnDropHandle::new(task);
    *client.inner.dispatcher.lock() = Some(task);
}

struct Dispatcher {
    client: Weak<ClientInner>,
    responses: JoinSet<RequestId>,
    running: HashMap<RequestId, AbortHandle>,
}

impl Dispatcher {
    async fn run(mut self, mut frames: Frames) {
        loop {
            tokio::select! {
                biased;
                frame = frames.next() => match frame {
                    Some(Ok(frame)) => self.handle_message(&frame.message),
                    Some(Err(ChannelError::Broken { .. })) => self.handle_gap(),
                    // An unreadable message belongs to no request.
                    Some(Err(_)) => {}
                    None => return,
                },
                Some(responded) = self.responses.join_next() => {
                    if let Ok(id) = responded {
                        self.running.remove(&id);
                    }
                }
            }
        }
    }

    /// Messages of the server may have been lost.
    fn handle_gap(&self) {
        if let Some(inner) = self.client.upgrade() {
            let filter = inner.resource_subscriptions.full_filter();
            inner.handle_change(Change::Missed(filter));
        }
    }

    fn handle_message(&mut self, message: &[u8]) {
        let Some(inner) = self.client.upgrade() else {
            return;
        };
        match Message::parse(message) {
            Ok(Message::Request(request)) => self.handle_request(&inner, &request),
            Ok(Message::Notification(notification)) => {
                self.handle_notification(&inner, &notification)
            }
            _ => {}
        }
    }

    fn handle_notification(&mut self, inner: &ClientInner, notification: &Notification<'_>) {
        let decoded = ServerNotification::decode(notification, inner.version());
        if decoded.is_some() {
            inner.observe_server_notification(notification);
        }
        match decoded {
            // spec: CAN-04, CAN-05
            Some(ServerNotification::Cancelled(cancelled)) => {
                let id = cancelled.request_id;
                if let Some(task) = id.and_then(|id| self.running.remove(&id)) {
                    task.abort();
                }
            }
            Some(_) if !inner.inputs.layers.is_empty() => {
                let params = &notification.params;
                inner.notifications.push(QueuedNotification {
                    method: (&*notification.method).into(),
                    params: (params.iter().len() > 0).then(|| params.to_object()),
                });
            }
            Some(notification) => inner.handle_notification(notification),
            None => {}
        }
    }

    fn handle_request(&mut self, inner: &ClientInner, request: &Request<'_>) {
        if self.responses.len() >= MAX_REQUESTS + MAX_REFUSALS {
            return;
        }
        let version = inner.version();
        let decoded = match ServerRequest::decode(request, version) {
            Ok(_) if self.responses.len() >= MAX_REQUESTS => Err(Fault::Overloaded {
                message: format!("this client answers {MAX_REQUESTS} requests already").into(),
                retry_after: RETRY_AFTER,
            }),
            decoded => decoded,
        };
        let responder = Responder {
            client: self.client.clone(),
            id: request.id.clone(),
            mirrored: MirroredHeaders::new(version, &request.method, None),
        };
        let observation = inner.observe_server_request(request);
        let span = observation
            .as_ref()
            .map_or_else(Span::none, |observation| observation.span());
        let running = responder.run(decoded, observation).instrument(span);
        let task = self.responses.spawn(running);
        // A server must not reuse a pending id. If it does, the newer request can be cancelled.
        self.running.insert(request.id.clone(), task);
    }
}

/// Answers one request. It does not keep the client alive while a handler runs.
struct Responder {
    client: Weak<ClientInner>,
    id: RequestId,
    mirrored: MirroredHeaders,
}

impl Responder {
    async fn run(
        self,
        request: Result<ServerRequest, Fault>,
        observation: Option<Box<dyn Observation>>,
    ) -> RequestId {
        let response = match request {
            Ok(request) => self.respond(request).await,
            Err(fault) => ClientResponse::Fault(fault),
        };
        if let Some(observation) = observation {
            observation.end(match &response {
                ClientResponse::Fault(fault) => Err(fault),
                _ => Ok(()),
            });
        }
        self.send(response).await
    }

    /// Sends the response. A call waits for it at the server: it fails with this error when the response cannot be
    /// delivered.
    async fn send(self, response: ClientResponse) -> RequestId {
        let Some(message) = OneWayMessage::response(&response, &self.id, self.mirrored) else {
            return self.id;
        };
        if let Err(error) = deliver(&self.client, &message).await {
            tracing::warn!(error = %escaped(&error), "the answer to a request of the server was not delivered");
            // No call waits for a pong.
            let is_awaited = !matches!(response, ClientResponse::Pong);
            if let Some(inner) = self.client.upgrade().filter(|_| is_awaited) {
                let source = error.into();
                let undelivered = ChannelError::NotDelivered { source };
                inner.channel.fail_call(&self.id, undelivered);
            }
        }
        self.id
    }

    async fn respond(&self, request: ServerRequest) -> ClientResponse {
        let ServerRequest::Input(request) = request else {
            return ClientResponse::Pong;
        };
        let Some(inner) = self.client.upgrade() else {
            return ClientResponse::Fault(Fault::internal("the client is closed"));
        };
        let inputs = inner.inputs.clone();
        let declared = inner.profile.capabilities.clone();
        let (asker, version) = (inner.asker(), inner.version());
        let _open_request = inner.open_requests.clone();
        drop(inner);
        match inputs.answer(request, asker, &declared, version).await {
            Ok(response) => ClientResponse::Input(response),
            Err(error) => ClientResponse::Fault(error.into_fault()),
        }
    }
}

/// Sends a message until the server has received it or is gone. It is sent again when it may not have arrived: a server
/// ignores the second one.
///
/// # Errors
///
/// Returns the error of an attempt that another one does not change, or of the last one.
async fn deliver(client: &Weak<ClientInner>, message: &OneWayMessage) -> Result<(), ChannelError> {
    let deadline = Instant::now() + RESPONSE_TIMEOUT;
    let mut backoff = Backoff::new(RESPONSE_RETRY.0, RESPONSE_RETRY.1);
    let mut may_have_arrived = false;
    loop {
        let Some(inner) = client.upgrade() else {
            return Ok(());
        };
        let sending = inner.channel.notify(message.clone());
        drop(inner);
        let error = match timeout_at(deadline, sending).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error,
            Err(elapsed) => ChannelError::broken(elapsed),
        };
        let status = match &error {
            ChannelError::Status { status, .. } => Some(*status),
            _ => None,
        };
        // A server that no longer waits for the answer refuses it, because it has received it before. Other refusals are not
        // about the message: the token, the session, or the size.
        if may_have_arrived && status == Some(StatusCode::BAD_REQUEST) {
            return Ok(());
        }
        let next = Instant::now() + backoff.next_delay();
        if !is_passing(&error) || next >= deadline {
            return Err(error);
        }
        may_have_arrived |= match &error {
            ChannelError::Connect { .. } => false,
            _ => status != Some(StatusCode::TOO_MANY_REQUESTS),
        };
        sleep_until(next).await;
    }
}

/// Returns whether another attempt may deliver a message.
fn is_passing(error: &ChannelError) -> bool {
    match error {
        ChannelError::Connect { .. } | ChannelError::Broken { .. } => true,
        ChannelError::Status { status, .. } => {
            status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
        }
        _ => false,
    }
}
