//! The receiver of webhooks: a service for any HTTP server.

use std::collections::{HashSet, VecDeque};
use std::convert::Infallible;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf as _, Bytes};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Body;
use mcp_core::BoxFuture;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use tower_service::Service;

use crate::clock;
use crate::secret::WebhookSecret;
use crate::wire::{EventOccurrence, RECEIVER_FILE, ReceiverFile, Termination};

/// The largest message.
const MAX_BODY: usize = 256 << 10;
/// The largest difference of clocks, in seconds.
const TOLERANCE: u64 = 300;
/// The ids of messages that are remembered: those of the tolerated time, as far as they fit.
const REMEMBERED: usize = 10_000;

/// A verified message of a server. Its data is untrusted nevertheless.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WebhookEvent {
    /// An event.
    Event {
        /// The id of the subscription.
        subscription: String,
        /// The event.
        event: EventOccurrence,
    },
    /// Events before the next one are lost.
    Gap {
        /// The id of the subscription.
        subscription: String,
        /// The position after the gap.
        cursor: Option<String>,
    },
    /// The server has ended the subscription.
    Terminated {
        /// The id of the subscription.
        subscription: String,
        /// The reason that the server gives.
        reason: String,
    },
}

/// A message that the receiver refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiveError {
    /// The headers of the signature are missing or malformed.
    #[error("the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` are needed")]
    Headers,
    /// The message is more than five minutes old, or from the future.
    #[error("the time of the message is more than five minutes off")]
    Timestamp,
    /// The signature is by no known secret.
    #[error("the signature of the message is not valid")]
    Signature,
    /// The body is no message of this extension.
    #[error("the body is no event")]
    Body,
    /// The body has more than 256 KiB.
    #[error("the body has more than 256 KiB")]
    TooLarge,
}

impl ReceiveError {
    fn status(self) -> StatusCode {
        match self {
            Self::Headers | Self::Body => StatusCode::BAD_REQUEST,
            Self::Timestamp | Self::Signature => StatusCode::UNAUTHORIZED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        }
    }
}

type Handler = dyn Fn(WebhookEvent) -> BoxFuture<'static, bool> + Send + Sync;

/// A receiver of webhooks: a tower service, such as a route of axum. It verifies signatures and times,
/// answers verification challenges, and leaves out repeated messages.
///
/// The handler returns true if it has stored the event; otherwise the server repeats it. Clones share
/// their state.
///
/// # Examples
///
/// ```
/// use axum::Router;
/// use mcp::events::{WebhookEvent, WebhookReceiver, WebhookSecret};
///
/// let secret = WebhookSecret::generate()?;
/// let receiver = WebhookReceiver::new([secret], async |message| {
///     if let WebhookEvent::Event { event, .. } = message {
///         println!("{} {:?}", event.name, event.data);
///     }
///     true
/// });
/// let router: Router = Router::new().route_service("/hooks/orders", receiver);
/// # Ok::<(), mcp::events::NoRandomness>(())
/// ```
#[derive(Clone)]
pub struct WebhookReceiver {
    secrets: Arc<Mutex<Vec<WebhookSecret>>>,
    seen: Arc<Mutex<Seen>>,
    handler: Arc<Handler>,
}

#[derive(Default)]
struct Seen {
    ids: HashSet<String>,
    order: VecDeque<String>,
}

#[derive(Deserialize)]
struct Control {
    #[serde(rename = "type")]
    kind: String,
    challenge: Option<String>,
    cursor: Option<String>,
    #[serde(flatten)]
    termination: Termination,
}

/// A verified body.
enum Verified {
    Challenge(String),
    Message(WebhookEvent),
    Repeated,
}

impl WebhookReceiver {
    /// A receiver of messages that one of the secrets has signed.
    pub fn new<F, Fut>(secrets: impl IntoIterator<Item = WebhookSecret>, handler: F) -> Self
    where
        F: Fn(WebhookEvent) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = bool> + Send + 'static,
    {
        Self {
            secrets: Arc::new(Mutex::new(secrets.into_iter().collect())),
            seen: Arc::default(),
            handler: Arc::new(move |message| Box::pin(handler(message))),
        }
    }

    /// The path of the file that lists the receivers of a host:
    /// `/.well-known/mcp-webhook-receiver.json`.
    pub const FILE: &'static str = RECEIVER_FILE;

    /// Creates the file that lists the receivers of a host. A server may read it instead of sending a
    /// challenge. A path that ends with a slash includes all paths below it.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::Router;
    /// use axum::routing::get;
    /// use mcp::events::WebhookReceiver;
    ///
    /// let file = WebhookReceiver::file(["/hooks/"]);
    /// assert_eq!(file, r#"{"receivers":["/hooks/"]}"#);
    /// let router: Router = Router::new().route(WebhookReceiver::FILE, get(async || file));
    /// ```
    pub fn file(receivers: impl IntoIterator<Item = impl Into<String>>) -> String {
        let file = ReceiverFile {
            receivers: receivers.into_iter().map(Into::into).collect(),
        };
        json!(file).to_string()
    }

    /// Replaces the secrets. During a rotation, both the old and the new one are needed.
    pub fn set_secrets(&self, secrets: impl IntoIterator<Item = WebhookSecret>) {
        *self.secrets.lock() = secrets.into_iter().collect();
    }

    /// Handles one message, for HTTP servers without tower. Returns the status and the body of the
    /// response.
    pub async fn receive(&self, headers: &HeaderMap, body: &[u8]) -> (StatusCode, String) {
        match self.verify(headers, body) {
            Err(error) => (error.status(), error.to_string()),
            Ok(Verified::Challenge(challenge)) => (
                StatusCode::OK,
                json!({ "challenge": challenge }).to_string(),
            ),
            Ok(Verified::Repeated) => (StatusCode::OK, String::new()),
            Ok(Verified::Message(message)) => {
                let is_stored = (self.handler)(message).await;
                if is_stored {
                    self.remember(header(headers, "webhook-id").unwrap_or_default());
                    (StatusCode::OK, String::new())
                } else {
                    (StatusCode::SERVICE_UNAVAILABLE, String::new())
                }
            }
        }
    }

    fn verify(&self, headers: &HeaderMap, body: &[u8]) -> Result<Verified, ReceiveError> {
        if body.len() > MAX_BODY {
            return Err(ReceiveError::TooLarge);
        }
        let required = |name| header(headers, name).ok_or(ReceiveError::Headers);
        let id = required("webhook-id")?;
        let timestamp = required("webhook-timestamp")?;
        let timestamp: u64 = timestamp.parse().map_err(|_| ReceiveError::Headers)?;
        let signatures = required("webhook-signature")?;
        let is_valid =
            |secret: &WebhookSecret| secret.verify(id, timestamp, body, signatures).is_ok();
        if !self.secrets.lock().iter().any(is_valid) {
            return Err(ReceiveError::Signature);
        }
        if (clock::now() / 1000).abs_diff(timestamp) > TOLERANCE {
            return Err(ReceiveError::Timestamp);
        }
        if self.seen.lock().ids.contains(id) {
            return Ok(Verified::Repeated);
        }
        let subscription = header(headers, "x-mcp-subscription-id")
            .unwrap_or_default()
            .to_owned();
        read(body, subscription)
    }

    fn remember(&self, id: &str) {
        let mut seen = self.seen.lock();
        if seen.ids.insert(id.to_owned()) {
            seen.order.push_back(id.to_owned());
            if seen.order.len() > REMEMBERED
                && let Some(oldest) = seen.order.pop_front()
            {
                seen.ids.remove(&oldest);
            }
        }
    }
}

fn read(body: &[u8], subscription: String) -> Result<Verified, ReceiveError> {
    if let Ok(control) = serde_json::from_slice::<Control>(body) {
        let message = match (&*control.kind, control.challenge) {
            ("verification", Some(challenge)) => return Ok(Verified::Challenge(challenge)),
            ("gap", _) => WebhookEvent::Gap {
                subscription,
                cursor: control.cursor,
            },
            ("terminated", _) => WebhookEvent::Terminated {
                subscription,
                reason: control.termination.reason(),
            },
            _ => return Err(ReceiveError::Body),
        };
        return Ok(Verified::Message(message));
    }
    let event = serde_json::from_slice(body).map_err(|_| ReceiveError::Body)?;
    Ok(Verified::Message(WebhookEvent::Event {
        subscription,
        event,
    }))
}

/// Returns a header that occurs once and has at most 4 KiB.
fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    (values.next().is_none() && value.len() <= 4096).then_some(value)
}

/// The response of a [`WebhookReceiver`].
pub struct ReceiverFuture(BoxFuture<'static, Result<Response<String>, Infallible>>);

impl Future for ReceiverFuture {
    type Output = Result<Response<String>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for ReceiverFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverFuture").finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for WebhookReceiver
where
    B: Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<String>;
    type Error = Infallible;
    type Future = ReceiverFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ReceiverFuture {
        let receiver = self.clone();
        ReceiverFuture(Box::pin(async move {
            let (head, body) = request.into_parts();
            let (status, text) = match (head.method, collect(body).await) {
                (Method::POST, Ok(body)) => receiver.receive(&head.headers, &body).await,
                (Method::POST, Err(error)) => (error.status(), error.to_string()),
                _ => (StatusCode::METHOD_NOT_ALLOWED, String::new()),
            };
            let mut response = Response::new(text);
            *response.status_mut() = status;
            if status == StatusCode::OK {
                let json = http::HeaderValue::from_static("application/json");
                response
                    .headers_mut()
                    .insert(http::header::CONTENT_TYPE, json);
            }
            Ok(response)
        }))
    }
}

/// Reads a body up to the limit.
async fn collect<B: Body<Data = Bytes>>(body: B) -> Result<Vec<u8>, ReceiveError> {
    let mut body = pin!(body);
    let mut whole = Vec::new();
    while let Some(frame) = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        let frame = frame.map_err(|_| ReceiveError::Body)?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        if whole.len() + data.remaining() > MAX_BODY {
            return Err(ReceiveError::TooLarge);
        }
        whole.extend_from_slice(&data.copy_to_bytes(data.remaining()));
    }
    Ok(whole)
}

impl fmt::Debug for WebhookReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookReceiver").finish_non_exhaustive()
    }
}
