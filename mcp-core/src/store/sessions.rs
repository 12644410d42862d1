//! Stores of sessions, for other nodes and for restarts.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::StoreError;
use super::relay::{MemoryRelay, SessionRelay};
use crate::deadline::finite;
use crate::legacy::SessionRecord;
use parking_lot::Mutex;

/// A store of sessions. When its data is lost, clients open new sessions, as after the restart of a
/// server without a store.
///
/// A record is created once, and every later write requires that it still exists. A session that one
/// node has ended therefore stays ended, whatever another node writes at the same time.
///
/// The transport limits the time of each call, and a panic counts as a failure of the store. Errors
/// are logged and not sent to clients.
///
/// # Implementations
///
/// Each method is one command of a store such as Redis, with the record as JSON. No method needs a
/// transaction.
///
/// | method | command |
/// |---|---|
/// | [`load`](Self::load) | `GET key` |
/// | [`insert`](Self::insert) | `SET key value NX PX ttl` |
/// | [`replace`](Self::replace) | `SET key value XX PX ttl` |
/// | [`touch`](Self::touch) | `PEXPIRE key ttl` |
/// | [`remove`](Self::remove) | `DEL key` |
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

    /// Stores a new session for at least `ttl`. Returns false, and stores nothing, if the id is in
    /// use.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the session was not stored. The request then fails.
    async fn insert(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError>;

    /// Replaces the record of a session and keeps it for at least `ttl`. Returns false, and stores
    /// nothing, if the session was removed or has expired. Check and write must be atomic.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the record was not stored. The request then fails.
    async fn replace(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError>;

    /// Keeps a session for at least `ttl` from now on, without a change of its record. Returns false
    /// if the session was removed or has expired.
    ///
    /// The default implementation loads the record and replaces it by itself. A store with a command
    /// for this should use it, because a change by another node in between would be lost.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the session may expire earlier.
    async fn touch(&self, id: &str, ttl: Duration) -> Result<bool, StoreError> {
        match self.load(id).await? {
            Some(record) => self.replace(id, record, ttl).await,
            None => Ok(false),
        }
    }

    /// Removes a session. An unknown id is no error.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] when the session may still be stored.
    async fn remove(&self, id: &str) -> Result<(), StoreError>;

    /// Returns the relay between the nodes that share this store. Without a relay, which is the
    /// default, a response or cancellation that reaches another node than its call is rejected or
    /// ignored there. Each endpoint calls this once.
    fn relay(&self) -> Option<Arc<dyn SessionRelay>> {
        None
    }
}

#[async_trait]
impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        (**self).load(id).await
    }

    async fn insert(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        (**self).insert(id, record, ttl).await
    }

    async fn replace(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        (**self).replace(id, record, ttl).await
    }

    async fn touch(&self, id: &str, ttl: Duration) -> Result<bool, StoreError> {
        (**self).touch(id, ttl).await
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        (**self).remove(id).await
    }

    fn relay(&self) -> Option<Arc<dyn SessionRelay>> {
        (**self).relay()
    }
}

/// A store in the memory of this process, for endpoints that share sessions and for tests.
///
/// Its capacity is 100,000 sessions by default. When it is full, a new session replaces the expired
/// ones, or the one that expires next.
#[derive(Debug)]
pub struct MemorySessionStore {
    sessions: Mutex<Sessions>,
    capacity: usize,
    clock: fn() -> Instant,
    relay: Option<MemoryRelay>,
}

/// The records by session id, each with the end of its lifetime.
type Sessions = HashMap<Box<str>, (SessionRecord, Instant)>;

impl MemorySessionStore {
    /// An empty store with a capacity of 100,000 sessions.
    pub fn new() -> Self {
        Self {
            sessions: Mutex::default(),
            capacity: 100_000,
            clock: Instant::now,
            relay: None,
        }
    }

    /// Relays the messages of clients between the endpoints that share this store. Default: no relay.
    #[must_use]
    pub fn with_relay(mut self, relay: MemoryRelay) -> Self {
        self.relay = Some(relay);
        self
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

    /// Changes a session that is stored and has not expired. Returns false for all others.
    fn change(
        &self,
        id: &str,
        change: impl FnOnce(&mut (SessionRecord, Instant), Instant),
    ) -> bool {
        let now = (self.clock)();
        let mut sessions = self.sessions.lock();
        match sessions.get_mut(id).filter(|(_, until)| *until > now) {
            Some(stored) => {
                change(stored, now);
                true
            }
            None => false,
        }
    }

    /// Removes the expired sessions if the store is full, and then the one that expires next.
    fn make_space(&self, sessions: &mut Sessions, now: Instant) {
        if sessions.len() >= self.capacity {
            sessions.retain(|_, (_, until)| *until > now);
        }
        if sessions.len() >= self.capacity {
            let next = sessions.iter().min_by_key(|(_, (_, until))| *until);
            if let Some(next) = next.map(|(id, _)| id.clone()) {
                sessions.remove(&next);
            }
        }
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

    async fn insert(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        let now = (self.clock)();
        let mut sessions = self.sessions.lock();
        if sessions.get(id).is_some_and(|(_, until)| *until > now) {
            return Ok(false);
        }
        self.make_space(&mut sessions, now);
        sessions.insert(id.into(), (record, now + finite(ttl)));
        Ok(true)
    }

    async fn replace(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        Ok(self.change(id, |stored, now| *stored = (record, now + finite(ttl))))
    }

    async fn touch(&self, id: &str, ttl: Duration) -> Result<bool, StoreError> {
        Ok(self.change(id, |(_, until), now| *until = now + finite(ttl)))
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.sessions.lock().remove(id);
        Ok(())
    }

    fn relay(&self) -> Option<Arc<dyn SessionRelay>> {
        let relay = self.relay.as_ref()?;
        Some(Arc::new(relay.join()))
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
            owner_client: None,
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
            let ttl = Duration::from_secs(ttl);
            if !block_on(store.replace(id, record(id), ttl)).unwrap() {
                assert!(block_on(store.insert(id, record(id), ttl)).unwrap());
            }
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

    #[test]
    fn removed_or_expired_session_is_not_written_again() {
        let store = MemorySessionStore::new();
        let ttl = Duration::from_secs(10);
        let replace = |text| block_on(store.replace("a", record(text), ttl)).unwrap();
        let touch = || block_on(store.touch("a", ttl)).unwrap();
        assert_eq!([replace("early"), touch()], [false, false]);
        assert!(block_on(store.insert("a", record("first"), ttl)).unwrap());
        assert!(!block_on(store.insert("a", record("second"), ttl)).unwrap());
        assert_eq!(block_on(store.load("a")).unwrap(), Some(record("first")));
        assert_eq!([replace("third"), touch()], [true, true]);
        assert_eq!(block_on(store.load("a")).unwrap(), Some(record("third")));
        block_on(store.remove("a")).unwrap();
        assert_eq!([replace("late"), touch()], [false, false]);
        assert_eq!(block_on(store.load("a")).unwrap(), None);
        assert!(block_on(store.insert("a", record("b"), Duration::ZERO)).unwrap());
        assert_eq!([replace("late"), touch()], [false, false]);
    }

    #[test]
    fn largest_ttl_does_not_overflow() {
        let store = MemorySessionStore::new();
        let ttl = Duration::MAX;
        assert!(block_on(store.insert("a", record("a"), ttl)).unwrap());
        assert!(block_on(store.replace("a", record("b"), ttl)).unwrap());
        assert!(block_on(store.touch("a", ttl)).unwrap());
        assert_eq!(block_on(store.load("a")).unwrap(), Some(record("b")));
    }
}
