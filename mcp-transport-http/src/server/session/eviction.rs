//! Order in which sessions make room for others: the oldest one that never became ready, then the
//! anonymous one that is idle for the longest time.
//!
//! A call does not update this order. The queue contains what was known when a session was added or last
//! examined, and [`EvictionQueue::pop`] corrects outdated entries. Their number is bounded by the number
//! of requests since then, so the cost per request is constant on average.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::http_session::HttpSession;

/// Time after which an idle session is searched again when all sessions were in use.
const SEARCH_INTERVAL: Duration = Duration::from_secs(1);

/// Number of outdated entries that are kept while there are sessions.
const MIN_ENTRIES: usize = 64;

/// Number of sessions for which tables keep their memory, so that few sessions never cost a new allocation.
const KEPT_SESSIONS: usize = 1024;

/// Returns the number of entries for which a table of `live` sessions has memory after a peak.
pub(super) fn room(live: usize) -> usize {
    2 * live.max(KEPT_SESSIONS)
}

/// Sessions in the order in which they make room for others.
#[derive(Default)]
pub(super) struct EvictionQueue {
    /// Sessions that were not ready when they were added, oldest first.
    unready: VecDeque<Arc<str>>,
    /// Anonymous sessions that were ready, by the last known time of their activity. The current time is
    /// the same or later.
    idle: BinaryHeap<Reverse<(Instant, Arc<str>)>>,
    /// Earliest time of the next search for an idle session.
    next_search: Option<Instant>,
}

impl EvictionQueue {
    /// Adds a new session. `live` is the number of sessions for which `exists` returns true.
    pub(super) fn push(&mut self, id: Arc<str>, live: usize, exists: impl Fn(&str) -> bool) {
        self.trim(live, exists);
        self.unready.push_back(id);
    }

    /// Removes the entries of ended sessions and frees their memory when they are more than half of all
    /// entries, or no session is left. `live` is the number of sessions for which `exists` returns true.
    pub(super) fn trim(&mut self, live: usize, exists: impl Fn(&str) -> bool) {
        if live == 0 || self.unready.len() + self.idle.len() > 2 * live + MIN_ENTRIES {
            self.unready.retain(|id| exists(id));
            self.idle.retain(|Reverse((_, id))| exists(id));
            self.unready.shrink_to(room(self.unready.len()));
            self.idle.shrink_to(room(self.idle.len()));
        }
    }

    /// Returns the next session to end, or `None` when no session may be ended. `find` returns the
    /// sessions that exist.
    pub(super) fn pop(
        &mut self,
        find: impl Fn(&str) -> Option<Arc<HttpSession>>,
    ) -> Option<Arc<HttpSession>> {
        let now = Instant::now();
        while let Some(id) = self.unready.pop_front() {
            let Some(session) = find(&id) else { continue };
            if !session.is_in_use() {
                return Some(session);
            }
            if session.is_anonymous() {
                let since = session.calls.idle_since().unwrap_or(now);
                self.idle.push(Reverse((since, id)));
            }
        }
        if self.next_search.is_some_and(|time| now < time) {
            return None;
        }
        let found = self.pop_idle(now, find);
        self.next_search = found.is_none().then(|| now + SEARCH_INTERVAL);
        found
    }

    fn pop_idle(
        &mut self,
        now: Instant,
        find: impl Fn(&str) -> Option<Arc<HttpSession>>,
    ) -> Option<Arc<HttpSession>> {
        let mut in_use = Vec::new();
        let mut found = None;
        while let Some(Reverse((known, id))) = self.idle.pop() {
            let Some(session) = find(&id) else { continue };
            match session.calls.idle_since() {
                Some(since) if since <= known => {
                    found = Some(session);
                    break;
                }
                Some(since) => self.idle.push(Reverse((since, id))),
                None => in_use.push(Reverse((now, id))),
            }
        }
        self.idle.extend(in_use);
        found
    }
}
