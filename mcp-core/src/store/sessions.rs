//! Sessions that another node, or the same one after a restart, can continue.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::StoreError;
use crate::legacy::SessionRecord;
use parking_lot::Mutex;

/// Where sessions are written down. What is lost with it: clients have to open new sessions, as
/// after every restart of a server without a store.
///
/// Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management>
#[async_trait]
pub trait SessionStore: Send + Sync + 'static {
    /// What was saved last under an id, unless it was removed or its time is up.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the store does not answer; the request fails then.
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError>;

    /// Saves a session, for as long as `ttl` at the least, in place of what was saved before.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when it was not saved; the request fails then.
    async fn save(&self, id: &str, record: SessionRecord, ttl: Duration) -> Result<(), StoreError>;

    /// Forgets a session. An unknown one is no error.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when it may still be there.
    async fn remove(&self, id: &str) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    #[inline]
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        (**self).load(id).await
    }

    #[inline]
    async fn save(&self, id: &str, record: SessionRecord, ttl: Duration) -> Result<(), StoreError> {
        (**self).save(id, record, ttl).await
    }

    #[inline]
    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        (**self).remove(id).await
    }
}

/// Sessions in the memory of this process: for endpoints that share them, and for tests.
///
/// It holds at most so many sessions; when a new one comes in, those are dropped first whose time
/// is up, then the one whose time is up next.
#[derive(Debug)]
pub struct MemorySessionStore {
    sessions: Mutex<HashMap<Box<str>, (SessionRecord, Instant)>>,
    capacity: usize,
    clock: fn() -> Instant,
}

impl MemorySessionStore {
    /// A store of at most 100,000 sessions.
    #[inline]
    pub fn new() -> Self {
        Self {
            sessions: Mutex::default(),
            capacity: 100_000,
            clock: Instant::now,
        }
    }

    /// Sets how many sessions it holds. Default: 100,000.
    #[must_use]
    #[inline]
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.capacity = sessions;
        self
    }

    /// Sets where the time comes from.
    #[must_use]
    #[inline]
    pub fn clock(mut self, clock: fn() -> Instant) -> Self {
        self.clock = clock;
        self
    }

    /// How many sessions there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.sessions.lock().len()
    }

    /// There is no session.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sessions.lock().is_empty()
    }
}

impl Default for MemorySessionStore {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl SessionStore for MemorySessionStore {
    #[inline]
    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        let now = (self.clock)();
        let sessions = self.sessions.lock();
        let kept = sessions.get(id).filter(|(_, until)| *until > now);
        Ok(kept.map(|(record, _)| record.clone()))
    }

    #[inline]
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

    #[inline]
    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.sessions.lock().remove(id);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
