//! A task store in this process's memory.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;

use super::StoreError;
use super::tasks::{TaskLimits, TaskRecord, TaskStore, TaskWrite};
use crate::close_signal::CloseSignal;
use crate::time::Expiring;
use crate::time::deadline::finite;

/// A store in this process's memory. The [limits](TaskLimits) of each write bound its memory.
pub struct MemoryTaskStore {
    state: Mutex<StoredTasks>,
    clock: fn() -> Instant,
}

#[derive(Default)]
struct StoredTasks {
    tasks: Expiring<Arc<str>, StoredTask>,
    owners: HashMap<(String, String), usize>,
    nodes: HashMap<Box<str>, Instant>,
    bytes: usize,
}

struct StoredTask {
    record: Arc<TaskRecord>,
    size: usize,
    /// Closes at the next change.
    changed: CloseSignal,
}

impl MemoryTaskStore {
    /// Sets the clock. Default: [`Instant::now`].
    #[must_use]
    pub fn clock(mut self, clock: fn() -> Instant) -> Self {
        self.clock = clock;
        self
    }

    /// Returns the number of stored tasks.
    pub fn count(&self) -> usize {
        self.state.lock().tasks.len()
    }

    /// Returns the size of the stored records as JSON, in bytes.
    pub fn bytes(&self) -> usize {
        self.state.lock().bytes
    }

    /// Changes the state after expired tasks were removed. Wakes watchers without the lock.
    fn change<T>(&self, change: impl FnOnce(&mut StoredTasks, &mut Vec<CloseSignal>) -> T) -> T {
        let now = (self.clock)();
        let mut signals = Vec::new();
        let changed = {
            let mut state = self.state.lock();
            state.expire(now, &mut signals);
            change(&mut state, &mut signals)
        };
        signals.iter().for_each(|signal| signal.close(()));
        changed
    }
}

impl StoredTasks {
    fn expire(&mut self, now: Instant, signals: &mut Vec<CloseSignal>) {
        while let Some((_, stored)) = self.tasks.pop_expired(now) {
            signals.push(self.release(stored));
        }
        self.nodes.retain(|_, until| *until > now);
    }

    fn insert(&mut self, record: TaskRecord, until: Instant, limits: &TaskLimits) -> TaskWrite {
        let size = record.size();
        if self.tasks.get(&*record.task.task_id).is_some() {
            return TaskWrite::Conflict;
        }
        if self.tasks.len() >= limits.tasks || self.bytes + size > limits.bytes {
            return TaskWrite::Full;
        }
        if let Some(owner) = owner(&record) {
            let count = self.owners.get(&owner).copied().unwrap_or(0);
            if count >= limits.tasks_per_principal {
                return TaskWrite::PrincipalFull;
            }
            self.owners.insert(owner, count + 1);
        }
        let id: Arc<str> = record.task.task_id.as_str().into();
        self.bytes += size;
        let stored = StoredTask {
            record: Arc::new(record),
            size,
            changed: CloseSignal::default(),
        };
        self.tasks.insert(id, stored, Some(until));
        TaskWrite::Stored
    }

    fn replace(
        &mut self,
        record: TaskRecord,
        limits: &TaskLimits,
        signals: &mut Vec<CloseSignal>,
    ) -> TaskWrite {
        let Some(stored) = self.tasks.get_mut(&*record.task.task_id) else {
            return TaskWrite::Gone;
        };
        if stored.record.revision.checked_add(1) != Some(record.revision) {
            return TaskWrite::Conflict;
        }
        let size = record.size();
        let bytes = self.bytes - stored.size + size;
        // A task may always shrink: a store that is full can be emptied.
        if bytes > limits.bytes && size > stored.size {
            return TaskWrite::Full;
        }
        self.bytes = bytes;
        stored.size = size;
        stored.record = Arc::new(record);
        signals.push(std::mem::take(&mut stored.changed));
        TaskWrite::Stored
    }

    /// Frees the limits of a task that was removed. Returns the signal of its watchers.
    fn release(&mut self, stored: StoredTask) -> CloseSignal {
        self.bytes -= stored.size;
        if let Some(owner) = owner(&stored.record)
            && let Some(count) = self.owners.get_mut(&owner)
        {
            *count -= 1;
            if *count == 0 {
                self.owners.remove(&owner);
            }
        }
        if self.tasks.len() == 0 {
            self.tasks = Expiring::default();
            self.owners.shrink_to_fit();
        }
        stored.changed
    }
}

/// Returns the issuer and subject whose tasks are limited together.
fn owner(record: &TaskRecord) -> Option<(String, String)> {
    let owner = record.owner.principal()?;
    Some((owner.issuer.clone(), owner.subject.clone()))
}

#[async_trait]
impl TaskStore for MemoryTaskStore {
    async fn insert(
        &self,
        record: TaskRecord,
        ttl: Duration,
        limits: &TaskLimits,
    ) -> Result<TaskWrite, StoreError> {
        let until = (self.clock)() + finite(ttl);
        Ok(self.change(|state, _| state.insert(record, until, limits)))
    }

    async fn load(&self, id: &str) -> Result<Option<TaskRecord>, StoreError> {
        let record = self.change(|state, _| {
            let stored = state.tasks.get(id);
            stored.map(|stored| stored.record.clone())
        });
        // A large result is copied without the lock.
        Ok(record.map(Arc::unwrap_or_clone))
    }

    async fn replace(
        &self,
        record: TaskRecord,
        limits: &TaskLimits,
    ) -> Result<TaskWrite, StoreError> {
        Ok(self.change(|state, signals| state.replace(record, limits, signals)))
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.change(|state, signals| {
            let removed = state.tasks.remove(id);
            signals.extend(removed.map(|stored| state.release(stored)));
        });
        Ok(())
    }

    async fn changed(&self, id: &str, revision: u64) -> Result<(), StoreError> {
        let signal = {
            let state = self.state.lock();
            let stored = state.tasks.get(id);
            let stored = stored.filter(|stored| stored.record.revision == revision);
            stored.map(|stored| stored.changed.clone())
        };
        if let Some(signal) = signal {
            signal.closed().await;
        }
        Ok(())
    }

    async fn keep_node(&self, node: &str, ttl: Duration) -> Result<(), StoreError> {
        let until = (self.clock)() + finite(ttl);
        self.change(|state, _| state.nodes.insert(node.into(), until));
        Ok(())
    }

    async fn has_node(&self, node: &str) -> Result<bool, StoreError> {
        Ok(self.change(|state, _| state.nodes.contains_key(node)))
    }

    fn purge(&self) {
        self.change(|_, _| ());
    }
}

impl Default for MemoryTaskStore {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            clock: Instant::now,
        }
    }
}

impl fmt::Debug for MemoryTaskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("MemoryTaskStore")
            .field("tasks", &state.tasks.len())
            .field("bytes", &state.bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    //! Limits, revisions, expiry and watchers.

    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::task::{Context, Waker};
    use std::time::{Duration, Instant};

    use futures::executor::block_on;
    use mcp_types::ext::tasks::Task;

    use super::{MemoryTaskStore, TaskLimits, TaskRecord, TaskStore, TaskWrite};
    use crate::authorization::Principal;

    const TTL: Duration = Duration::from_secs(10);
    const NOW: &str = "2026-07-28T12:00:00Z";

    static SECONDS: AtomicU64 = AtomicU64::new(0);

    fn clock() -> Instant {
        static START: OnceLock<Instant> = OnceLock::new();
        *START.get_or_init(Instant::now) + Duration::from_secs(SECONDS.load(Ordering::Relaxed))
    }

    fn record(id: &str, owner: Option<&str>) -> TaskRecord {
        let owner = owner.map(|name| Principal::new("issuer", name));
        TaskRecord::new(Task::new(id, NOW), owner.as_ref(), "node")
    }

    fn insert(store: &MemoryTaskStore, record: TaskRecord, limits: &TaskLimits) -> TaskWrite {
        block_on(store.insert(record, TTL, limits)).unwrap()
    }

    #[test]
    fn limits_for_store_and_principal_are_separate() {
        let store = MemoryTaskStore::default();
        let mut limits = TaskLimits::default();
        (limits.tasks, limits.tasks_per_principal) = (3, 1);
        assert_eq!(
            insert(&store, record("a", Some("ada")), &limits),
            TaskWrite::Stored
        );
        assert_eq!(
            insert(&store, record("a", None), &limits),
            TaskWrite::Conflict
        );
        assert_eq!(
            insert(&store, record("b", Some("ada")), &limits),
            TaskWrite::PrincipalFull
        );
        assert_eq!(
            insert(&store, record("b", None), &limits),
            TaskWrite::Stored
        );
        assert_eq!(
            insert(&store, record("c", None), &limits),
            TaskWrite::Stored
        );
        assert_eq!(insert(&store, record("d", None), &limits), TaskWrite::Full);
        block_on(store.remove("a")).unwrap();
        assert_eq!(
            insert(&store, record("d", Some("ada")), &limits),
            TaskWrite::Stored
        );
        limits.bytes = store.bytes();
        let mut longer = record("b", None);
        longer.revision = 1;
        longer.task.status_message = Some("a message that needs bytes".to_owned());
        let written = block_on(store.replace(longer, &limits)).unwrap();
        assert_eq!(written, TaskWrite::Full);
    }

    #[test]
    fn write_with_an_old_revision_is_a_conflict() {
        let store = MemoryTaskStore::default();
        let limits = TaskLimits::default();
        insert(&store, record("a", None), &limits);
        let mut next = record("a", None);
        let replace = |next: &TaskRecord| block_on(store.replace(next.clone(), &limits)).unwrap();
        assert_eq!(replace(&next), TaskWrite::Conflict);
        next.revision = 1;
        assert_eq!(replace(&next), TaskWrite::Stored);
        assert_eq!(replace(&next), TaskWrite::Conflict);
        block_on(store.remove("a")).unwrap();
        next.revision = 2;
        assert_eq!(replace(&next), TaskWrite::Gone);
    }

    #[test]
    fn watcher_wakes_on_change() {
        let store = MemoryTaskStore::default();
        let limits = TaskLimits::default();
        insert(&store, record("a", None), &limits);
        let mut cx = Context::from_waker(Waker::noop());
        let mut watching = store.changed("a", 0);
        assert!(watching.as_mut().poll(&mut cx).is_pending());
        let mut next = record("a", None);
        next.revision = 1;
        block_on(store.replace(next, &limits)).unwrap();
        assert!(watching.as_mut().poll(&mut cx).is_ready());
        block_on(store.changed("unknown", 0)).unwrap();
    }

    #[test]
    fn task_and_node_expire_after_their_ttl() {
        let store = MemoryTaskStore::default().clock(clock);
        let limits = TaskLimits::default();
        insert(&store, record("a", Some("ada")), &limits);
        block_on(store.keep_node("node", TTL / 2)).unwrap();
        assert!(block_on(store.has_node("node")).unwrap());
        SECONDS.store(5, Ordering::Relaxed);
        assert!(!block_on(store.has_node("node")).unwrap());
        assert!(block_on(store.load("a")).unwrap().is_some());
        SECONDS.store(10, Ordering::Relaxed);
        store.purge();
        assert_eq!(store.count(), 0);
        assert_eq!(store.bytes(), 0);
        assert!(store.state.lock().owners.is_empty());
    }

    #[test]
    fn largest_ttl_does_not_overflow() {
        let store = MemoryTaskStore::default();
        let limits = TaskLimits::default();
        let written = block_on(store.insert(record("a", None), Duration::MAX, &limits)).unwrap();
        assert_eq!(written, TaskWrite::Stored);
    }
}
