//! The event delivery to one webhook.

use std::sync::Weak;
use std::time::Duration;

use bytes::Bytes;
use mcp_core::store::StoreError;
use mcp_types::codes;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::retry_after;
use super::select::{Page, Selection};
use super::shared::Shared;
use super::subscription::{Progress, Subscription};
use super::unique::unique_id;
use super::webhooks::{POST_TIMEOUT, WebhookFailure, WebhookPost, WebhookResponse, Webhooks};
use crate::clock;
use crate::wire::{DeliveryMode, DeliveryStatus};

/// Maximum size of a message body.
const MAX_BODY: usize = 256 << 10;
/// The events that the task reads at once.
const PAGE: usize = 100;
/// The wait after a failure of the log or the store.
const STORE_RETRY: Duration = Duration::from_secs(5);
/// The wait for an event type that this node does not have, as during a rolling update.
const TYPE_RETRY: Duration = Duration::from_secs(60);

/// Reason to stop a delivery.
enum Halt {
    /// The webhook or its subscription is gone, or another node delivers to it.
    Ended,
    /// The log or the store has failed. The position is that of the last delivered event.
    Failed(StoreError),
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// The next step of a delivery.
enum Next {
    Now,
    /// After the next event of this type that follows this position.
    Wait(String, String),
    /// After this time, or when the event types change.
    Later(Duration),
}

/// One subscription of this node.
struct Delivery<'a> {
    shared: &'a Shared,
    webhooks: &'a Webhooks,
    id: &'a str,
}

/// Delivers until the subscription ends. The caller aborts the task when this node loses the lease.
pub(super) async fn run(shared: Weak<Shared>, id: String) {
    let Some(mut types) = shared.upgrade().map(|shared| shared.types_changed()) else {
        return;
    };
    // If this node had the event type before, the program has removed it.
    let mut has_type = false;
    loop {
        // A waiting task does not keep the server alive.
        let Some(strong) = shared.upgrade() else {
            return;
        };
        let next = match strong.webhooks.get() {
            Some(webhooks) => {
                let delivery = Delivery {
                    shared: &strong,
                    webhooks,
                    id: &id,
                };
                delivery.step(&mut has_type).await
            }
            None => return,
        };
        let log = strong.log.clone();
        drop(strong);
        let pause = match next {
            Ok(Next::Now) => continue,
            Ok(Next::Wait(name, cursor)) => {
                tokio::select! {
                    waited = log.wait(&name, &cursor) => match waited {
                        Ok(()) => continue,
                        Err(error) => failed(&id, &error),
                    },
                    _ = types.changed() => continue,
                }
            }
            Ok(Next::Later(pause)) => pause,
            Err(Halt::Ended) => return,
            Err(Halt::Failed(error)) => failed(&id, &error),
        };
        tokio::select! {
            () = sleep(pause) => {}
            _ = types.changed() => {}
        }
    }
}

fn failed(id: &str, error: &StoreError) -> Duration {
    tracing::error!(subscription = id, error = %mcp_types::escaped(&error), "events cannot be delivered to a webhook; trying again");
    STORE_RETRY
}

impl Delivery<'_> {
    /// Delivers the next part of the log.
    async fn step(&self, has_type: &mut bool) -> Result<Next, Halt> {
        let known = self.webhooks.load(self.id).await?;
        let (subscription, mut progress) = known.ok_or(Halt::Ended)?;
        let caller = Some(subscription.subscriber.clone());
        let selector = &subscription.selector;
        let selection = Selection::new(self.shared, selector, DeliveryMode::Webhook, caller);
        let Ok(selection) = selection else {
            return self
                .without_type(&subscription, &mut progress, *has_type)
                .await;
        };
        *has_type = true;
        let page = selection.page(self.shared, &progress.cursor, PAGE).await?;
        self.deliver_page(&mut progress, &page).await?;
        Ok(if page.has_more {
            Next::Now
        } else {
            Next::Wait(subscription.selector.name, page.cursor)
        })
    }

    /// Ends the subscription if the program has removed the event type.
    async fn without_type(
        &self,
        subscription: &Subscription,
        progress: &mut Progress,
        was_removed: bool,
    ) -> Result<Next, Halt> {
        if !was_removed {
            tracing::warn!(
                subscription = self.id,
                event = subscription.selector.name,
                "this node cannot deliver the events of a webhook; it waits for the event type"
            );
            return Ok(Next::Later(TYPE_RETRY));
        }
        let error = json!({"code": codes::EVENTS_NOT_FOUND, "message": "the event type was removed or changed"});
        let body = json!({"type": "terminated", "error": error});
        self.control(progress, "terminated", &body).await?;
        self.end().await
    }

    async fn deliver_page(&self, progress: &mut Progress, page: &Page) -> Result<(), Halt> {
        let before = progress.clone();
        progress.gap |= page.truncated;
        for event in &page.events {
            if progress.gap {
                let gap = json!({"type": "gap", "cursor": progress.cursor});
                progress.gap = !self.control(progress, "gap", &gap).await?;
            }
            let is_accepted = self.deliver(progress, &event.event_id, event).await?;
            progress.gap |= !is_accepted;
            if let Some(position) = &event.cursor {
                progress.cursor.clone_from(position);
            }
            self.advance(progress).await?;
        }
        progress.cursor.clone_from(&page.cursor);
        let is_new = page.events.is_empty() && *progress != before
            || page
                .events
                .last()
                .is_some_and(|last| last.cursor.as_ref() != Some(&page.cursor));
        if is_new {
            self.advance(progress).await?;
        }
        Ok(())
    }

    /// Stores the progress, unless this node has lost the subscription.
    async fn advance(&self, progress: &Progress) -> Result<(), Halt> {
        let is_held = self.webhooks.advance(self.id, progress).await?;
        is_held.then_some(()).ok_or(Halt::Ended)
    }

    /// Removes the subscription.
    async fn end<T>(&self) -> Result<T, Halt> {
        let remove = self.webhooks.store.remove(self.id);
        self.webhooks.timed(remove).await?;
        Err(Halt::Ended)
    }

    /// Sends a control message.
    async fn control(
        &self,
        progress: &mut Progress,
        kind: &str,
        body: &Value,
    ) -> Result<bool, Halt> {
        let message = format!("msg_{kind}_{}", unique_id());
        self.deliver(progress, &message, body).await
    }

    /// Sends a message, and repeats it while the webhook fails. Returns false if the webhook does not accept it.
    async fn deliver(
        &self,
        progress: &mut Progress,
        message: &str,
        body: &impl Serialize,
    ) -> Result<bool, Halt> {
        let body = match serde_json::to_vec(body) {
            Ok(body) if body.len() <= MAX_BODY => Bytes::from(body),
            _ => {
                tracing::error!(
                    subscription = self.id,
                    "an event is too large for a webhook"
                );
                return Ok(false);
            }
        };
        let mut waits = self.webhooks.backoff.iter();
        loop {
            // Another node may have changed the secret, or ended the subscription.
            let known = self.webhooks.load(self.id).await?;
            let (subscription, _) = known.ok_or(Halt::Ended)?;
            let response =
                attempt(self.webhooks, &subscription, self.id, message, body.clone()).await?;
            let status = response.as_ref().map_or(0, |response| response.status);
            match status {
                200..300 => {
                    record_success(&mut progress.status);
                    return Ok(true);
                }
                410 => return self.end().await,
                _ => {}
            }
            let error = match &response {
                Ok(response) => format!("HTTP status {}", response.status),
                Err(failure) => failure.to_string(),
            };
            let asked = response
                .ok()
                .and_then(|response| retry_after::wait(&response, (self.webhooks.clock)()));
            let wait = waits.next().filter(|_| status != 413);
            let wait = wait.map(|wait| asked.map_or(*wait, |asked| asked.max(*wait)));
            record_failure(&mut progress.status, &error, asked.and(wait));
            self.advance(progress).await?;
            let Some(wait) = wait else {
                tracing::warn!(subscription = self.id, error, "an event was not delivered");
                return Ok(false);
            };
            sleep(wait).await;
        }
    }
}

/// Sends a message once, with the current time and signatures.
///
/// # Errors
///
/// Returns [`StoreError`] for a stored URL that this version cannot read.
pub(super) async fn attempt(
    webhooks: &Webhooks,
    subscription: &Subscription,
    id: &str,
    message: &str,
    body: Bytes,
) -> Result<Result<WebhookResponse, WebhookFailure>, StoreError> {
    let timestamp = clock::now() / 1000;
    let signatures = subscription.sign(webhooks.now(), message, timestamp, &body);
    let post = WebhookPost {
        url: subscription.url()?,
        headers: vec![
            ("content-type", "application/json".to_owned()),
            ("webhook-id", message.to_owned()),
            ("webhook-timestamp", timestamp.to_string()),
            ("webhook-signature", signatures),
            ("x-mcp-subscription-id", id.to_owned()),
        ],
        body,
    };
    let sent = timeout(POST_TIMEOUT, webhooks.transport.post(post)).await;
    Ok(sent.unwrap_or(Err(WebhookFailure::Timeout)))
}

fn record_success(status: &mut DeliveryStatus) {
    status.active = true;
    status.last_delivery_at = Some(clock::format(clock::now()));
    status.failed_since = None;
    status.throttled = None;
    status.retry_after_ms = None;
}

/// Records a failure. `throttled`: the wait that the webhook has asked for.
fn record_failure(status: &mut DeliveryStatus, error: &str, throttled: Option<Duration>) {
    status.active = false;
    status.last_error = Some(error.to_owned());
    status
        .failed_since
        .get_or_insert_with(|| clock::format(clock::now()));
    status.throttled = throttled.map(|_| true);
    status.retry_after_ms = throttled.map(|wait| wait.as_millis() as u64);
}
