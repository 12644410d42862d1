//! Session stores, for other nodes and for restarts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::StoreError;
use super::relay::SessionRelay;
use super::session_record::SessionRecord;
use crate::time::Expiring;
use crate::time::deadline::finite;
use parking_lot::Mutex;

/// A session store. When its data is lost, clients open new sessions, as after the restart of a
/// server without a store.
///
/// A record is created once, and every later write requires that it still exists. A session that one
/// node has ended therefore stays ended, whatever another node writes at the same time.
///
/// The transport limits the time of each call, and a panic counts as a store failure. Errors
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

    /// Removes a session. An unknown id is not an error.
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

/// A store in this process's memory, for endpoints that share sessions and for tests.
///
/// Its capacity is 100,000 sessions by default. When it is full, a new session replaces the one that
/// expires next. Each operation removes the expired sessions.
#[derive(Debug)]
pub struct MemorySessionStore {
    sessions: Mutex<StoredSessions>,
    capacity: usize,
    clock: fn() -> Instant,
}

type StoredSessions = Expiring<Arc<str>, SessionRecord>;

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

    /// Returns the number of stored sessions. Sessions that expired after the last operation are
    /// included.
    pub fn count(&self) -> usize {
        self.sessions.lock().len()
    }

    /// Runs an operation after expired sessions were removed.
    fn run<T>(&self, operation: impl FnOnce(&mut StoredSessions, Instant) -> T) -> T {
        let now = (self.clock)();
        let mut sessions = self.sessions.lock();
        while sessions.pop_expired(now).is_some() {}
        operation(&mut sessions, now)
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
        Ok(self.run(|sessions, _| sessions.get(id).cloned()))
    }

    async fn insert(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        let insert = |sessions: &mut StoredSessions, now| {
            if sessions.get(id).is_some() {
                return false;
            }
            if sessions.len() >= self.capacity {
                sessions.pop_first();
            }
            sessions.insert(id.into(), record, Some(now + finite(ttl)));
            true
        };
        Ok(self.run(insert))
    }

    async fn replace(
        &self,
        id: &str,
        record: SessionRecord,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        let replace = |sessions: &mut StoredSessions, now| {
            let stored = sessions.renew(id, |_| Some(now + finite(ttl)));
            stored.map(|stored| *stored = record).is_some()
        };
        Ok(self.run(replace))
    }

    async fn touch(&self, id: &str, ttl: Duration) -> Result<bool, StoreError> {
        let touch = |sessions: &mut StoredSessions, now| {
            sessions.renew(id, |_| Some(now + finite(ttl))).is_some()
        };
        Ok(self.run(touch))
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.run(|sessions, _| sessions.remove(id));
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

    use super::{MemorySessionStore, SessionRecord, SessionStore};

    fn record(subscription: &str) -> SessionRecord {
        SessionRecord {
            server: "shop".to_owned(),
            version: ProtocolVersion::V2025_11_25,
            capabilities: Default::default(),
            client_info: None,
            log_level: None,
            subscriptions: vec![subscription.to_owned()],
            owner: crate::authorization::CallerKey::default(),
            key: None,
            topic: None,
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
        assert_eq!(store.count(), 1);
    }

    #[test]
    fn expired_sessions_are_removed_before_the_store_is_full() {
        static MINUTES: AtomicU64 = AtomicU64::new(0);
        fn clock() -> Instant {
            static START: OnceLock<Instant> = OnceLock::new();
            let minutes = MINUTES.load(Ordering::Relaxed);
            *START.get_or_init(Instant::now) + Duration::from_secs(60 * minutes)
        }
        let store = MemorySessionStore::new().clock(clock);
        let ttl = Duration::from_secs(10 * 60);
        for number in 0..1000 {
            let id = number.to_string();
            assert!(block_on(store.insert(&id, record(&id), ttl)).unwrap());
            MINUTES.fetch_add(1, Ordering::Relaxed);
            assert!(store.count() <= 10, "{} sessions", store.count());
        }
        // A session in use stays, and its index entries are replaced.
        for _ in 0..100 {
            assert!(block_on(store.touch("999", ttl)).unwrap());
            assert!(block_on(store.replace("999", record("used"), ttl)).unwrap());
            MINUTES.fetch_add(1, Ordering::Relaxed);
        }
        let mut sessions = store.sessions.lock();
        assert_eq!(sessions.len(), 1);
        assert!(sessions.pop_first().is_some());
        assert_eq!(sessions.next_expiry(), None);
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
