//! The task that delivers events to one webhook.

use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::select::Selection;
use super::shared::Shared;
use super::webhooks::{Webhook, WebhookFailure, WebhookPost, WebhookResponse, Webhooks};
use crate::clock;
use crate::secret::random_hex;

/// The largest body of a message.
const MAX_BODY: usize = 256 << 10;
/// The events that the task reads at once.
const PAGE: usize = 100;
/// The wait after a failure of the log.
const LOG_RETRY: std::time::Duration = std::time::Duration::from_secs(5);

/// The end of the attempts to deliver one message.
enum Delivered {
    Accepted,
    /// The webhook does not accept this message.
    Dropped,
    /// The webhook is gone.
    Gone,
}

/// Delivers until the subscription ends. The table drops the task when the subscription is removed.
pub(super) async fn run(shared: Arc<Shared>, webhook: Arc<Webhook>, selection: Selection) {
    let Some(webhooks) = shared.webhooks.get() else {
        return;
    };
    let mut cursor = webhook.state.lock().cursor.clone();
    // Events before the next one are lost for this webhook.
    let mut has_gap = false;
    loop {
        if webhook.state.lock().ends <= Instant::now() {
            break;
        }
        let page = match selection.page(&shared, &cursor, PAGE).await {
            Ok(page) => page,
            Err(error) => {
                tracing::error!(%error, "the event log failed");
                sleep(LOG_RETRY).await;
                continue;
            }
        };
        has_gap |= page.truncated;
        for event in &page.events {
            if has_gap {
                let gap = json!({"type": "gap", "cursor": cursor});
                match control(webhooks, &webhook, "gap", &gap).await {
                    Delivered::Gone => return end(webhooks, &webhook),
                    Delivered::Accepted => has_gap = false,
                    Delivered::Dropped => {}
                }
            }
            match deliver(webhooks, &webhook, &event.event_id, event).await {
                Delivered::Gone => return end(webhooks, &webhook),
                Delivered::Accepted => {}
                Delivered::Dropped => has_gap = true,
            }
            if let Some(position) = &event.cursor {
                cursor.clone_from(position);
                webhook.state.lock().cursor.clone_from(position);
            }
        }
        cursor = page.cursor;
        webhook.state.lock().cursor.clone_from(&cursor);
        if page.has_more {
            continue;
        }
        let ends = webhook.state.lock().ends;
        tokio::select! {
            waited = shared.log().wait(selection.name(), &cursor) => if waited.is_err() {
                sleep(LOG_RETRY).await;
            },
            () = sleep_until(ends) => {}
            () = webhook.renewed.notified() => {}
        }
    }
    end(webhooks, &webhook);
}

/// Removes the subscription, without aborting the task that calls it before its end.
fn end(webhooks: &Webhooks, webhook: &Arc<Webhook>) {
    let mut table = webhooks.table.lock();
    let stored = table.subscriptions.get(&webhook.id);
    if stored.is_some_and(|stored| Arc::ptr_eq(stored, webhook)) {
        table.subscriptions.remove(&webhook.id);
    }
}

/// Sends a control message.
async fn control(webhooks: &Webhooks, webhook: &Webhook, kind: &str, body: &Value) -> Delivered {
    let id = format!("msg_{kind}_{}", random_hex::<12>());
    deliver(webhooks, webhook, &id, body).await
}

/// Sends a message, and repeats it while the webhook fails.
async fn deliver(
    webhooks: &Webhooks,
    webhook: &Webhook,
    id: &str,
    body: &impl Serialize,
) -> Delivered {
    let body = match serde_json::to_vec(body) {
        Ok(body) if body.len() <= MAX_BODY => Bytes::from(body),
        _ => {
            tracing::error!(
                subscription = webhook.id,
                "an event is too large for a webhook"
            );
            return Delivered::Dropped;
        }
    };
    let mut waits = webhooks.settings.backoff.iter();
    loop {
        let response = attempt(webhooks, webhook, id, body.clone()).await;
        let error = match &response {
            Ok(response) if (200..300).contains(&response.status) => {
                record_success(webhook);
                return Delivered::Accepted;
            }
            Ok(response) if response.status == 410 => return Delivered::Gone,
            Ok(response) => format!("HTTP status {}", response.status),
            Err(failure) => failure.to_string(),
        };
        record_failure(webhook, &error);
        let is_final = matches!(&response, Ok(response) if response.status == 413);
        match waits.next() {
            Some(wait) if !is_final => sleep(*wait).await,
            _ => {
                tracing::warn!(
                    subscription = webhook.id,
                    error,
                    "an event was not delivered"
                );
                return Delivered::Dropped;
            }
        }
    }
}

/// Sends a message once, with the current time and signatures.
pub(super) async fn attempt(
    webhooks: &Webhooks,
    webhook: &Webhook,
    id: &str,
    body: Bytes,
) -> Result<WebhookResponse, WebhookFailure> {
    let timestamp = clock::now() / 1000;
    let signatures = {
        let mut state = webhook.state.lock();
        let now = Instant::now();
        state.earlier.take_if(|(_, ends)| *ends <= now);
        let mut signatures = state.secret.sign(id, timestamp, &body);
        if let Some((earlier, _)) = &state.earlier {
            signatures.push(' ');
            signatures.push_str(&earlier.sign(id, timestamp, &body));
        }
        signatures
    };
    let post = WebhookPost {
        url: webhook.url.clone(),
        headers: vec![
            ("content-type", "application/json".to_owned()),
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", timestamp.to_string()),
            ("webhook-signature", signatures),
            ("x-mcp-subscription-id", webhook.id.clone()),
        ],
        body,
    };
    let sent = timeout(
        webhooks.settings.post_timeout,
        webhooks.transport.post(post),
    )
    .await;
    sent.unwrap_or(Err(WebhookFailure::Timeout))
}

fn record_success(webhook: &Webhook) {
    let status = &mut webhook.state.lock().status;
    status.active = true;
    status.last_delivery_at = Some(clock::format(clock::now()));
    status.failed_since = None;
}

fn record_failure(webhook: &Webhook, error: &str) {
    let status = &mut webhook.state.lock().status;
    status.active = false;
    status.last_error = Some(error.to_owned());
    status
        .failed_since
        .get_or_insert_with(|| clock::format(clock::now()));
}
