//! The calls and tasks of a server that run. The server is not stopped meanwhile.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// Number of calls that run at one server, and the time when the last one ended.
#[derive(Debug, Clone)]
pub(crate) struct Usage(Arc<Mutex<UsageState>>);

#[derive(Debug)]
struct UsageState {
    calls: usize,
    idle_since: Instant,
}

/// One call, until this is dropped.
#[derive(Debug)]
pub(crate) struct InUse(Usage);

impl Usage {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(UsageState {
            calls: 0,
            idle_since: Instant::now(),
        })))
    }

    /// Counts a call.
    pub(crate) fn begin(&self) -> InUse {
        self.0.lock().calls += 1;
        InUse(self.clone())
    }

    /// Returns the end of the last call. `None` while one runs.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let state = self.0.lock();
        (state.calls == 0).then_some(state.idle_since)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.calls -= 1;
        state.idle_since = Instant::now();
    }
}

/// Known tasks of one gateway. Further ones do not keep their servers from being stopped.
const MAX_TASKS: usize = 10_000;

/// Longest time that a task keeps its server from being stopped.
const MAX_TIME: Duration = Duration::from_secs(24 * 3600);

/// A server and the id of its task.
type Key = (Arc<str>, Box<str>);

/// The tasks of which no end is known.
#[derive(Clone, Default)]
pub(crate) struct OpenTasks(Arc<Mutex<HashMap<Key, OpenTask>>>);

struct OpenTask {
    _in_use: InUse,
    /// Forgets the task when its time has passed.
    _expiry: AbortOnDropHandle<()>,
}

impl OpenTasks {
    /// Keeps the server of a task running until the task has ended or its time has passed.
    pub(crate) fn add(&self, server: &Arc<str>, id: &str, ttl: Option<Duration>, usage: &Usage) {
        let key: Key = (server.clone(), id.into());
        let mut tasks = self.0.lock();
        if tasks.len() >= MAX_TASKS || tasks.contains_key(&key) {
            return;
        }
        let open: Weak<_> = Arc::downgrade(&self.0);
        let (time, expired) = (ttl.map_or(MAX_TIME, |ttl| ttl.min(MAX_TIME)), key.clone());
        let expiry = tokio::spawn(async move {
            tokio::time::sleep(time).await;
            let tasks: Option<Arc<Mutex<HashMap<Key, OpenTask>>>> = open.upgrade();
            let ended = tasks.and_then(|tasks| tasks.lock().remove(&expired));
            drop(ended);
        });
        let task = OpenTask {
            _in_use: usage.begin(),
            _expiry: AbortOnDropHandle::new(expiry),
        };
        tasks.insert(key, task);
    }

    /// Forgets a task that has ended, and whose client knows it.
    pub(crate) fn end(&self, server: &Arc<str>, id: &str) {
        let ended = self.0.lock().remove(&(server.clone(), id.into()));
        drop(ended);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::{OpenTasks, Usage};

    #[tokio::test(start_paused = true)]
    async fn server_is_in_use_until_the_task_ends_or_expires() {
        let (open, usage, server) = (OpenTasks::default(), Usage::new(), Arc::from("shop"));
        open.add(&server, "a", None, &usage);
        open.add(&server, "b", Some(Duration::from_secs(60)), &usage);
        open.end(&server, "a");
        assert!(usage.idle_since().is_none());
        tokio::time::sleep(Duration::from_secs(61)).await;
        assert!(usage.idle_since().is_some());
    }
}
