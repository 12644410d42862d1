//! `events/subscribe` and `events/unsubscribe`.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hmac_sha256::Hash;
use mcp_core::Principal;
use mcp_server::RequestError;
use mcp_types::{JsonObject, RawObject};
use serde_json::{Value, json};
use url::Url;

use super::select::Selection;
use super::shared::Shared;
use super::subscription::{Progress, Subscription};
use super::webhooks::Webhooks;
use super::{deliveries, errors, verification};
use crate::clock;
use crate::secret::WebhookSecret;
use crate::webhook_store::{WebhookLimits, WebhookWrite};
use crate::wire::{DeliveryMode, DeliveryStatus, Selector, SubscribeParams, SubscribeResult};

/// The time until a subscription has to be renewed if the client suggests none, and the shortest one.
const DEFAULT_TTL: Duration = Duration::from_secs(3600);
const MIN_TTL: Duration = Duration::from_secs(60);
/// The longest URL.
const MAX_URL: usize = 2048;

/// Creates or renews a subscription.
pub(super) async fn subscribe(
    shared: Arc<Shared>,
    params: SubscribeParams,
    principal: Option<Principal>,
) -> Result<SubscribeResult, RequestError> {
    let Some(caller) = principal else {
        return Err(errors::forbidden("webhooks need an authenticated caller"));
    };
    let selector = &params.selector;
    let selection = Selection::new(
        &shared,
        selector,
        DeliveryMode::Webhook,
        Some(caller.clone()),
    )?;
    let Some(webhooks) = shared.webhooks.get() else {
        return Err(errors::unsupported("delivery", "webhook"));
    };
    if params.delivery.mode.as_deref() != Some("webhook") {
        return Err(RequestError::invalid_params(
            "`delivery.mode`: must be `webhook`",
        ));
    }
    let url = read_url(&params.delivery.url)?;
    let owner = owner_of(&caller);
    let secret = params.delivery.secret.as_deref().unwrap_or_default();
    let secret = WebhookSecret::parse(secret)
        .map_err(|error| RequestError::invalid_params(format!("`delivery.secret`: {error}")))?;
    let transport = &webhooks.transport;
    transport
        .check(&url)
        .map_err(|failure| verification::refused(url.as_str(), &owner, &failure.to_string()))?;
    let request = Request {
        shared: &shared,
        webhooks,
        id: id_of(&owner, &url, selection.name(), &selection.arguments),
        owner,
        ttl: granted_ttl(webhooks, params.ttl_ms, &caller)?,
    };
    deliveries::start(&shared);
    let subscription = Subscription {
        url: url.to_string(),
        selector: Selector {
            arguments: Some(selection.arguments.clone()),
            cursor: None,
            ..selector.clone()
        },
        subscriber: caller,
        secret,
        earlier: None,
    };
    let known = webhooks.load(&request.id).await;
    match known.map_err(errors::store_failed)? {
        Some((known, progress)) => request.renew(subscription, known, progress).await,
        None => {
            let cursor = selector.cursor.as_ref();
            request.create(subscription, &selection, cursor).await
        }
    }
}

/// A checked request for a subscription.
struct Request<'a> {
    shared: &'a Shared,
    webhooks: &'a Webhooks,
    id: String,
    owner: String,
    ttl: Duration,
}

impl Request<'_> {
    async fn renew(
        self,
        mut subscription: Subscription,
        known: Subscription,
        progress: Progress,
    ) -> Result<SubscribeResult, RequestError> {
        subscription.keep_earlier(known, self.webhooks.now());
        self.put(&subscription, &progress).await?;
        Ok(self.result(progress, false))
    }

    async fn create(
        self,
        subscription: Subscription,
        selection: &Selection,
        cursor: Option<&String>,
    ) -> Result<SubscribeResult, RequestError> {
        let start = selection.start(self.shared, cursor).await;
        let start = start.map_err(errors::log_failed)?;
        let first = selection.page(self.shared, &start, 1).await;
        let truncated = first.map_err(errors::log_failed)?.truncated;
        self.check_space().await?;
        verification::verify(self.webhooks, &subscription, &self.id, &self.owner).await?;
        let progress = Progress {
            cursor: start,
            gap: false,
            status: DeliveryStatus {
                active: true,
                ..DeliveryStatus::default()
            },
        };
        self.put(&subscription, &progress).await?;
        Ok(self.result(progress, truncated))
    }

    /// Stores the subscription. A node without deliveries to it may claim it at once.
    async fn put(
        &self,
        subscription: &Subscription,
        progress: &Progress,
    ) -> Result<(), RequestError> {
        let record = subscription.record(&self.id, &self.owner, progress);
        let record = record.map_err(errors::store_failed)?;
        let limits = &self.webhooks.limits;
        let put = self.webhooks.store.put(record, self.ttl, limits);
        let written = self.webhooks.timed(put).await;
        require_space(written.map_err(errors::store_failed)?, limits)?;
        self.webhooks.changed.notify_one();
        Ok(())
    }

    /// Refuses a new subscription for which there is no space, before its URL is asked.
    async fn check_space(&self) -> Result<(), RequestError> {
        let limits = &self.webhooks.limits;
        let check = self.webhooks.store.check_space(&self.owner, limits);
        let space = self.webhooks.timed(check).await;
        require_space(space.map_err(errors::store_failed)?, limits)
    }

    fn result(self, progress: Progress, truncated: bool) -> SubscribeResult {
        let ends = clock::now().saturating_add(self.ttl.as_millis() as u64);
        SubscribeResult {
            id: self.id,
            refresh_before: Some(clock::format(ends)),
            cursor: Some(progress.cursor),
            truncated,
            delivery_status: Some(progress.status),
        }
    }
}

fn require_space(written: WebhookWrite, limits: &WebhookLimits) -> Result<(), RequestError> {
    match written {
        WebhookWrite::Full => Err(errors::exhausted("subscriptions", limits.subscriptions)),
        WebhookWrite::OwnerFull => Err(errors::exhausted(
            "subscriptions of a caller",
            limits.subscriptions_per_owner,
        )),
        _ => Ok(()),
    }
}

/// Ends a subscription.
pub(super) async fn unsubscribe(
    shared: Arc<Shared>,
    params: SubscribeParams,
    principal: Option<Principal>,
) -> Result<RawObject, RequestError> {
    let Some(caller) = principal else {
        return Err(errors::forbidden("webhooks need an authenticated caller"));
    };
    let url = read_url(&params.delivery.url)?;
    let arguments = params.selector.arguments.unwrap_or_default();
    let id = id_of(&owner_of(&caller), &url, &params.selector.name, &arguments);
    let Some(webhooks) = shared.webhooks.get() else {
        return Err(errors::no_subscription());
    };
    let removed = webhooks.timed(webhooks.store.remove(&id)).await;
    if removed.map_err(errors::store_failed)? {
        webhooks.changed.notify_one();
        Ok(RawObject::default())
    } else {
        Err(errors::no_subscription())
    }
}

fn read_url(text: &str) -> Result<Url, RequestError> {
    if text.len() > MAX_URL {
        return Err(RequestError::invalid_params(
            "`delivery.url`: at most 2048 bytes",
        ));
    }
    Url::parse(text)
        .map_err(|error| RequestError::invalid_params(format!("`delivery.url`: {error}")))
}

/// Returns the identity of a subscriber: a principal is unique per issuer.
fn owner_of(caller: &Principal) -> String {
    json!([caller.issuer, caller.subject]).to_string()
}

/// Returns the id of a subscription, the same for equal parameters.
fn id_of(owner: &str, url: &Url, name: &str, arguments: &JsonObject) -> String {
    // The order of members makes no difference.
    let mut arguments = Value::Object(arguments.clone());
    arguments.sort_all_objects();
    let key = json!([owner, url.as_str(), name, arguments]).to_string();
    let digest = Hash::hash(key.as_bytes());
    let digits = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
    format!("sub_{}", digits.collect::<String>())
}

/// The time until a subscription ends: as suggested, within the limits, and not beyond the
/// caller's authorization.
fn granted_ttl(
    webhooks: &Webhooks,
    suggested: Option<u64>,
    caller: &Principal,
) -> Result<Duration, RequestError> {
    let ttl = suggested.map_or(DEFAULT_TTL, Duration::from_millis);
    let ttl = ttl.clamp(MIN_TTL.min(webhooks.max_ttl), webhooks.max_ttl);
    let Some(expires) = caller.expires_at else {
        return Ok(ttl);
    };
    match expires.duration_since(SystemTime::now()) {
        Ok(left) => Ok(ttl.min(left)),
        Err(_) => Err(errors::forbidden("the authorization has ended")),
    }
}
