//! `events/subscribe` and `events/unsubscribe`.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use hmac_sha256::Hash;
use mcp_core::Principal;
use mcp_server::RequestError;
use mcp_types::{JsonObject, RawObject};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;
use url::Url;

use super::select::Selection;
use super::shared::Shared;
use super::webhooks::{Webhook, WebhookFailure, WebhookState, Webhooks};
use super::{delivery, errors};
use crate::clock;
use crate::secret::{WebhookSecret, random_hex};
use crate::wire::{DeliveryMode, DeliveryStatus, SubscribeParams, SubscribeResult};

/// The shortest time until a subscription has to be renewed.
const MIN_TTL: Duration = Duration::from_secs(60);
/// The longest URL.
const MAX_URL: usize = 2048;

/// Creates or renews a subscription.
pub(super) async fn subscribe(
    shared: &Arc<Shared>,
    params: SubscribeParams,
    principal: Option<Principal>,
) -> Result<SubscribeResult, RequestError> {
    let Some(caller) = principal else {
        return Err(errors::forbidden("webhooks need an authenticated caller"));
    };
    let selector = &params.selector;
    let selection = Selection::new(
        shared,
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
    let secret = params.delivery.secret.as_deref().unwrap_or_default();
    let secret = WebhookSecret::parse(secret)
        .map_err(|error| RequestError::invalid_params(format!("`delivery.secret`: {error}")))?;
    webhooks
        .transport
        .check(&url)
        .map_err(|failure| refused(&failure))?;
    let owner = owner_of(&caller);
    let id = id_of(&owner, &url, selection.name(), &selection.arguments);
    let ttl = granted_ttl(webhooks, params.ttl_ms, &caller)?;

    let known = webhooks.table.lock().subscriptions.get(&id).cloned();
    if let Some(webhook) = known {
        renew(webhooks, &webhook, secret, ttl);
        return Ok(result(&webhook, ttl, false));
    }
    let start = selection.start(shared, selector.cursor.as_ref()).await;
    let start = start.map_err(|error| errors::log_failed(&error))?;
    let first = selection.page(shared, &start, 1).await;
    let truncated = first.map_err(|error| errors::log_failed(&error))?.truncated;
    let webhook = Arc::new(Webhook {
        id: id.clone(),
        owner: owner.clone(),
        url: url.clone(),
        state: Mutex::new(WebhookState {
            secret,
            earlier: None,
            ends: Instant::now() + ttl,
            cursor: start,
            status: DeliveryStatus {
                active: true,
                ..DeliveryStatus::default()
            },
            task: None,
        }),
        renewed: Notify::new(),
    });
    check_limits(webhooks, &owner)?;
    let is_verified = webhooks.table.lock().is_verified(&owner, &url);
    if !is_verified {
        verify(webhooks, &webhook).await?;
    }
    let mut table = webhooks.table.lock();
    table.set_verified(&owner, &url);
    if table.subscriptions.len() >= webhooks.settings.max_subscriptions {
        return Err(errors::exhausted(
            "subscriptions",
            webhooks.settings.max_subscriptions,
        ));
    }
    // A second request for the same subscription may have been faster; this one replaces it.
    let task = tokio::spawn(delivery::run(shared.clone(), webhook.clone(), selection));
    webhook.state.lock().task = Some(task.abort_handle());
    if let Some(replaced) = table.subscriptions.insert(id, webhook.clone())
        && let Some(task) = replaced.state.lock().task.take()
    {
        task.abort();
    }
    Ok(result(&webhook, ttl, truncated))
}

/// Ends a subscription.
pub(super) fn unsubscribe(
    shared: &Shared,
    params: &SubscribeParams,
    principal: Option<Principal>,
) -> Result<RawObject, RequestError> {
    let Some(caller) = principal else {
        return Err(errors::forbidden("webhooks need an authenticated caller"));
    };
    let url = read_url(&params.delivery.url)?;
    let arguments = params.selector.arguments.clone().unwrap_or_default();
    let id = id_of(&owner_of(&caller), &url, &params.selector.name, &arguments);
    let removed = shared
        .webhooks
        .get()
        .and_then(|webhooks| webhooks.remove(&id));
    removed
        .map(|_| RawObject::empty())
        .ok_or_else(errors::no_subscription)
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

/// The identity of a subscriber: a principal is unique per issuer.
fn owner_of(caller: &Principal) -> String {
    json!([caller.issuer, caller.subject]).to_string()
}

/// The id of a subscription, the same for equal parameters.
fn id_of(owner: &str, url: &Url, name: &str, arguments: &JsonObject) -> String {
    let arguments = canonical(&Value::Object(arguments.clone()));
    let key = json!([owner, url.as_str(), name, arguments]).to_string();
    let digest = Hash::hash(key.as_bytes());
    let digest = digest.iter().take(16);
    format!(
        "sub_{}",
        digest.map(|byte| format!("{byte:02x}")).collect::<String>()
    )
}

/// Sorts the members of all objects.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            let sorted = sorted.into_iter();
            Value::Object(
                sorted
                    .map(|(key, value)| (key.clone(), canonical(value)))
                    .collect(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        other => other.clone(),
    }
}

/// The time until a subscription ends: as suggested, within the limits, and not beyond the
/// authorization of the caller.
fn granted_ttl(
    webhooks: &Webhooks,
    suggested: Option<u64>,
    caller: &Principal,
) -> Result<Duration, RequestError> {
    let settings = &webhooks.settings;
    let ttl = suggested.map_or(settings.default_ttl, Duration::from_millis);
    let ttl = ttl.clamp(MIN_TTL.min(settings.max_ttl), settings.max_ttl);
    let Some(expires) = caller.expires_at else {
        return Ok(ttl);
    };
    match expires.duration_since(SystemTime::now()) {
        Ok(left) => Ok(ttl.min(left)),
        Err(_) => Err(errors::forbidden("the authorization has ended")),
    }
}

/// Extends a subscription. An earlier secret signs for a while, too.
fn renew(webhooks: &Webhooks, webhook: &Webhook, secret: WebhookSecret, ttl: Duration) {
    let mut state = webhook.state.lock();
    let now = Instant::now();
    if state.secret != secret {
        let earlier = std::mem::replace(&mut state.secret, secret);
        state.earlier = Some((earlier, now + webhooks.settings.rotation));
    }
    state.ends = now + ttl;
    drop(state);
    webhook.renewed.notify_one();
}

fn result(webhook: &Webhook, ttl: Duration, truncated: bool) -> SubscribeResult {
    let state = webhook.state.lock();
    let ends = clock::now().saturating_add(ttl.as_millis() as u64);
    SubscribeResult {
        id: webhook.id.clone(),
        refresh_before: Some(clock::format(ends)),
        cursor: Some(state.cursor.clone()),
        truncated,
        delivery_status: Some(state.status.clone()),
    }
}

fn check_limits(webhooks: &Webhooks, owner: &str) -> Result<(), RequestError> {
    let settings = &webhooks.settings;
    let table = webhooks.table.lock();
    if table.subscriptions.len() >= settings.max_subscriptions {
        return Err(errors::exhausted(
            "subscriptions",
            settings.max_subscriptions,
        ));
    }
    let of_owner = table
        .subscriptions
        .values()
        .filter(|webhook| webhook.owner == owner);
    match of_owner.count() >= settings.max_per_principal {
        true => Err(errors::exhausted(
            "subscriptions of a caller",
            settings.max_per_principal,
        )),
        false => Ok(()),
    }
}

/// Asks the URL to repeat a random text: only a receiver of this extension does.
async fn verify(webhooks: &Webhooks, webhook: &Webhook) -> Result<(), RequestError> {
    #[derive(Deserialize)]
    struct Echo {
        challenge: String,
    }

    let challenge = random_hex::<32>();
    let body = json!({"type": "verification", "challenge": challenge}).to_string();
    let id = format!("msg_verification_{}", random_hex::<12>());
    let response = delivery::attempt(webhooks, webhook, &id, Bytes::from(body)).await;
    let response = response.map_err(|failure| refused(&failure))?;
    let status = response.status;
    match status {
        200..300 => {}
        400..500 => return Err(status_error("http_4xx", status)),
        500.. => return Err(status_error("http_5xx", status)),
        _ => return Err(status_error("challenge_failed", status)),
    }
    let echo: Option<Echo> = serde_json::from_slice(&response.body).ok();
    match echo.is_some_and(|echo| echo.challenge == challenge) {
        true => Ok(()),
        false => Err(errors::callback(
            "challenge_failed",
            "the URL did not repeat the challenge; answer `verification` with {\"challenge\": …}",
        )),
    }
}

fn status_error(reason: &str, status: u16) -> RequestError {
    errors::callback(
        reason,
        &format!("the URL answered the challenge with HTTP status {status}"),
    )
}

fn refused(failure: &WebhookFailure) -> RequestError {
    errors::callback(failure.reason(), &format!("`delivery.url`: {failure}"))
}
