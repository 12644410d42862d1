//! [`MemoryStore`]: credentials in this process's memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;

use super::{CredentialStore, StoreKey, StoreLock, lock_timeout};
use crate::error::AuthError;
use crate::secret::Secret;

/// A store in this process's memory. Users log in again after a restart. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore(Arc<MemoryRecords>);

#[derive(Debug, Default)]
struct MemoryRecords {
    records: Mutex<HashMap<StoreKey, Secret>>,
    locks: Mutex<HashMap<StoreKey, Arc<tokio::sync::Mutex<()>>>>,
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl CredentialStore for MemoryStore {
    async fn load(&self, key: &StoreKey) -> Result<Option<Secret>, AuthError> {
        Ok(self.0.records.lock().get(key).cloned())
    }

    async fn save(&self, key: &StoreKey, record: &Secret) -> Result<(), AuthError> {
        self.0.records.lock().insert(key.clone(), record.clone());
        Ok(())
    }

    async fn remove(&self, key: &StoreKey) -> Result<(), AuthError> {
        self.0.records.lock().remove(key);
        Ok(())
    }

    async fn lock(&self, key: &StoreKey, timeout: Duration) -> Result<StoreLock, AuthError> {
        let lock = {
            let mut locks = self.0.locks.lock();
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(locks.entry(key.clone()).or_default())
        };
        let guard = tokio::time::timeout(timeout, lock.lock_owned()).await;
        guard.map(StoreLock::new).map_err(|_| lock_timeout(timeout))
    }
}
