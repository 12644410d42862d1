//! Subscriptions by `subscriptions/listen`: one request whose response stream carries the changes.

use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::{StreamExt, stream};
use mcp_core::wire::{ClientRequestContext, subscription_id};
use mcp_core::{Backoff, ClientRequest, Frames, Observation, Reply, ServerNotification};
use mcp_types::{Message, RequestId, SubscriptionFilter};
use tokio::time::{Instant, timeout, timeout_at};

use super::subscription::{SubscribeOptions, Subscription};
use crate::client::Client;
use crate::client::attempt::{foreign_response_id, send};
use crate::error::{Error, ErrorKind};
use crate::notifications::Change;
use crate::options::{CallTimer, deadline_after};

/// A stream that was open for this time resets the backoff, even without a change.
const HEALTHY: Duration = Duration::from_secs(60);

pub(super) async fn subscribe(
    client: Client,
    requested: SubscriptionFilter,
    options: SubscribeOptions,
) -> Result<Subscription, Error> {
    let request = ListenRequest {
        client,
        requested: requested.clone(),
        options,
    };
    let stream = request.open().await;
    let stream = stream.map_err(|kind| request.error(kind))?;
    let granted = stream.granted.clone();
    let listener = Listener {
        request,
        backoff: Backoff::new(Duration::from_millis(500), Duration::from_secs(30)),
        stream: Some(stream),
    };
    let changes = stream::try_unfold(listener, |mut listener| async move {
        let next = listener.next_change().await?;
        Ok(next.map(|change| (change, listener)))
    });
    Ok(Subscription::new(requested, granted, changes))
}

/// A subscription over all its streams.
struct Listener {
    request: ListenRequest,
    backoff: Backoff,
    /// `None` after the stream broke.
    stream: Option<ListenStream>,
}

/// The `subscriptions/listen` request, which is sent for each stream.
struct ListenRequest {
    client: Client,
    requested: SubscriptionFilter,
    options: SubscribeOptions,
}

/// One acknowledged stream of changes.
struct ListenStream {
    id: RequestId,
    frames: Frames,
    granted: SubscriptionFilter,
    opened: Instant,
    /// Ends with the stream.
    _observation: Option<Box<dyn Observation>>,
}

/// A stream message.
enum ListenEvent {
    Granted(SubscriptionFilter),
    Change(Change),
    /// The server has ended the subscription.
    End,
    Ignored,
}

impl Listener {
    /// Waits for the next change. Returns `None` at the end.
    async fn next_change(&mut self) -> Result<Option<Change>, Error> {
        loop {
            let Some(stream) = &mut self.stream else {
                let reopened = self.reopen().await;
                return reopened.map(Some).map_err(|kind| self.request.error(kind));
            };
            match next_event(&self.request, stream).await {
                Ok(ListenEvent::Change(change)) => {
                    self.backoff.reset();
                    self.request.invalidate_cache(&change);
                    return Ok(Some(change));
                }
                Ok(ListenEvent::End) => return Ok(None),
                Ok(_) => {}
                // spec: SUB-10
                Err(kind) if kind.is_broken() => {
                    if stream.opened.elapsed() >= HEALTHY {
                        self.backoff.reset();
                    }
                    self.stream = None;
                }
                Err(kind) => return Err(self.request.error(kind)),
            }
        }
    }

    /// Opens the stream again after a break. Retries until `retry_for` has passed.
    // spec: SUB-11
    async fn reopen(&mut self) -> Result<Change, ErrorKind> {
        let end = deadline_after(self.request.options.retry_for);
        loop {
            let delay = self.backoff.next_delay();
            let closed = self.request.client.inner.closing.closed();
            if let Ok(reason) = timeout(delay, closed).await {
                return Err(ErrorKind::closed(reason));
            }
            match self.request.open().await {
                Ok(stream) => {
                    let missed = Change::Missed(stream.granted.clone());
                    self.stream = Some(stream);
                    self.request.invalidate_cache(&missed);
                    return Ok(missed);
                }
                Err(kind) if kind.is_transient() && Instant::now() < end => {}
                Err(kind) => return Err(kind),
            }
        }
    }
}

impl ListenRequest {
    /// Sends the request and waits until the server acknowledges it.
    async fn open(&self) -> Result<ListenStream, ErrorKind> {
        let inner = &self.client.inner;
        let timer = CallTimer::start(inner.timeouts, self.options.timeout, None);
        let deadline = timer.deadline();
        let id = RequestId::from(inner.next_id());
        let request = self.to_request();
        let mut meta = None;
        let observation = inner.observe_request(&request, &id, inner.version(), &mut meta);
        let mut context = ClientRequestContext::new(&id, &inner.profile);
        context.meta = meta.as_ref();
        let headers = &self.options.headers;
        let frames = send(inner, &request, inner.version(), &context, headers);
        let mut stream = ListenStream {
            id: id.clone(),
            frames,
            granted: SubscriptionFilter::new(),
            opened: Instant::now(),
            _observation: observation,
        };
        loop {
            let event = next_event(self, &mut stream);
            match timeout_at(deadline, event).await {
                Ok(Ok(ListenEvent::Granted(granted))) => {
                    stream.granted = granted;
                    return Ok(stream);
                }
                Ok(Ok(ListenEvent::End)) => return Err(ErrorKind::NotAcknowledged),
                Ok(Ok(_)) => {}
                Ok(Err(kind)) => return Err(kind),
                Err(_) => return Err(timer.timed_out(deadline)),
            }
        }
    }

    fn wants(&self, change: &Change) -> bool {
        let is_custom = matches!(change, Change::Other { .. });
        change.matches(&self.requested) || (is_custom && self.options.with_extensions)
    }

    fn invalidate_cache(&self, change: &Change) {
        let inner = &self.client.inner;
        inner.cache.invalidate(inner.identity, change);
    }

    fn to_request(&self) -> ClientRequest {
        ClientRequest::Listen(self.requested.clone().into())
    }

    fn error(&self, kind: ErrorKind) -> Error {
        let peer = self.client.inner.channel.peer();
        Error::in_call(&peer, &self.to_request(), kind)
    }
}

/// Waits for the stream's next message.
async fn next_event(
    request: &ListenRequest,
    stream: &mut ListenStream,
) -> Result<ListenEvent, ErrorKind> {
    let inner = &request.client.inner;
    let closed = Box::pin(inner.closing.closed());
    let frame = match select(stream.frames.next(), closed).await {
        Either::Left((Some(frame), _)) => frame.map_err(ErrorKind::Channel)?,
        Either::Left((None, _)) => return Err(ErrorKind::NoResponse),
        Either::Right((reason, _)) => return Err(ErrorKind::closed(reason)),
    };
    match Message::parse(&frame.message).map_err(ErrorKind::InvalidMessage)? {
        Message::Notification(notification) => {
            // spec: SUB-07
            let subscription = subscription_id(&notification);
            if subscription.is_some_and(|id| id != stream.id) {
                return Ok(ListenEvent::Ignored);
            }
            let decoded = ServerNotification::decode(&notification, inner.version());
            if decoded.is_some() {
                inner.observe_server_notification(&notification);
            }
            Ok(match decoded {
                Some(ServerNotification::Acknowledged(granted)) => ListenEvent::Granted(granted),
                // spec: CAN-09, GAP-01
                Some(ServerNotification::Cancelled(cancelled))
                    if cancelled.request_id.as_ref() == Some(&stream.id) =>
                {
                    ListenEvent::End
                }
                Some(ServerNotification::Other { method, params })
                    if inner.handle_custom(&method, params.as_ref()) =>
                {
                    ListenEvent::Ignored
                }
                Some(notification) => {
                    // `handle_custom` has published the others.
                    if !matches!(notification, ServerNotification::Other { .. }) {
                        inner.events.publish(&notification);
                    }
                    match Change::from_notification(notification) {
                        Some(change) if request.wants(&change) => ListenEvent::Change(change),
                        _ => ListenEvent::Ignored,
                    }
                }
                None => ListenEvent::Ignored,
            })
        }
        Message::Response(response) => {
            if foreign_response_id(&response, &stream.id, frame.status).is_some() {
                return Ok(ListenEvent::Ignored);
            }
            let listen = request.to_request();
            let reply = Reply::decode(&listen, &response, inner.version());
            match reply.map_err(ErrorKind::Decode)? {
                // spec: SUB-09, SUB-10
                Reply::Complete { .. } => Ok(ListenEvent::End),
                Reply::Fault(fault) => Err(ErrorKind::from_fault(fault, frame, &inner.versions)),
                _ => Err(ErrorKind::WrongResult),
            }
        }
        _ => Ok(ListenEvent::Ignored),
    }
}
