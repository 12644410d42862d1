//! Stores that fail now and then.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mcp::core::store::{Replay, ReplayError, SessionRecord, StoreError, StoredEvent, StreamId};
use mcp::{EventStore, SessionStore};

/// A store of which every 50th operation fails.
#[derive(Debug, Default)]
pub struct FaultyStore<S> {
    inner: S,
    operations: AtomicU32,
}

const PERIOD: u32 = 50;

impl<S> FaultyStore<S> {
    /// Creates a store on top of `inner`.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            operations: AtomicU32::new(0),
        }
    }

    fn fail_sometimes(&self) -> Result<(), StoreError> {
        let number = self.operations.fetch_add(1, Ordering::Relaxed);
        match number % PERIOD {
            0 => Err(StoreError::new(
                "the store fails, as the benchmark wants it",
            )),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl<S: SessionStore> SessionStore for FaultyStore<S> {
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        self.fail_sometimes()?;
        self.inner.load(id).await
    }

    async fn insert(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.fail_sometimes()?;
        self.inner.insert(id, record, ttl).await
    }

    async fn replace(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.fail_sometimes()?;
        self.inner.replace(id, record, ttl).await
    }

    async fn touch(&self, id: &str, ttl: Duration) -> Result<bool, StoreError> {
        self.fail_sometimes()?;
        self.inner.touch(id, ttl).await
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.fail_sometimes()?;
        self.inner.remove(id).await
    }
}

#[async_trait]
impl<S: EventStore> EventStore for FaultyStore<S> {
    async fn append(&self, stream: StreamId<'_>, event: StoredEvent) -> Result<u64, StoreError> {
        self.fail_sometimes()?;
        self.inner.append(stream, event).await
    }

    async fn after(&self, stream: StreamId<'_>, after: Option<u64>) -> Result<Replay, ReplayError> {
        self.fail_sometimes()?;
        self.inner.after(stream, after).await
    }

    async fn forget(&self, session: &str) -> Result<(), StoreError> {
        self.fail_sometimes()?;
        self.inner.forget(session).await
    }
}
