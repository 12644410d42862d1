//! The settings of webhooks, and the subscriptions.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcp_core::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use url::Url;

use crate::secret::WebhookSecret;
use crate::wire::DeliveryStatus;

/// The number of verified URLs that are remembered.
const MAX_VERIFIED: usize = 10_000;

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

/// The response of a webhook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WebhookResponse {
    /// The HTTP status.
    pub status: u16,
    /// The body, at most 64 KiB of it.
    pub body: Bytes,
}

impl WebhookResponse {
    /// A response.
    pub fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            body: body.into(),
        }
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
    /// There was no response in time.
    #[error("there was no response in time")]
    Timeout,
}

impl WebhookFailure {
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Self::Refused(_) | Self::Connection => "connection_refused",
            Self::Timeout => "timeout",
        }
    }
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
}

/// The settings of webhooks.
///
/// Subscriptions are kept in memory: after a restart clients have to subscribe again, which they do
/// before `refreshBefore`.
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
    pub(super) settings: WebhookSettings,
    pub(super) table: Mutex<Table>,
}

#[derive(Debug, Clone)]
pub(super) struct WebhookSettings {
    pub(super) max_subscriptions: usize,
    pub(super) max_per_principal: usize,
    pub(super) default_ttl: Duration,
    pub(super) max_ttl: Duration,
    /// The time for which an earlier secret signs, too.
    pub(super) rotation: Duration,
    pub(super) post_timeout: Duration,
    /// The waits before the second and each further attempt.
    pub(super) backoff: Vec<Duration>,
}

/// The subscriptions, and the URLs that have answered a challenge.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) subscriptions: HashMap<String, Arc<Webhook>>,
    verified: HashSet<(String, String)>,
}

/// A subscription.
#[derive(Debug)]
pub(super) struct Webhook {
    pub(super) id: String,
    /// The issuer and the subject of the subscriber.
    pub(super) owner: String,
    pub(super) url: Url,
    pub(super) state: Mutex<WebhookState>,
    /// Wakes the task after a renewal.
    pub(super) renewed: Notify,
}

#[derive(Debug)]
pub(super) struct WebhookState {
    pub(super) secret: WebhookSecret,
    /// The secret before the current one, and the end of its use.
    pub(super) earlier: Option<(WebhookSecret, Instant)>,
    pub(super) ends: Instant,
    pub(super) cursor: String,
    pub(super) status: DeliveryStatus,
    pub(super) task: Option<AbortHandle>,
}

impl Drop for WebhookState {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Webhooks {
    /// Settings with a transport.
    pub fn new(transport: impl WebhookTransport) -> Self {
        Self {
            transport: Arc::new(transport),
            settings: WebhookSettings {
                max_subscriptions: 1000,
                max_per_principal: 100,
                default_ttl: Duration::from_secs(3600),
                max_ttl: Duration::from_secs(24 * 3600),
                rotation: Duration::from_secs(3600),
                post_timeout: Duration::from_secs(10),
                backoff: [5, 30, 120, 300].map(Duration::from_secs).to_vec(),
            },
            table: Mutex::default(),
        }
    }

    /// Sets the number of subscriptions of all clients, and of one principal. Default: 1,000 and 100.
    #[must_use]
    pub fn max_subscriptions(mut self, all: usize, of_one: usize) -> Self {
        self.settings.max_subscriptions = all;
        self.settings.max_per_principal = of_one;
        self
    }

    /// Sets the longest time until a subscription has to be renewed. Default: 24 hours; one hour if the
    /// client suggests none.
    #[must_use]
    pub fn max_ttl(mut self, ttl: Duration) -> Self {
        self.settings.max_ttl = ttl;
        self.settings.default_ttl = self.settings.default_ttl.min(ttl);
        self
    }

    /// Sets the time for which messages are also signed with the earlier secret after a change. Default:
    /// one hour.
    #[must_use]
    pub fn rotation(mut self, time: Duration) -> Self {
        self.settings.rotation = time;
        self
    }

    /// Sets the waits before the second and each further attempt. Default: 5, 30, 120 and 300 seconds.
    #[must_use]
    pub fn backoff(mut self, waits: impl IntoIterator<Item = Duration>) -> Self {
        self.settings.backoff = waits.into_iter().take(16).collect();
        self
    }

    /// Removes a subscription.
    pub(super) fn remove(&self, id: &str) -> Option<Arc<Webhook>> {
        let webhook = self.table.lock().subscriptions.remove(id)?;
        let task = webhook.state.lock().task.take();
        if let Some(task) = task {
            task.abort();
        }
        Some(webhook)
    }
}

impl Table {
    pub(super) fn is_verified(&self, owner: &str, url: &Url) -> bool {
        self.verified.contains(&(owner.to_owned(), url.to_string()))
    }

    pub(super) fn set_verified(&mut self, owner: &str, url: &Url) {
        if self.verified.len() >= MAX_VERIFIED {
            self.verified.clear();
        }
        self.verified.insert((owner.to_owned(), url.to_string()));
    }
}

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhooks")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
