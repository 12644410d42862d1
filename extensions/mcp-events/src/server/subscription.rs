//! Webhook subscriptions as they are stored.

use std::time::Duration;

use mcp_core::Principal;
use mcp_core::store::StoreError;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use url::Url;

use super::webhooks::Webhooks;
use crate::secret::WebhookSecret;
use crate::webhook_store::WebhookRecord;
use crate::wire::{DeliveryStatus, Selector};

/// The time for which messages are also signed with the earlier secret after a change.
const ROTATION: Duration = Duration::from_secs(3600);

/// A subscription. It has no `Debug`, because it contains secrets.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Subscription {
    pub(super) url: String,
    /// Selects its events. The position is that of its progress.
    #[serde(flatten)]
    pub(super) selector: Selector,
    /// The principal that has subscribed, for filters.
    pub(super) subscriber: Principal,
    #[serde(serialize_with = "write_secret", deserialize_with = "read_secret")]
    pub(super) secret: WebhookSecret,
    /// The secret before the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) earlier: Option<EarlierSecret>,
}

/// A secret that was replaced.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct EarlierSecret {
    #[serde(serialize_with = "write_secret", deserialize_with = "read_secret")]
    pub(super) secret: WebhookSecret,
    /// The end of its use, in milliseconds since 1970.
    pub(super) until: u64,
}

/// The position and the state of the deliveries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Progress {
    pub(super) cursor: String,
    /// Events before the next one are lost for this webhook.
    #[serde(default)]
    pub(super) gap: bool,
    pub(super) status: DeliveryStatus,
}

impl Subscription {
    /// # Errors
    ///
    /// Returns [`StoreError`] for a URL that this version cannot read.
    pub(super) fn url(&self) -> Result<Url, StoreError> {
        Url::parse(&self.url).map_err(StoreError::new)
    }

    /// Replaces the secret. The earlier one signs for an hour, too.
    pub(super) fn keep_earlier(&mut self, known: Self, now: u64) {
        self.earlier = if known.secret == self.secret {
            known.earlier
        } else {
            Some(EarlierSecret {
                secret: known.secret,
                until: now.saturating_add(ROTATION.as_millis() as u64),
            })
        };
    }

    /// Signs a message with the secret, and with an earlier one that is still in use.
    pub(super) fn sign(&self, now: u64, id: &str, timestamp: u64, body: &[u8]) -> String {
        let mut signatures = self.secret.sign(id, timestamp, body);
        if let Some(earlier) = self.earlier.as_ref().filter(|earlier| earlier.until > now) {
            signatures.push(' ');
            signatures.push_str(&earlier.secret.sign(id, timestamp, body));
        }
        signatures
    }

    /// # Errors
    ///
    /// Returns [`StoreError`] if it cannot be serialized.
    pub(super) fn record(
        &self,
        id: &str,
        owner: &str,
        progress: &Progress,
    ) -> Result<WebhookRecord, StoreError> {
        Ok(WebhookRecord::new(
            id,
            owner,
            to_json(self)?,
            to_json(progress)?,
        ))
    }
}

impl Webhooks {
    /// Loads a subscription with its progress.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the store fails, or has a record of another version.
    pub(super) async fn load(
        &self,
        id: &str,
    ) -> Result<Option<(Subscription, Progress)>, StoreError> {
        let Some(record) = self.timed(self.store.load(id)).await? else {
            return Ok(None);
        };
        // The position of an error does not repeat the content, which contains a secret.
        let unreadable = |error: serde_json::Error| {
            let (line, column) = (error.line(), error.column());
            StoreError::new(format!(
                "the stored webhook is not readable at line {line}, column {column}"
            ))
        };
        let subscription = serde_json::from_str(&record.subscription).map_err(unreadable)?;
        let progress = serde_json::from_str(&record.progress).map_err(unreadable)?;
        Ok(Some((subscription, progress)))
    }

    /// Stores the progress of a subscription that this node delivers. Returns false if it no longer does.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the store fails.
    pub(super) async fn advance(&self, id: &str, progress: &Progress) -> Result<bool, StoreError> {
        let json = to_json(progress)?;
        self.timed(self.store.advance(id, &self.node, json)).await
    }
}

fn to_json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(StoreError::new)
}

fn write_secret<S: Serializer>(secret: &WebhookSecret, writer: S) -> Result<S::Ok, S::Error> {
    writer.serialize_str(&secret.expose())
}

fn read_secret<'de, D: Deserializer<'de>>(reader: D) -> Result<WebhookSecret, D::Error> {
    let text = String::deserialize(reader)?;
    WebhookSecret::parse(&text).map_err(de::Error::custom)
}
