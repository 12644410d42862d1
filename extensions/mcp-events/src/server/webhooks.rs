//! The webhook settings.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use mcp_core::BoxFuture;
use mcp_core::store::StoreError;
use tokio::sync::Notify;
use url::Url;

use super::challenge_rate::ChallengeRate;
use super::memory_webhooks::MemoryWebhookStore;
use super::unique::unique_id;
use crate::clock;
use crate::webhook_store::{WebhookLimits, WebhookStore};

/// Time limit of a request to a receiver.
pub(super) const POST_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit of an operation of the store.
pub(super) const STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// A message to a webhook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WebhookPost {
    /// The URL. The transport checks its address when it connects.
    pub url: Url,
    /// The headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body, at most 256 KiB.
    pub body: Bytes,
}

/// A webhook response.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WebhookResponse {
    /// The HTTP status.
    pub status: u16,
    /// The body, at most 64 KiB of it.
    pub body: Bytes,
    /// The header `Retry-After`: seconds, or a date.
    pub retry_after: Option<String>,
}

impl WebhookResponse {
    /// A response.
    pub fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            body: body.into(),
            retry_after: None,
        }
    }

    /// Sets the header `Retry-After`.
    #[must_use]
    pub fn retry_after(mut self, value: impl Into<String>) -> Self {
        self.retry_after = Some(value.into());
        self
    }
}

/// The failure of a message to a webhook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookFailure {
    /// The URL or its address is not allowed.
    #[error("the URL is refused: {0}")]
    Refused(String),
    /// There is no connection.
    #[error("the connection failed")]
    Connection,
    /// The connection failed in TLS: the certificate is not trusted, or the URL does not speak TLS.
    #[error("the TLS connection failed")]
    Tls,
    /// There was no response in time.
    #[error("there was no response in time")]
    Timeout,
}

/// The way to post messages to webhooks, which others choose: it must not reach private addresses, nor
/// follow redirects. Use [`HttpWebhooks`](crate::HttpWebhooks) unless a proxy does it.
pub trait WebhookTransport: Send + Sync + 'static {
    /// Checks a URL without a connection.
    ///
    /// # Errors
    ///
    /// Returns [`WebhookFailure::Refused`] for a URL that can never be posted to.
    fn check(&self, url: &Url) -> Result<(), WebhookFailure>;

    /// Posts a message. The caller limits the time.
    ///
    /// # Errors
    ///
    /// Returns the [`WebhookFailure`] if there is no response.
    fn post(
        &self,
        post: WebhookPost,
    ) -> BoxFuture<'static, Result<WebhookResponse, WebhookFailure>>;

    /// Reads a file of a receiver: `/.well-known/mcp-webhook-receiver.json`, which may stand for the
    /// answer to a challenge. The caller limits the time. Without an implementation, no file is read.
    ///
    /// # Errors
    ///
    /// Returns the [`WebhookFailure`] if there is no response.
    fn get(&self, url: Url) -> BoxFuture<'static, Result<WebhookResponse, WebhookFailure>> {
        let reason = format!("this transport reads no file of {}", url.scheme());
        Box::pin(async move { Err(WebhookFailure::Refused(reason)) })
    }
}

/// The webhook settings.
///
/// Subscriptions are kept in memory, or in a [`store`](Self::store) that several nodes share. In memory
/// they end with the process: clients subscribe again when they renew them, before `refreshBefore`.
///
/// Nodes that share a store deliver each event once: one node holds a subscription's lease for 30
/// seconds, and extends it every 10 seconds. When that node dies, another one continues within 40
/// seconds, at the first event that was not recorded as delivered. The event that was in transit may
/// arrive twice, with the same `webhook-id`. A node that cannot reach the store stops its deliveries when
/// its leases end.
///
/// Deliveries start when the server is built in a tokio runtime, otherwise with the first call of
/// `events/subscribe` or `publish`.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use mcp::events::{EventType, Events, HttpWebhooks, Webhooks};
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct OrderPlaced {
///     order: u64,
/// }
///
/// let webhooks = Webhooks::new(HttpWebhooks::new()?).max_ttl(Duration::from_secs(3600));
/// let events = Events::new()
///     .event(EventType::<OrderPlaced>::new("order.placed").webhook())
///     .webhooks(webhooks);
/// # Ok::<(), mcp::events::WebhookFailure>(())
/// ```
pub struct Webhooks {
    pub(super) transport: Arc<dyn WebhookTransport>,
    pub(super) limits: WebhookLimits,
    pub(super) max_ttl: Duration,
    /// The waits before the second and each further attempt.
    pub(super) backoff: Vec<Duration>,
    pub(super) clock: fn() -> SystemTime,
    pub(super) store: Arc<dyn WebhookStore>,
    /// This node's name in the store's leases.
    pub(super) node: String,
    /// The deliveries of this node are running.
    pub(super) is_started: AtomicBool,
    /// Wakes the deliveries: this node has changed a subscription.
    pub(super) changed: Arc<Notify>,
    pub(super) challenges: ChallengeRate,
}

impl Webhooks {
    /// Settings with a transport.
    pub fn new(transport: impl WebhookTransport) -> Self {
        Self {
            transport: Arc::new(transport),
            limits: WebhookLimits::default(),
            max_ttl: Duration::from_secs(24 * 3600),
            backoff: [5, 30, 120, 300].map(Duration::from_secs).to_vec(),
            clock: SystemTime::now,
            store: Arc::new(MemoryWebhookStore::new()),
            node: unique_id(),
            is_started: AtomicBool::new(false),
            changed: Arc::default(),
            challenges: ChallengeRate::default(),
        }
    }

    /// Keeps the subscriptions in a store, which several nodes may share. Default: a
    /// [`MemoryWebhookStore`].
    ///
    /// The delivery of an event takes two operations of the store, and each further attempt two more. Each
    /// node extends its leases with one operation every 10 seconds.
    #[must_use]
    pub fn store(mut self, store: impl WebhookStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Sets the clock for the end of earlier secrets and for dates in `Retry-After`. Default:
    /// [`SystemTime::now`].
    #[must_use]
    pub fn clock(mut self, clock: fn() -> SystemTime) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the largest number of subscriptions: for all clients, and for one principal. Default:
    /// 1,000 and 100.
    #[must_use]
    pub fn max_subscriptions(mut self, all: usize, of_one: usize) -> Self {
        self.limits.subscriptions = all;
        self.limits.subscriptions_per_owner = of_one;
        self
    }

    /// Sets the longest time until a subscription has to be renewed. Default: 24 hours; one hour if the
    /// client suggests none.
    #[must_use]
    pub fn max_ttl(mut self, ttl: Duration) -> Self {
        self.max_ttl = ttl;
        self
    }

    /// Sets the waits before the second and each further attempt. Default: 5, 30, 120 and 300 seconds.
    #[must_use]
    pub fn backoff(mut self, waits: impl IntoIterator<Item = Duration>) -> Self {
        self.backoff = waits.into_iter().take(16).collect();
        self
    }

    /// Limits the duration of a store operation.
    pub(super) async fn timed<T>(
        &self,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let timed = tokio::time::timeout(STORE_TIMEOUT, operation).await;
        timed.unwrap_or_else(|_| {
            Err(StoreError::new(
                "the store of webhooks did not answer in time",
            ))
        })
    }

    /// The time in milliseconds since 1970.
    pub(super) fn now(&self) -> u64 {
        clock::millis((self.clock)())
    }
}

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhooks")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
