//! Stores of sessions, for other nodes and for restarts.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::StoreError;
use crate::legacy::SessionRecord;
use parking_lot::Mutex;

/// A store of sessions. When its data is lost, clients open new sessions, as after the restart of a
/// server without a store.
///
/// Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management>
#[async_trait]
pub trait SessionStore: Send + Sync + 'static {
    /// Returns the record that was saved last under an id. `None` when it was removed or has expired.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the store is not available. The request then fails.
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError>;

    /// Saves a session for at least `ttl`. Replaces the record that was saved before.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the session was not saved. The request then fails.
    async fn save(&self, id: &str, record: SessionRecord, ttl: Duration) -> Result<(), StoreError>;

    /// Removes a session. An unknown id is no error.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the session may still be stored.
    async fn remove(&self, id: &str) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        (**self).load(id).await
    }

    async fn save(&self, id: &str, record: SessionRecord, ttl: Duration) -> Result<(), StoreError> {
        (**self).save(id, record, ttl).await
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        (**self).remove(id).await
    }
}

/// A store in the memory of this process, for endpoints that share sessions and for tests.
///
/// Its capacity is 100,000 sessions by default. When it is full, a new session replaces the expired
/// ones, or the one that expires next.
#[derive(Debug)]
pub struct MemorySessionStore {
    sessions: Mutex<HashMap<Box<str>, (SessionRecord, Instant)>>,
    capacity: usize,
    clock: fn() -> Instant,
}

impl MemorySessionStore {
    /// An empty store with a capacity of 100,000 sessions.
    pub fn new() -> Self {
        Self {
            sessions: Mutex::default(),
            capacity: 100_000,
            clock: Instant::now,
        }
    }

    /// Sets the maximum number of sessions. Default: 100,000.
    #[must_use]
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.capacity = sessions;
        self
    }

    /// Sets the clock. Default: [`Instant::now`].
    #[must_use]
    pub fn clock(mut self, clock: fn() -> Instant) -> Self {
        self.clock = clock;
        self
    }

    /// Returns the number of stored sessions, including expired ones.
    pub fn len(&self) -> usize {
        self.sessions.lock().len()
    }

    /// Returns true if no session is stored.
    pub fn is_empty(&self) -> bool {
        self.sessions.lock().is_empty()
    }
}

impl Default for MemorySessionStore {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl SessionStore for MemorySessionStore {
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        let now = (self.clock)();
        let sessions = self.sessions.lock();
        let stored = sessions.get(id).filter(|(_, until)| *until > now);
        Ok(stored.map(|(record, _)| record.clone()))
    }

    async fn save(&self, id: &str, record: SessionRecord, ttl: Duration) -> Result<(), StoreError> {
        let now = (self.clock)();
        let mut sessions = self.sessions.lock();
        if sessions.len() >= self.capacity && !sessions.contains_key(id) {
            sessions.retain(|_, (_, until)| *until > now);
        }
        if sessions.len() >= self.capacity && !sessions.contains_key(id) {
            let next = sessions.iter().min_by_key(|(_, (_, until))| *until);
            if let Some(next) = next.map(|(id, _)| id.clone()) {
                sessions.remove(&next);
            }
        }
        sessions.insert(id.into(), (record, now + ttl));
        Ok(())
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.sessions.lock().remove(id);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! Storage, expiry and limits.

    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use futures::executor::block_on;
    use mcp_types::ProtocolVersion;

    use super::{MemorySessionStore, SessionStore};
    use crate::legacy::SessionRecord;

    fn record(subscription: &str) -> SessionRecord {
        SessionRecord {
            version: ProtocolVersion::V2025_11_25,
            capabilities: Default::default(),
            client_info: None,
            log_level: None,
            subscriptions: vec![subscription.to_owned()],
            owner: None,
            ready: true,
        }
    }

    static SECONDS: AtomicU64 = AtomicU64::new(0);

    fn clock() -> Instant {
        static START: OnceLock<Instant> = OnceLock::new();
        *START.get_or_init(Instant::now) + Duration::from_secs(SECONDS.load(Ordering::Relaxed))
    }

    #[test]
    fn session_expires_after_its_ttl() {
        let store = MemorySessionStore::new().max_sessions(2).clock(clock);
        let save = |id: &str, ttl| {
            block_on(store.save(id, record(id), Duration::from_secs(ttl))).unwrap();
        };
        let has = |id: &str| block_on(store.load(id)).unwrap().is_some();
        save("a", 10);
        save("b", 20);
        assert_eq!(block_on(store.load("a")).unwrap(), Some(record("a")));
        // The session that expires next is replaced.
        save("c", 30);
        assert_eq!([has("a"), has("b"), has("c")], [false, true, true]);
        save("b", 5);
        SECONDS.store(6, Ordering::Relaxed);
        assert_eq!([has("b"), has("c"), has("d")], [false, true, false]);
        block_on(store.remove("c")).unwrap();
        block_on(store.remove("d")).unwrap();
        assert!(!has("c"));
        save("e", 5);
        assert_eq!(store.len(), 2);
    }
}
