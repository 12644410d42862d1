//! Notifications that a server has sent to all its sessions.
//!
//! A session does not say whether a notification is for its call or for all clients. One for all also arrives in the
//! session that calls share, which passes it to all clients of the gateway: the call must not pass it again.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use mcp_types::RawObject;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;

/// Longest wait for the copy of the shared session.
const WAIT: Duration = Duration::from_millis(100);
/// Age of a copy that counts.
const MAX_AGE: Duration = Duration::from_secs(1);
/// Copies that are remembered.
const MAX_COPIES: usize = 256;
/// Notifications of one session that wait. Further ones wait at the server.
const MAX_HELD: usize = 64;

/// The notifications that sessions without a call have received lately: the session that calls share, or those of one
/// caller.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedCopies(Arc<Copies>);

#[derive(Debug, Default)]
struct Copies {
    hasher: RandomState,
    recent: Mutex<Recent>,
    added: Notify,
}

#[derive(Debug, Default)]
struct Recent {
    copies: VecDeque<SharedCopy>,
    next_number: u64,
}

#[derive(Debug)]
struct SharedCopy {
    number: u64,
    hash: u64,
    received: Instant,
}

impl SharedCopies {
    /// Adds a notification that a session without a call has received. `used` are the copies that count for this
    /// session. Returns false, and adds nothing, if another session has added it.
    pub(super) fn add(
        &self,
        method: &str,
        params: Option<&RawObject>,
        used: &mut HashSet<u64>,
    ) -> bool {
        let hash = self.hash(method, params);
        let mut recent = self.0.recent.lock();
        if recent.use_copy(hash, Instant::now(), used) {
            return false;
        }
        recent.next_number += 1;
        used.insert(recent.next_number);
        let copy = SharedCopy {
            number: recent.next_number,
            hash,
            received: Instant::now(),
        };
        if recent.copies.len() == MAX_COPIES {
            recent.copies.pop_front();
        }
        recent.copies.push_back(copy);
        drop(recent);
        self.0.added.notify_waiters();
        true
    }

    fn hash(&self, method: &str, params: Option<&RawObject>) -> u64 {
        let params = params.map(RawObject::as_str);
        self.0.hasher.hash_one((method, params))
    }

    /// Returns true if the shared session receives the same notification. Each of its copies counts once for a session.
    async fn has_copy(&self, hash: u64, received: Instant, used: &mut HashSet<u64>) -> bool {
        let deadline = received + WAIT;
        loop {
            let mut added = std::pin::pin!(self.0.added.notified());
            added.as_mut().enable();
            if self.0.recent.lock().use_copy(hash, received, used) {
                return true;
            }
            if timeout_at(deadline, added).await.is_err() {
                return false;
            }
        }
    }
}

impl Recent {
    fn use_copy(&self, hash: u64, received: Instant, used: &mut HashSet<u64>) -> bool {
        let oldest = self.copies.front().map_or(0, |copy| copy.number);
        used.retain(|number| *number >= oldest);
        let mut copies = self.copies.iter();
        let copy = copies.find(|it| {
            it.hash == hash && it.received + MAX_AGE >= received && !used.contains(&it.number)
        });
        copy.is_some_and(|it| used.insert(it.number))
    }
}

/// The notifications of a session of one call at a time. They wait for their copies, in their order.
pub(super) struct HeldNotifications<E> {
    copies: SharedCopies,
    held: mpsc::Sender<Held<E>>,
    _task: AbortOnDropHandle<()>,
}

enum Held<E> {
    Notification(HeldNotification<E>),
    /// Completed when all notifications before it are passed on.
    Mark(oneshot::Sender<()>),
}

struct HeldNotification<E> {
    /// The events of the call, and the notification as one of them.
    events: mpsc::Sender<E>,
    event: E,
    hash: u64,
    received: Instant,
}

impl<E: Send + 'static> HeldNotifications<E> {
    pub(super) fn new(copies: SharedCopies) -> Self {
        let (held, waiting) = mpsc::channel(MAX_HELD);
        let passing = pass_on(waiting, copies.clone());
        Self {
            copies,
            held,
            _task: AbortOnDropHandle::new(tokio::spawn(passing)),
        }
    }

    /// Passes a notification to the call with these events, unless it is one for all clients.
    pub(super) async fn pass(
        &self,
        (method, params): (&str, Option<&RawObject>),
        events: mpsc::Sender<E>,
        event: E,
    ) {
        let held = HeldNotification {
            events,
            event,
            hash: self.copies.hash(method, params),
            received: Instant::now(),
        };
        // The task runs as long as this value.
        let _ = self.held.send(Held::Notification(held)).await;
    }

    /// Waits until all notifications so far are passed on.
    pub(super) async fn settled(&self) {
        let (mark, passed) = oneshot::channel();
        if self.held.send(Held::Mark(mark)).await.is_ok() {
            // An error means that the session has ended.
            let _ = passed.await;
        }
    }
}

async fn pass_on<E>(mut waiting: mpsc::Receiver<Held<E>>, copies: SharedCopies) {
    let mut used = HashSet::new();
    while let Some(held) = waiting.recv().await {
        let held = match held {
            Held::Notification(held) => held,
            Held::Mark(mark) => {
                // The call may have been dropped.
                let _ = mark.send(());
                continue;
            }
        };
        if !copies.has_copy(held.hash, held.received, &mut used).await {
            // The call may have ended.
            let _ = held.events.send(held.event).await;
        }
    }
}
