//! Waits for messages of other nodes that name what has changed.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::pub_sub::Receiver;

/// The names whose changes this node waits for, such as task ids.
#[derive(Debug, Default)]
pub(crate) struct Watchers(Mutex<HashMap<Box<str>, Watched>>);

#[derive(Debug, Default)]
struct Watched {
    changed: Arc<Notify>,
    count: usize,
}

impl Watchers {
    /// Waits until a message names a change, for at most the time that `check` returns: `None` if there was a
    /// change before. May end early.
    pub(crate) async fn wait<E>(
        self: &Arc<Self>,
        name: &str,
        check: impl Future<Output = Result<Option<Duration>, E>>,
    ) -> Result<(), E> {
        let watch = self.watch(name);
        let mut changed = pin!(watch.changed.notified());
        // A change after this line ends the wait. One before it is visible to `check`.
        changed.as_mut().enable();
        if let Some(limit) = check.await? {
            let _ = timeout(limit, changed).await;
        }
        Ok(())
    }

    /// Starts to observe a name, until the guard is dropped.
    fn watch(self: &Arc<Self>, name: &str) -> WatchGuard {
        let mut names = self.0.lock();
        let watched = names.entry(name.into()).or_default();
        watched.count += 1;
        WatchGuard {
            changed: watched.changed.clone(),
            watchers: self.clone(),
            name: name.into(),
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }
}

/// One wait for a change.
struct WatchGuard {
    changed: Arc<Notify>,
    watchers: Arc<Watchers>,
    name: Box<str>,
}

impl Drop for WatchGuard {
    fn drop(&mut self) {
        let mut names = self.watchers.0.lock();
        if let Some(watched) = names.get_mut(&self.name) {
            watched.count -= 1;
            if watched.count == 0 {
                names.remove(&self.name);
            }
        }
    }
}

#[async_trait]
impl Receiver for Watchers {
    fn receive(&self, payload: &[u8]) {
        let Ok(name) = str::from_utf8(payload) else {
            return;
        };
        if let Some(watched) = self.0.lock().get(name) {
            watched.changed.notify_waiters();
        }
    }

    /// Changes before the subscription may have been missed: everything is read again.
    async fn subscribed(&self) {
        for watched in self.0.lock().values() {
            watched.changed.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Receiver, Watchers};

    #[tokio::test]
    async fn change_wakes_only_its_watchers_and_guards_leave_nothing() {
        let watchers = Arc::new(Watchers::default());
        let (a, b) = (watchers.watch("a"), watchers.watch("b"));
        let (changed_a, changed_b) = (a.changed.clone(), b.changed.clone());
        let mut woken = std::pin::pin!(changed_a.notified());
        woken.as_mut().enable();
        let mut silent = std::pin::pin!(changed_b.notified());
        silent.as_mut().enable();
        watchers.receive(b"a");
        watchers.receive(b"unknown");
        watchers.receive(b"\xff");
        woken.await;
        assert!(futures_util::poll!(&mut silent).is_pending());
        watchers.subscribed().await;
        silent.await;
        let again = watchers.watch("a");
        drop((a, b));
        assert_eq!(watchers.len(), 1);
        drop(again);
        assert_eq!(watchers.len(), 0);
    }
}
