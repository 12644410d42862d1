//! The webhook receiver: a service for any HTTP server.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use mcp_core::BoxFuture;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use tower_service::Service;

use super::recent_ids::{IdDigest, RecentIds};
use crate::clock;
use crate::secret::WebhookSecret;
use crate::wire::{EventOccurrence, RECEIVER_FILE, ReceiverFile, Termination};

type BoxError = Box<dyn Error + Send + Sync>;

/// The largest message.
const MAX_BODY: usize = 256 << 10;
/// The largest difference of clocks, in seconds.
const TOLERANCE: u64 = 300;
/// The message ids that are remembered per subscription. Ids of messages older than `TOLERANCE` are not needed.
const REMEMBERED: usize = 10_000;
/// Maximum number of secrets whose subscription ids are not known yet. Beyond it, the oldest secret is forgotten.
const MAX_UNBOUND: usize = 64;
/// The header that names the subscription.
const SUBSCRIPTION_ID: &str = "x-mcp-subscription-id";

/// A verified message of a server. Its data is untrusted nevertheless.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WebhookEvent {
    /// An event.
    Event {
        /// The subscription id.
        subscription: String,
        /// The event.
        event: EventOccurrence,
    },
    /// Events before the next one are lost.
    Gap {
        /// The subscription id.
        subscription: String,
        /// The position after the gap.
        cursor: Option<String>,
    },
    /// The server has ended the subscription.
    Terminated {
        /// The subscription id.
        subscription: String,
        /// The reason that the server gives.
        reason: String,
    },
}

type Handler = dyn Fn(WebhookEvent) -> BoxFuture<'static, bool> + Send + Sync;

/// A webhook receiver: a tower service, such as a route of axum. It verifies signatures and times,
/// answers verification challenges, and leaves out repeated messages.
///
/// A secret signs for the subscriptions that the program has [bound](Self::bind) to it, and for no others:
/// a server cannot send events in the name of another one. So each server gets its own secret. Before it
/// subscribes, the program lets the receiver [answer the server's challenge](Self::answer_challenges).
///
/// The handler returns true if it has stored the event; otherwise the server repeats it. While the handler
/// runs, a second copy of the message is answered with the status 503. Clones share their state.
///
/// # Examples
///
/// ```no_run
/// use axum::Router;
/// use mcp::events::{
///     EventClient, EventQuery, WebhookEvent, WebhookReceiver, WebhookSecret, WebhookTarget,
/// };
///
/// # async fn example(events: EventClient) -> Result<(), Box<dyn std::error::Error>> {
/// let receiver = WebhookReceiver::new(async |message| {
///     if let WebhookEvent::Event { event, .. } = message {
///         println!("{} {:?}", event.name, event.data);
///     }
///     true
/// });
/// let router: Router = Router::new().route_service("/hooks", receiver.clone());
///
/// let secret = WebhookSecret::generate()?;
/// receiver.answer_challenges(secret.clone());
/// let target = WebhookTarget::new("https://agent.example/hooks", secret.clone());
/// let subscription = events.keep_subscribed(EventQuery::new("order.placed"), target).await?;
/// receiver.bind(subscription.status().id, [secret]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct WebhookReceiver {
    state: Arc<Mutex<State>>,
    handler: Arc<Handler>,
}

#[derive(Default)]
struct State {
    subscriptions: HashMap<String, Bound>,
    /// Secrets that answer challenges only.
    unbound: VecDeque<WebhookSecret>,
}

/// A subscription, its secrets and its last messages.
#[derive(Default)]
struct Bound {
    secrets: Vec<WebhookSecret>,
    stored: RecentIds<REMEMBERED>,
    /// The messages that the handler has not finished.
    running: HashSet<IdDigest>,
}

/// A reserved message id while the handler runs. Dropping it releases the id.
struct Reservation {
    state: Arc<Mutex<State>>,
    subscription: String,
    id: IdDigest,
}

impl Reservation {
    /// Remembers the message as stored.
    fn store(self) {
        if let Some(bound) = self.state.lock().subscriptions.get_mut(&self.subscription) {
            bound.stored.insert(self.id);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(bound) = self.state.lock().subscriptions.get_mut(&self.subscription) {
            bound.running.remove(&self.id);
        }
    }
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

/// The response to a message that does not reach the handler.
struct Answer(StatusCode, Cow<'static, str>);

const fn refusal(status: StatusCode, reason: &'static str) -> Answer {
    Answer(status, Cow::Borrowed(reason))
}

const HEADERS: Answer = refusal(
    StatusCode::BAD_REQUEST,
    "the headers `webhook-id`, `webhook-timestamp`, `webhook-signature` and `x-mcp-subscription-id` \
     are needed, each once",
);
const TIMESTAMP: Answer = refusal(
    StatusCode::UNAUTHORIZED,
    "the time of the message is more than five minutes off",
);
const SIGNATURE: Answer = refusal(
    StatusCode::UNAUTHORIZED,
    "the signature is not by a secret of this subscription",
);
const UNBOUND: Answer = refusal(
    StatusCode::SERVICE_UNAVAILABLE,
    "the subscription is not bound to its secret yet; send the message again",
);
const BODY: Answer = refusal(StatusCode::BAD_REQUEST, "the body is not an event");
const TOO_LARGE: Answer = refusal(
    StatusCode::PAYLOAD_TOO_LARGE,
    "the body has more than 256 KiB",
);

impl WebhookReceiver {
    /// A receiver without secrets: it refuses all messages until [`answer_challenges`] and [`bind`].
    ///
    /// [`answer_challenges`]: Self::answer_challenges
    /// [`bind`]: Self::bind
    pub fn new<F, Fut>(handler: F) -> Self
    where
        F: Fn(WebhookEvent) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = bool> + Send + 'static,
    {
        Self {
            state: Arc::default(),
            handler: Arc::new(move |message| Box::pin(handler(message))),
        }
    }

    /// Answers the verification challenges that are signed with a secret. Call it before the program
    /// subscribes with that secret, and [`bind`](Self::bind) when the subscription's id is known. Events in
    /// between are answered with the status 503, so that the server repeats them. At most 64 secrets wait.
    pub fn answer_challenges(&self, secret: WebhookSecret) {
        let mut state = self.state.lock();
        state.unbound.push_back(secret);
        if state.unbound.len() > MAX_UNBOUND {
            state.unbound.pop_front();
        }
    }

    /// Binds a subscription to its secrets: `subscription` is the [id](crate::SubscribeResult::id) in the
    /// server's response. Only these secrets sign its messages. Replaces an earlier call's secrets.
    ///
    /// More than one secret is for rotation: bind the old and the new one, renew the subscription with the
    /// new one, and bind the new one alone.
    pub fn bind(
        &self,
        subscription: impl Into<String>,
        secrets: impl IntoIterator<Item = WebhookSecret>,
    ) {
        let secrets: Vec<_> = secrets.into_iter().collect();
        let mut state = self.state.lock();
        for secret in &secrets {
            // Another subscription may still wait for a challenge with the same secret.
            if let Some(position) = state.unbound.iter().position(|unbound| unbound == secret) {
                state.unbound.remove(position);
            }
        }
        state
            .subscriptions
            .entry(subscription.into())
            .or_default()
            .secrets = secrets;
    }

    /// Forgets a subscription. Its messages are refused.
    pub fn unbind(&self, subscription: &str) {
        self.state.lock().subscriptions.remove(subscription);
    }

    /// The path of the file that lists a host's receivers:
    /// `/.well-known/mcp-webhook-receiver.json`.
    pub const FILE: &'static str = RECEIVER_FILE;

    /// Creates the file that lists a host's receivers. A server may read it instead of sending a
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

    /// Handles one message, for HTTP servers without tower. Returns the status and the body of the
    /// response.
    pub async fn receive(&self, headers: &HeaderMap, body: &[u8]) -> (StatusCode, String) {
        let (message, reservation) = match self.verify(headers, body) {
            Ok(verified) => verified,
            Err(Answer(status, text)) => return (status, text.into_owned()),
        };
        let is_stored = (self.handler)(message).await;
        let status = if is_stored {
            reservation.store();
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        (status, String::new())
    }

    fn verify(
        &self,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<(WebhookEvent, Reservation), Answer> {
        if body.len() > MAX_BODY {
            return Err(TOO_LARGE);
        }
        let required = |name| header(headers, name).ok_or(HEADERS);
        let id = required("webhook-id")?;
        let timestamp = required("webhook-timestamp")?;
        let timestamp: u64 = timestamp.parse().map_err(|_| HEADERS)?;
        let signatures = required("webhook-signature")?;
        // The signature does not include this header: the secret decides whose messages these are.
        let subscription = header(headers, SUBSCRIPTION_ID);
        let is_bound = self.check_signature(subscription, |secret| {
            secret.verify(id, timestamp, body, signatures).is_ok()
        })?;
        if (clock::now() / 1000).abs_diff(timestamp) > TOLERANCE {
            return Err(TIMESTAMP);
        }
        let subscription = subscription.unwrap_or_default();
        let message = read(body, subscription.to_owned())?;
        if subscription.is_empty() {
            return Err(HEADERS);
        }
        if !is_bound {
            return Err(UNBOUND);
        }
        Ok((message, self.reserve(subscription, id)?))
    }

    /// Checks who signed a message. Returns true for a secret of the subscription, and false for a
    /// secret that is not bound to a subscription yet.
    fn check_signature(
        &self,
        subscription: Option<&str>,
        has_signed: impl Fn(&WebhookSecret) -> bool,
    ) -> Result<bool, Answer> {
        // The digests of a large body are computed without the lock.
        let (bound, unbound) = {
            let state = self.state.lock();
            let bound = subscription.and_then(|id| state.subscriptions.get(id));
            let bound = bound.map(|bound| bound.secrets.clone());
            (bound.unwrap_or_default(), state.unbound.clone())
        };
        if bound.iter().any(&has_signed) {
            Ok(true)
        } else if unbound.iter().any(&has_signed) {
            Ok(false)
        } else {
            Err(SIGNATURE)
        }
    }

    /// Reserves a message id, so that one copy of the message reaches the handler.
    fn reserve(&self, subscription: &str, id: &str) -> Result<Reservation, Answer> {
        let id = RecentIds::<REMEMBERED>::digest(id);
        let mut state = self.state.lock();
        let bound = state.subscriptions.get_mut(subscription);
        let bound = bound.ok_or(SIGNATURE)?;
        if bound.stored.contains(&id) {
            return Err(refusal(StatusCode::OK, ""));
        }
        if !bound.running.insert(id) {
            return Err(refusal(StatusCode::SERVICE_UNAVAILABLE, ""));
        }
        Ok(Reservation {
            state: self.state.clone(),
            subscription: subscription.to_owned(),
            id,
        })
    }
}

/// Reads a message. A challenge is answered at once.
fn read(body: &[u8], subscription: String) -> Result<WebhookEvent, Answer> {
    let Ok(control) = serde_json::from_slice::<Control>(body) else {
        let event = serde_json::from_slice(body).map_err(|_| BODY)?;
        return Ok(WebhookEvent::Event {
            subscription,
            event,
        });
    };
    match (&*control.kind, control.challenge) {
        ("verification", Some(challenge)) => {
            let answer = json!({ "challenge": challenge }).to_string();
            Err(Answer(StatusCode::OK, answer.into()))
        }
        ("gap", _) => Ok(WebhookEvent::Gap {
            subscription,
            cursor: control.cursor,
        }),
        ("terminated", _) => Ok(WebhookEvent::Terminated {
            subscription,
            reason: control.termination.reason(),
        }),
        _ => Err(BODY),
    }
}

/// Returns a header that occurs once and has at most 4 KiB.
fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    (values.next().is_none() && value.len() <= 4096).then_some(value)
}

impl<B> Service<Request<B>> for WebhookReceiver
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<String>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let receiver = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let (status, text) = match (head.method, collect(body).await) {
                (Method::POST, Ok(body)) => receiver.receive(&head.headers, &body).await,
                (Method::POST, Err(Answer(status, text))) => (status, text.into_owned()),
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
        })
    }
}

/// Reads a body up to the limit.
async fn collect<B>(body: B) -> Result<Bytes, Answer>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let collected = Limited::new(body, MAX_BODY).collect().await;
    match collected {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(TOO_LARGE),
        Err(_) => Err(BODY),
    }
}

impl fmt::Debug for WebhookReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookReceiver").finish_non_exhaustive()
    }
}
