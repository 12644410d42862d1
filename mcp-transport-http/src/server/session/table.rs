//! Table of the sessions at an endpoint.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mcp_core::ClientContext;
use parking_lot::Mutex;
use tokio::task::AbortHandle;

use super::super::config::SessionEnd;
use super::eviction::{EvictionQueue, room};
use super::http_session::HttpSession;
use super::quota::{AddressBlock, SessionQuota};

/// Map from session ids to the sessions at an endpoint. Dropping the table ends all sessions.
#[derive(Default)]
pub(in crate::server) struct SessionTable {
    state: Mutex<TableState>,
    pub(super) quota: SessionQuota,
    /// The task that receives messages of other servers.
    relay_task: Mutex<Option<AbortHandle>>,
}

#[derive(Default)]
struct TableState {
    /// By the bytes of their ids, because a header need not be UTF-8. A fast hash function is safe here:
    /// the server creates the ids, so clients cannot choose ids with the same hash.
    sessions: SessionsById,
    /// All sessions in the order in which they make room for others.
    eviction: EvictionQueue,
    /// Sessions of each address with a share, in the same order.
    by_address: HashMap<AddressBlock, AddressShare>,
    /// The expiry task is running.
    has_expiry_task: bool,
    /// Facts about the newest session's client. Sessions of the same client software share one
    /// allocation, which saves 200 bytes per idle session.
    facts: Option<Arc<ClientContext>>,
    /// Key of the newest session. Most sessions of an endpoint have the same one.
    key: Option<Arc<str>>,
}

type SessionsById = HashMap<Arc<[u8]>, Arc<HttpSession>, RandomState>;

/// Sessions of one address.
#[derive(Default)]
struct AddressShare {
    live: usize,
    eviction: EvictionQueue,
}

impl TableState {
    /// Adds a new session to the eviction queues.
    fn enqueue(&mut self, session: &HttpSession) {
        let sessions = &self.sessions;
        let exists = |id: &str| sessions.contains_key(id.as_bytes());
        let id = &session.id;
        self.eviction.push(Arc::clone(id), sessions.len(), exists);
        if let Some(block) = session.address() {
            let share = self.by_address.entry(block).or_default();
            share.live += 1;
            share.eviction.push(Arc::clone(id), share.live, exists);
        }
    }

    /// Removes a session, and releases the memory of a peak while its sessions end.
    fn remove(&mut self, id: &str) -> Option<Arc<HttpSession>> {
        let session = self.sessions.remove(id.as_bytes())?;
        let live = self.sessions.len();
        if self.sessions.capacity() > 2 * room(live) {
            self.sessions.shrink_to(room(live));
        }
        let sessions = &self.sessions;
        let exists = |id: &str| sessions.contains_key(id.as_bytes());
        self.eviction.trim(live, exists);
        if let Some(block) = session.address()
            && let Entry::Occupied(mut share) = self.by_address.entry(block)
        {
            let AddressShare { live, eviction } = share.get_mut();
            *live -= 1;
            match *live {
                0 => drop(share.remove()),
                live => eviction.trim(live, exists),
            }
        }
        Some(session)
    }

    /// Returns the session that makes room for another one.
    fn next_eviction(&mut self, address: Option<AddressBlock>) -> Option<Arc<HttpSession>> {
        let sessions = &self.sessions;
        let find = |id: &str| sessions.get(id.as_bytes()).cloned();
        match address {
            None => self.eviction.pop(find),
            Some(block) => self.by_address.get_mut(&block)?.eviction.pop(find),
        }
    }
}

/// Error of [`SessionTable::insert`]: another session has the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) struct SessionIdInUse;

/// Error of [`SessionTable::replace`]: the session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) struct SessionEnded;

/// Result of [`SessionTable::insert`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inserted {
    /// The expiry task is already running.
    WithExpiryTask,
    /// The caller must start the expiry task.
    StartExpiryTask,
}

impl SessionTable {
    /// Inserts a session.
    ///
    /// # Errors
    ///
    /// Returns [`SessionIdInUse`] when another session has the same id.
    pub(super) fn insert(&self, session: &Arc<HttpSession>) -> Result<Inserted, SessionIdInUse> {
        let mut state = self.state.lock();
        match state.sessions.entry(Arc::clone(&session.id).into()) {
            Entry::Occupied(_) => return Err(SessionIdInUse),
            Entry::Vacant(entry) => entry.insert(Arc::clone(session)),
        };
        session.protocol.share_context(&mut state.facts);
        state.enqueue(session);
        Ok(if std::mem::replace(&mut state.has_expiry_task, true) {
            Inserted::WithExpiryTask
        } else {
            Inserted::StartExpiryTask
        })
    }

    /// Replaces a session with its successor. The successor receives its permit. The caller ends
    /// the previous session with [`HttpSession::end_replaced`].
    ///
    /// # Errors
    ///
    /// Returns [`SessionEnded`] when there is no session with this id.
    pub(in crate::server) fn replace(
        &self,
        session: &Arc<HttpSession>,
    ) -> Result<(), SessionEnded> {
        let mut state = self.state.lock();
        let slot = state
            .sessions
            .get_mut(session.id.as_bytes())
            .ok_or(SessionEnded)?;
        *slot = Arc::clone(session);
        Ok(())
    }

    /// Starts the task that receives messages of other servers, unless it runs.
    pub(super) fn start_relay_task(&self, start: impl FnOnce() -> AbortHandle) {
        let mut task = self.relay_task.lock();
        // A task that is finished was dropped together with its runtime.
        if task.as_ref().is_none_or(AbortHandle::is_finished) {
            *task = Some(start());
        }
    }

    /// Returns a key, in the allocation of the newest session's key if they are equal.
    pub(super) fn share_key(&self, key: &str) -> Arc<str> {
        let mut state = self.state.lock();
        match &state.key {
            Some(last) if **last == *key => Arc::clone(last),
            _ => Arc::clone(state.key.insert(key.into())),
        }
    }

    pub(super) fn find(&self, id: &[u8]) -> Option<Arc<HttpSession>> {
        self.state.lock().sessions.get(id).cloned()
    }

    /// Removes and ends a session. Unknown ids are ignored.
    pub(in crate::server) fn end(&self, id: &str, reason: SessionEnd) {
        let removed = self.state.lock().remove(id);
        if let Some(session) = removed {
            session.end(reason);
        }
    }

    /// Ends a session to make room for another one: the oldest one that never became ready, or the
    /// anonymous one that is idle for the longest time. With an address, only sessions of that address.
    /// Returns false when no session may be ended.
    pub(super) fn evict(&self, address: Option<AddressBlock>) -> bool {
        let mut state = self.state.lock();
        let evicted = state.next_eviction(address);
        if let Some(session) = &evicted {
            state.remove(&session.id);
        }
        drop(state);
        if let Some(session) = &evicted {
            session.end(SessionEnd::Evicted);
        }
        evicted.is_some()
    }

    /// Removes and ends all sessions.
    pub(in crate::server) fn end_all(&self) {
        let mut state = self.state.lock();
        let sessions = std::mem::take(&mut state.sessions);
        state.eviction = EvictionQueue::default();
        state.by_address = HashMap::new();
        drop(state);
        for session in sessions.into_values() {
            session.end(SessionEnd::Closed);
        }
    }

    pub(super) fn all(&self) -> Vec<Arc<HttpSession>> {
        self.state.lock().sessions.values().cloned().collect()
    }

    pub(in crate::server) fn len(&self) -> usize {
        self.state.lock().sessions.len()
    }

    /// Returns true when the table is empty and the expiry task must end. The next
    /// [`insert`](Self::insert) starts a new one.
    pub(super) fn end_expiry_task(&self) -> bool {
        let mut state = self.state.lock();
        state.has_expiry_task = !state.sessions.is_empty();
        !state.has_expiry_task
    }

    /// Records that the expiry task was dropped, for example together with its runtime. The next
    /// [`insert`](Self::insert) starts a new one.
    pub(super) fn expiry_task_dropped(&self) {
        self.state.lock().has_expiry_task = false;
    }
}

impl Drop for SessionTable {
    fn drop(&mut self) {
        if let Some(task) = self.relay_task.get_mut() {
            task.abort();
        }
        self.end_all();
    }
}
