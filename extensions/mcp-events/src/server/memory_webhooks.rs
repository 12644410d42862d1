//! The webhook subscriptions in memory.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcp_core::store::StoreError;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::webhook_store::{WebhookLimits, WebhookRecord, WebhookStore, WebhookWrite};

/// The number of verified URLs that are remembered.
const MAX_VERIFIED: usize = 10_000;

/// The webhook subscriptions in memory, for one process. Clones share them. After a restart there are
/// none: clients subscribe again when they renew them.
#[derive(Clone, Default)]
pub struct MemoryWebhookStore {
    state: Arc<Mutex<StoredWebhooks>>,
}

/// The longest life of a webhook or lease: 34 years, which every clock can represent.
const LONGEST: Duration = Duration::from_secs(1 << 30);

#[derive(Default)]
struct StoredWebhooks {
    webhooks: HashMap<String, StoredWebhook>,
    verified: HashSet<(String, String)>,
}

struct StoredWebhook {
    record: WebhookRecord,
    ends: Instant,
    /// The node that delivers, and the end of its lease.
    holder: Option<(String, Instant)>,
}

impl StoredWebhook {
    fn is_held_by(&self, node: &str, now: Instant) -> bool {
        let holder = self.holder.as_ref();
        holder.is_some_and(|(name, until)| name == node && *until > now)
    }
}

impl MemoryWebhookStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs an operation without the subscriptions that have expired.
    fn change<T>(&self, change: impl FnOnce(&mut StoredWebhooks, Instant) -> T) -> T {
        let now = Instant::now();
        let mut state = self.state.lock();
        state.webhooks.retain(|_, webhook| webhook.ends > now);
        change(&mut state, now)
    }
}

impl StoredWebhooks {
    fn put(
        &mut self,
        mut record: WebhookRecord,
        ends: Instant,
        limits: &WebhookLimits,
    ) -> WebhookWrite {
        if let Some(stored) = self.webhooks.get_mut(&record.id) {
            record.progress = std::mem::take(&mut stored.record.progress);
            stored.record = record;
            stored.ends = ends;
            return WebhookWrite::Stored;
        }
        let space = self.check_space(&record.owner, limits);
        if space != WebhookWrite::Stored {
            return space;
        }
        let stored = StoredWebhook {
            ends,
            holder: None,
            record,
        };
        self.webhooks.insert(stored.record.id.clone(), stored);
        WebhookWrite::Stored
    }

    fn check_space(&self, owner: &str, limits: &WebhookLimits) -> WebhookWrite {
        let of_owner = self.webhooks.values();
        let of_owner = of_owner.filter(|stored| stored.record.owner == owner);
        if self.webhooks.len() >= limits.subscriptions {
            WebhookWrite::Full
        } else if of_owner.count() >= limits.subscriptions_per_owner {
            WebhookWrite::OwnerFull
        } else {
            WebhookWrite::Stored
        }
    }

    fn claim(&mut self, node: &str, now: Instant, until: Instant, limit: usize) -> Vec<String> {
        let mut free = limit;
        let mut held = Vec::new();
        for (id, webhook) in &mut self.webhooks {
            let is_free = webhook.holder.as_ref().is_none_or(|(_, end)| *end <= now);
            let is_held = webhook.is_held_by(node, now);
            if !is_held && (!is_free || free == 0) {
                continue;
            }
            free -= usize::from(!is_held);
            webhook.holder = Some((node.to_owned(), until));
            held.push(id.clone());
        }
        held
    }
}

#[async_trait]
impl WebhookStore for MemoryWebhookStore {
    async fn put(
        &self,
        record: WebhookRecord,
        ttl: Duration,
        limits: &WebhookLimits,
    ) -> Result<WebhookWrite, StoreError> {
        Ok(self.change(|state, now| state.put(record, now + ttl.min(LONGEST), limits)))
    }

    async fn check_space(
        &self,
        owner: &str,
        limits: &WebhookLimits,
    ) -> Result<WebhookWrite, StoreError> {
        Ok(self.change(|state, _| state.check_space(owner, limits)))
    }

    async fn load(&self, id: &str) -> Result<Option<WebhookRecord>, StoreError> {
        let record =
            self.change(|state, _| state.webhooks.get(id).map(|stored| stored.record.clone()));
        Ok(record)
    }

    async fn remove(&self, id: &str) -> Result<bool, StoreError> {
        Ok(self.change(|state, _| state.webhooks.remove(id).is_some()))
    }

    async fn claim(
        &self,
        node: &str,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        Ok(self.change(|state, now| state.claim(node, now, now + lease.min(LONGEST), limit)))
    }

    async fn advance(&self, id: &str, node: &str, progress: String) -> Result<bool, StoreError> {
        let stored = self.change(|state, now| {
            let webhook = state.webhooks.get_mut(id);
            let webhook = webhook.filter(|webhook| webhook.is_held_by(node, now))?;
            webhook.record.progress = progress;
            Some(())
        });
        Ok(stored.is_some())
    }

    async fn set_verified(&self, owner: &str, url: &str) -> Result<(), StoreError> {
        let verified = &mut self.state.lock().verified;
        if verified.len() >= MAX_VERIFIED {
            verified.clear();
        }
        verified.insert((owner.to_owned(), url.to_owned()));
        Ok(())
    }

    async fn is_verified(&self, owner: &str, url: &str) -> Result<bool, StoreError> {
        let key = (owner.to_owned(), url.to_owned());
        Ok(self.state.lock().verified.contains(&key))
    }
}

impl fmt::Debug for MemoryWebhookStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryWebhookStore")
            .field("subscriptions", &self.state.lock().webhooks.len())
            .finish_non_exhaustive()
    }
}
